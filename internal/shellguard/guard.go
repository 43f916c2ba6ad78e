package shellguard

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/sensitive"
)

// Guard is the guard of the box shell: of the tools that run command lines
// (run_command, start_command and command_input), under whatever name or
// dialect they are called, and of stop_command. It has no opinion on other
// tools: one of the same name in another box does what it likes with a line
// that looks harmless. The zero value denies.
type Guard struct {
	// AllowShell lets command lines be judged at all; without it they are denied.
	AllowShell bool
	// Rules allow more than the harmless forms do; see ParseRules.
	Rules []Rule
	// Only: what the rules do not name is denied, harmless or not, and nobody
	// is asked about it.
	Only bool
	// Limit, if it is not empty, are the only commands that run, whatever else allows
	// others: rules, the mode, a person, or that they only read.
	Limit []Rule
	// Refuse: nobody is asked, so what would be is denied.
	Refuse bool
	// Bounded: the sandbox shows commands nothing but the granted directories
	// and the programs of the system. Only then is it enough that a line reads:
	// otherwise every program needs a rule.
	Bounded bool
	// Literal: another program runs the line in its own shell, where nothing bounds it.
	// The plainest of the programs that only read run unasked, where the files they open
	// are known and may be read. No rule allows more: see literal.go.
	Literal bool
	// Holds says whether something that this call must not read lies in a tree. Nil:
	// what goes through trees asks where Literal is set.
	Holds func(call toolcrib.Call, t Tree) error
	// Named says whether one of the names below a directory is such. Nil: likewise.
	Named func(call toolcrib.Call, root string, names []string) error
	// Layer is what a line may touch that runs on a layer without a rule: the grant of
	// commands without hosts and secrets. Nil: there are no layers.
	Layer func() *toolcrib.Grant
	// Options is what is known of the machine. Options.Dir is where a line runs
	// that names no working directory, and what its working_dir is relative to.
	Options Options
	// Unasked reports whether this call may run everything but the floor
	// without a question (mode yolo). Nil: none may.
	Unasked func(call toolcrib.Call) bool
	// AllowsAll reports whether a rule allows this call every command in the sandbox. Nil:
	// none does. It is only for the words of a verdict, where Literal is set.
	AllowsAll func(call toolcrib.Call) bool
	// Reach says whether a line may read the absolute, uncleaned path without a
	// question. Nil: what lies in Options.Dir, links resolved.
	Reach func(path string) error
	// Glob lists the files that a pattern means now. Nil: patterns ask.
	Glob func(pattern string) ([]string, error)
	// ReadFile reads the settings of repositories. Nil: git asks.
	ReadFile func(path string) ([]byte, error)
	// Obeyed says whether other programs obey a file, under which name and why.
	// Where no sandbox keeps commands from writing it, lines that name it are asked
	// about. Nil: none are.
	Obeyed func(path string) (place sensitive.Place, ok bool)
	// Writes says whether this call may write the absolute path without a question, by
	// all that write_file would be held to. Only in a sandbox is that enough to let a
	// redirection or tee pass. Nil: what writes a file asks.
	Writes func(call toolcrib.Call, path string) error
	// Job says how a background job was started and what was typed into it so
	// far. Nil: what is typed into jobs asks.
	Job func(call toolcrib.Call, id string) (Job, bool)

	// Cache is shared with the policy that looks at the same call. Nil: it is not.
	Cache *Cache
}

// Job is a running command as the shell guard needs to know it.
type Job struct {
	Command    string // the line it was started with
	WorkingDir string // absolute
	// Typed is what was typed into it so far, in order. The tool must write a
	// newline after each: a half line would join with the next one.
	Typed []string
}

// request is what the three tools are given, as far as the guard cares.
type request struct {
	Command    string `json:"command"`
	WorkingDir string `json:"working_dir"`
	Job        string `json:"job"`
	Text       string `json:"text"`
	Network    bool   `json:"network"` // it asks for the granted hosts
}

// Judge implements [toolcrib.Guard].
func (s *Guard) Judge(_ context.Context, r toolcrib.Review) (*toolcrib.Verdict, error) {
	if r.Spec.Box != "shell" {
		return nil, nil
	}
	name := r.Spec.Native
	switch name {
	case "run_command", "start_command", "command_input", "stop_command":
	default:
		return nil, nil
	}
	if !s.AllowShell {
		return &toolcrib.Verdict{Decision: toolcrib.Deny, Guard: "shell", Rule: "allow_shell",
			Reason: "running commands is switched off; allow_shell: true in the configuration switches it on"}, nil
	}
	if name == "stop_command" {
		return allow("", "it ends what this caller started itself"), nil
	}
	var in request
	if err := json.Unmarshal(r.Input, &in); err != nil {
		return nil, fmt.Errorf("reading the command: %w", err)
	}
	unasked := s.Unasked != nil && s.Unasked(r.Call)
	if name == "command_input" {
		return s.judgeInput(r.Call, in, unasked), nil
	}
	if strings.TrimSpace(in.Command) == "" {
		return nil, errors.New("there is no command")
	}
	return s.judgeLine(r.Call, in.Command, s.dir(in.WorkingDir), unasked, s.OnLayers(&r.Spec), in.Network), nil
}

// OnLayers tells whether the lines of a tool run on layers.
func (s *Guard) OnLayers(e *toolcrib.Entry) bool {
	return s != nil && s.Layer != nil && e.Box == "shell" && (e.Native == "run_command" || e.Native == "start_command") && s.Layer() != nil
}

// dir is the directory a line runs in.
func (s *Guard) dir(working string) string {
	switch {
	case working == "":
		return s.Options.Dir
	case path.IsAbs(working):
		return path.Clean(working)
	}
	return path.Join(s.Options.Dir, working)
}

func (s *Guard) root() string { return s.Options.Dir }

// The rules of verdicts that allow a line without a rule of the person's: it only
// reads, or the mode asks about nothing.
const (
	ReadsOnly      = "read-only"
	Unasked        = "unasked"
	AllowedOnLayer = "layer"
)

// unaskedReason: it is not known here which of the two it is (see Guard.Unasked).
const unaskedReason = "the mode is yolo, or a rule allows every command: nothing but the floor is asked about"

// judgeLine is the verdict on one command line.
func (s *Guard) judgeLine(call toolcrib.Call, text, dir string, unasked, onLayer, network bool) *toolcrib.Verdict {
	opt := s.optionsIn(dir)
	l := s.Cache.analyze(text, opt)
	if v := s.beyond(l); v != nil {
		return v
	}
	if floor := append(l.Floor(), s.writesObeyed(l, dir)...); len(floor) > 0 {
		return s.askOrDeny("floor", slices.Concat(floor, l.Explain()))
	}
	if s.Literal && !s.Bounded {
		return s.judgeUnbounded(call, l, &opt, unasked)
	}
	if unasked {
		return allow(Unasked, unaskedReason)
	}
	rule, against := s.allowed(call, l, &opt)
	if len(against) > 0 && onLayer && !network && !s.Only && !s.Refuse {
		// Nothing allows it, and nothing forbids it: on a layer it reaches neither the
		// person's files nor other machines, and its changes are judged by themselves.
		v := allow(AllowedOnLayer, "it runs on a layer, without network and secrets; what it changes is judged when it has ended")
		v.ChangesUnjudged, v.Unasked = true, s.Layer()
		return v
	}
	if len(against) > 0 {
		return s.askOrDeny("", slices.Concat(against, l.Explain()))
	}
	v := allow(rule, "every program in it only reads, or is allowed by a rule")
	switch {
	case l.writesFiles():
		if v.Reason += ", and what it writes itself write_file may write unasked"; rule == ReadsOnly {
			v.Rule = "write_file"
		}
	case l.ReadOnly():
		v.Effects = toolcrib.Reads | toolcrib.Runs
	}
	if onLayer && rule == ReadsOnly { // no rule of a person names it
		v.ChangesUnjudged, v.Unasked = true, s.Layer()
	}
	return v
}

// beyond is the verdict on a line of which not every program is within the limit.
func (s *Guard) beyond(l *Line) *toolcrib.Verdict {
	if len(s.Limit) == 0 {
		return nil
	}
	_, against, _ := l.judged(s.Limit, func(*Program) bool { return false }, nil)
	if len(against) == 0 {
		return nil
	}
	v := ask("only_commands", append([]string{"toolboxes.shell.only_commands has the only commands that run"}, against[:min(len(against), maxReasons)]...))
	v.Decision = toolcrib.Deny
	return v
}

// allowed finds out whether everything in a line is allowed: by which rules,
// and what speaks against it.
func (s *Guard) allowed(call toolcrib.Call, l *Line, opt *Options) (rule string, against []string) {
	used, against, by := l.judged(s.Rules, s.free, s.writer(call, opt))
	if len(against) > 0 && !s.Bounded && !s.Only && l.ReadOnly() {
		why := "no sandbox here bounds what a command reads, so that each needs a rule"
		if s.Literal {
			why = "no sandbox here bounds what a command reads, so that only plain programs run unasked, on files that the line names"
		}
		against = append(against, why)
	}
	if l = by; len(against) == 0 {
		against = s.repositories(l, opt)
		against = append(against, s.foreignDirs(l, opt)...)
		against = append(against, s.looseWords(l)...)
		if !s.Only || !s.Bounded {
			against = append(against, s.reach(l, opt)...)
			against = append(against, s.outside(l, opt)...)
			against = append(against, s.wrongPlaces(l, opt)...)
		}
		if !s.Bounded && s.Literal && !s.Only && len(against) == 0 {
			against = s.unbounded(call, l, opt)
		}
	}
	if len(against) > maxReasons {
		against = against[:maxReasons]
	}
	if len(used) == 0 {
		return ReadsOnly, against
	}
	return ruleNames(used), against
}

func ruleNames(used []Rule) string {
	var names []string
	for _, r := range used {
		names = append(names, r.String())
	}
	return strings.Join(slices.Compact(names), "; ")
}

// repositories looks at the settings of the repositories that a line reads.
func (s *Guard) repositories(l *Line, opt *Options) []string {
	var out []string
	for i := range l.Programs {
		p := &l.Programs[i]
		if name := path.Base(p.Name); p.Class != ReadOnly || name != "git" && name != "go" { // go asks git about the version
			continue
		}
		for _, d := range p.repoDirs {
			if err := s.repository(d, opt); err != nil {
				out = append(out, err.Error())
			}
		}
	}
	return out
}

// askOrDeny is the verdict on what nothing allows.
func (s *Guard) askOrDeny(rule string, reasons []string) *toolcrib.Verdict {
	v := ask(rule, reasons)
	switch {
	case s.Only:
		v.Decision, v.Rule = toolcrib.Deny, "allowed_commands"
	case s.Refuse:
		v.Decision, v.Rule = toolcrib.Deny, "ask"
		v.Reason = "toolboxes.shell.ask is false, so nobody is asked, and what is neither known to only read nor allowed is refused\n" + v.Reason
	}
	return v
}

func ask(rule string, reasons []string) *toolcrib.Verdict {
	lines := make([]string, 0, len(reasons))
	for _, r := range reasons { // one to a line, so that no part of a command can look like another part
		lines = append(lines, strings.ReplaceAll(r, "\n", `\n`))
	}
	return &toolcrib.Verdict{Decision: toolcrib.Ask, Guard: "shell", Rule: rule, Reason: strings.Join(lines, "\n")}
}

func allow(rule, reason string) *toolcrib.Verdict {
	return &toolcrib.Verdict{Decision: toolcrib.Allow, Guard: "shell", Rule: rule, Reason: reason}
}
