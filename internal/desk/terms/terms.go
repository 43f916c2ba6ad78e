// Package terms says what an answer about a command is good for: whether it can
// be remembered, which rules it could become, and which files it depends on. It
// stands between the desk, which keeps answers, and the guard that understands
// command lines; the wiring hands it to the desk.
//
// Its one invariant: an answer counts only as long as every file that would run
// is the one that was there when the person was asked. Where that cannot be told,
// it counts for one call.
package terms

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/desk"
	"github.com/toolcrib/toolcrib/internal/gitchange"
	"github.com/toolcrib/toolcrib/internal/pattern"
	"github.com/toolcrib/toolcrib/internal/plainfile"
	"github.com/toolcrib/toolcrib/internal/safety"
	"github.com/toolcrib/toolcrib/internal/shellguard"
)

// Of is what the guards know about a question besides what the core says:
// whether it is always asked, into which programs a command falls, which rules
// would have allowed it, and which files the answer depends on. current is the
// shell guard that holds now; nil: commands are not run. declared gives the file
// that a tool is made of: what it says and what it may touch stand in it, and no
// definition shows them. boxes tells whose a toolbox is.
func Of(current func() *shellguard.Guard, declared func(toolcrib.Entry) []desk.File, boxes func(name string) Box) func(toolcrib.Question) desk.Terms {
	return func(q toolcrib.Question) desk.Terms {
		var t desk.Terms
		shell := current()
		for _, v := range q.Reasons {
			t.Floor = t.Floor || v.Decision == toolcrib.Ask && !v.Note && (v.Rule == "floor" || v.Guard == safety.FlowGuard || v.Guard == gitchange.Guard)
		}
		line := shell.LineOf(toolcrib.Review{Call: q.Call, Spec: q.Spec, Input: q.Input})
		if line == nil {
			t.Files = declared(q.Spec)
			t.Floor = t.Floor || shownOnly(q.Spec)
			if shell != nil && q.Spec.Box == "shell" && q.Spec.Native == "command_input" { // only the program that it is typed into knows what it means
				t.Floor, t.Bind, t.Parts = true, "call "+q.Call.ID, []string{onlyThisCall}
			}
			if !t.Floor {
				box := boxes(q.Spec.Box)
				t.SetUp = box.SetUp
				t.Wide, t.Dir = wider(q, box)
			}
			return t
		}
		t.Parts = line.Explain()
		known, whole := false, false
		if t.Bind, whole = bindLine(line); !whole {
			t.Bind += "call " + q.Call.ID
			t.Parts = append(t.Parts, onlyThisCall)
		}
		if t.Files, known = scriptsOf(line, shell.Options.Writable); !known {
			t.Floor = true // what would run is not known, so that nothing can be remembered about it
			files, all := meant(line)
			t.Bind += files
			if !all && whole {
				t.Bind += "call " + q.Call.ID
				t.Parts = append(t.Parts, onlyThisCall)
			}
		}
		if !t.Floor {
			t.Rules = offeredRules(shell, q, line)
		}
		return t
	}
}

// shownOnly: what the call would write does not stand in its arguments, but only in what the person is shown. The same arguments
// would write something else the next time.
func shownOnly(s toolcrib.Entry) bool {
	return s.Box == "code" && s.Native == "save_output" || s.Box == "lsp" && s.Native == "lsp_rename"
}

// onlyThisCall is said where an answer cannot be bound to what would run.
const onlyThisCall = "which file it would run shows only while it runs: an answer counts for this call alone, and not for one that repeats it"

// offeredRules finds rules that would have made the guard allow the command.
// The guard itself is asked: what else it has against the line, such as a file
// out of reach, no rule takes away, and then none is offered.
func offeredRules(shell *shellguard.Guard, q toolcrib.Question, line *shellguard.Line) []string {
	with := *shell
	with.Rules = slices.Clone(shell.Rules)
	with.Unasked = nil
	var texts []string
	for i := range line.Programs {
		p := &line.Programs[i]
		if p.Builtin || p.Class == shellguard.ReadOnly {
			continue
		}
		rule, ok := ruleFor(p)
		if !ok {
			return nil
		}
		with.Rules = append(with.Rules, rule)
		texts = append(texts, q.Spec.Native+"("+rule.String()+")")
	}
	if len(texts) == 0 || !strings.Contains(strings.Join(texts, ""), " *)") {
		return nil // no more than the exact arguments
	}
	v, err := with.Judge(context.Background(), toolcrib.Review{Call: q.Call, Spec: q.Spec, Input: q.Input})
	if err != nil || v == nil || v.Decision != toolcrib.Allow {
		return nil
	}
	slices.Sort(texts)
	return slices.Compact(texts)
}

// bareWord is a subcommand, a target, a script.
var bareWord = pattern.Of(`^[A-Za-z0-9][A-Za-z0-9_.:/-]*$`)

// ruleFor is the widest rule about a program that a person reads as what it is:
// of a program with subcommands, this one with any arguments; of others, the
// words as they are.
func ruleFor(p *shellguard.Program) (shellguard.Rule, bool) {
	words := []string{path.Base(p.Name)}
	for _, a := range p.Args {
		if !a.Literal {
			return shellguard.Rule{}, false
		}
		words = append(words, a.Text)
	}
	open := 0 // how many words stand before the *
	every, err := shellguard.ParseRule(words[0] + " *")
	switch runner := words[0]; {
	case len(words) < 2 || !bareWord.MatchString(words[1]):
	case (runner == "npm" || runner == "pnpm" || runner == "yarn" || runner == "bun") && words[1] == "run":
		if len(words) > 2 && bareWord.MatchString(words[2]) {
			open = 3
		}
	case err != nil || every.Whole() || runner == "make" || runner == "just" || runner == "task":
		open = 2
	}
	exact := shellguard.Rule{Words: words, Exact: true}
	if open > 0 {
		rule, err := shellguard.ParseRule(strings.Join(words[:open], " ") + " *")
		if err == nil && rule.Match(p) {
			return rule, true
		}
	}
	return exact, exact.Match(p)
}

// The bounds on what is read to bind an answer.
const (
	maxBound     = 64
	maxBoundRead = 32 << 20
)

// bindLine is a fingerprint of the files that a command names for what it does:
// its programs, what they are told of, and what they are given to read. Large ones
// go by size and time of change. whole is false where there are too many of them.
func bindLine(line *shellguard.Line) (bind string, whole bool) {
	var files []string
	whole = true
	add := func(file string) {
		switch {
		case slices.Contains(files, file):
		case len(files) < maxMeant:
			files = append(files, file)
		default:
			whole = false
		}
	}
	for i := range line.Programs {
		p := &line.Programs[i]
		if p.Path != "" {
			add(p.Path)
		}
		names := []string{}
		if strings.Contains(p.Name, "/") {
			names = append(names, p.Name)
		}
		if p.Class == shellguard.Runs || p.Class == shellguard.Unknown || obeys(p) || p.Feeds() {
			past := written(p)
			for j, a := range p.Args {
				if a.Literal && a.Text != "" && !slices.Contains(past, j) {
					names = append(names, filesIn(a.Text)...)
				}
			}
		}
		for _, name := range names {
			if filepath.IsAbs(name) {
				add(name)
				continue
			}
			for _, dir := range p.Dirs {
				add(filepath.Join(dir, name))
			}
		}
	}
	for _, file := range inputs(line) {
		if file != "" {
			add(file)
		}
	}
	if len(files) == 0 {
		return "", whole
	}
	all := sha256.New()
	for _, file := range files {
		fmt.Fprintf(all, "%q %s\n", file, fingerprint(file))
	}
	return hex.EncodeToString(all.Sum(nil)), whole
}

// fingerprint tells a file from what it was before.
func fingerprint(file string) string {
	target, err := filepath.EvalSymlinks(file)
	if err != nil {
		return "none"
	}
	f, err := plainfile.Open(target)
	if err != nil {
		return "closed"
	}
	defer f.Close() //nolint:errcheck // it was only read
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return "no file"
	}
	// The time of change, unlike that of writing, cannot be set back.
	stamp := fmt.Sprintf("%q %d %d %d", target, info.Size(), info.ModTime().UnixNano(), changeTime(info))
	if info.Size() > maxBoundRead {
		return stamp
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, io.LimitReader(f, maxBoundRead+1)); err != nil {
		return stamp + " unread"
	}
	return fmt.Sprintf("%q %s", target, hex.EncodeToString(sum.Sum(nil)))
}
