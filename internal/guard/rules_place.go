package guard

import (
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/pathglob"
)

// A rule that denies paths to the tools for files would be worth little if a
// command could read them. So it holds command lines as well: what a line names
// is held against it, and what a program finds by itself is covered by the
// sandbox; see Policy.narrowed.

// fileSpec is a tool for files as rules see it.
func fileSpec(native string) *toolcrib.Spec {
	s := &toolcrib.Spec{Name: native, Native: native, Box: "files", Group: "fs", Effects: toolcrib.Reads}
	switch native {
	case "list_files", "find_files", "search_files":
		s.Group = "search"
	case "write_file", "edit_file":
		s.Effects |= toolcrib.Writes
	case "delete_file":
		s.Effects |= toolcrib.Writes | toolcrib.Destroys
	}
	return s
}

// holdsPlaces says whether the rule keeps files from being read, and whether
// from being written, by the tools for files that it names. A rule with a
// condition is about calls, not about places.
func (p *permission) holdsPlaces(opt *RuleOptions) (reads, writes bool) {
	if p.kind != specPath || p.when != nil || p.gives() {
		return false, false
	}
	about := func(names ...string) bool {
		return slices.ContainsFunc(names, func(n string) bool { return p.namesSpec(fileSpec(n), opt) })
	}
	return about("read_file", "search_files"), about("write_file", "edit_file", "delete_file")
}

// outOfReach lists the places that rules deny to a call: to a tool for files
// what they deny to that tool, to all others what they deny to any.
func (r *Rules) outOfReach(review *toolcrib.Review) (denied, fixed []string) {
	if r == nil {
		return nil, nil
	}
	for _, l := range r.layers {
		if !l.applies(review.Call.Caller) {
			continue
		}
		for _, p := range l.deny.all {
			reads, writes := p.holdsPlaces(&r.opt)
			if review.Spec.Box == "files" {
				reads, writes = (reads || writes) && p.namesSpec(&review.Spec, &r.opt), false
			}
			switch {
			case reads:
				denied = append(denied, p.path.texts()...)
			case writes:
				fixed = append(fixed, p.path.texts()...)
			}
		}
	}
	return denied, fixed
}

// Covered reports whether a rule of any layer keeps commands from a file itself,
// not only from a directory that it lies in: in a sandbox it is covered then.
func (r *Rules) Covered(full string) bool {
	if r == nil {
		return false
	}
	elems := pathElems(full)
	for i := range elems {
		elems[i] = pathglob.Fold(elems[i])
	}
	has := func(elems []string) bool {
		for _, l := range r.layers {
			for _, p := range l.deny.all {
				reads, writes := p.holdsPlaces(&r.opt)
				if (reads || writes) && slices.ContainsFunc(p.path.loose, func(g pathglob.Glob) bool { return g.Match(elems, true) }) {
					return true
				}
			}
		}
		return false
	}
	return len(elems) > 0 && has(elems) && !has(elems[:len(elems)-1])
}

// OutOfReach lists the places that rules deny to everybody, for a program that
// works for all callers: what it must not see, and what it must not change.
func (p *Policy) OutOfReach() (denied, fixed []string) {
	if p == nil {
		return nil, nil
	}
	return p.Rules.outOfReach(&toolcrib.Review{})
}

func (s *pathSpec) texts() []string {
	var out []string
	for _, g := range s.loose {
		out = append(out, g.String())
	}
	return out
}

// operand is a path that a line names.
type operand struct {
	forms *pathForms
	write bool // it is written to, or may be
}

// maxOperands bounds how many paths of a line are followed.
const maxOperands = 2000

// operands are the paths that the command line names: what its programs are
// told to read, where they run, what is redirected, and for programs that are
// not understood everything that could be a path.
func (s *subject) operands() []operand {
	if s.gotOperands {
		return s.placeOperands
	}
	s.gotOperands = true
	l := s.commandLine()
	if l == nil {
		return nil
	}
	at := s.opt.places()
	seen := map[string]bool{}
	add := func(dir, text string, glob, write bool) {
		if text == "" || len(text) > 4096 || strings.ContainsFunc(text, unicode.IsControl) {
			return
		}
		for _, full := range s.spelt(dir, text, glob) {
			key := full
			if write {
				key = "w" + full
			}
			if seen[key] || len(s.placeOperands) >= maxOperands {
				continue
			}
			seen[key] = true
			if f := formsOf(full, &at); !f.unclear {
				s.placeOperands = append(s.placeOperands, operand{f, write})
			}
		}
	}
	var dirs []string
	for i := range l.Programs {
		p := &l.Programs[i]
		for _, d := range p.Dirs {
			if !slices.Contains(dirs, d) {
				dirs = append(dirs, d)
			}
			add(d, ".", false, false)
		}
		for _, f := range p.Paths {
			add(f.Dir, f.Text, f.Glob, false)
		}
		if p.Class == ReadOnly {
			continue
		}
		write := writesOperands(programName(p.Name))
		for _, a := range p.Args {
			if !a.Literal && !a.Glob {
				continue
			}
			for _, text := range pathsIn(a.Text) {
				for _, d := range p.Dirs {
					add(d, text, a.Glob, write)
				}
			}
		}
	}
	if len(dirs) == 0 {
		dirs = []string{at.base}
	}
	for i := range l.Redirects {
		r := &l.Redirects[i]
		for _, f := range r.Paths {
			add(f.Dir, f.Text, f.Glob, false)
		}
		if strings.HasPrefix(r.Op, "<<") || !r.target.Literal && !r.target.Glob {
			continue
		}
		for _, d := range dirs {
			add(d, r.Target, r.target.Glob, strings.Contains(r.Op, ">"))
		}
	}
	return s.placeOperands
}

// spelt is the path that a word means, or those that a pattern means now.
func (s *subject) spelt(dir, text string, glob bool) []string {
	full := (Path{Dir: dir, Text: text}).Full()
	if !glob || s.opt.Shell == nil || s.opt.Shell.Glob == nil || starred(text) > 2 {
		return []string{full}
	}
	files, err := s.opt.Shell.Glob(full)
	if err != nil || len(files) > maxMatches {
		return []string{full}
	}
	return append(files, full)
}

// pathsIn are the parts of a word that could be a path: --file=x, -fx, a=@x.
func pathsIn(word string) []string {
	out := []string{word}
	if rest, ok := strings.CutPrefix(word, "-"); ok && len(rest) > 1 && rest[0] != '-' {
		out = append(out, rest[1:])
	}
	for _, sign := range []string{"=", "@", ":", ","} {
		for part := range strings.SplitSeq(word, sign) {
			out = append(out, strings.TrimPrefix(part, "@"))
		}
	}
	return out
}

// writesOperands knows programs whose operands are written, moved or removed.
func writesOperands(name string) bool {
	switch name {
	case "rm", "rmdir", "mv", "cp", "ln", "touch", "tee", "mkdir", "truncate", "chmod", "chown", "chgrp", "install", "dd", "sed", "patch", "rsync", "unlink", "shred":
		return true
	}
	return false
}

// takesPlace finds the first rule about places that means a path of the line.
func (r *Rules) takesPlace(list []*permission, s *subject) *permission {
	for _, p := range list {
		reads, _ := p.holdsPlaces(&r.opt)
		for _, o := range s.operands() {
			if (reads || o.write) && p.path.may(o.forms) {
				return p
			}
		}
	}
	return nil
}

// placeRules are those of a list that are about places.
func placeRules(list []*permission, opt *RuleOptions) []*permission {
	var out []*permission
	for _, p := range list {
		if reads, writes := p.holdsPlaces(opt); reads || writes {
			out = append(out, p)
		}
	}
	return out
}

// narrowed puts into a verdict what rules leave of the grant: a program that
// finds a denied place by itself must not get there either, and a search leaves
// it out.
func (p *Policy) narrowed(r *toolcrib.Review, v *toolcrib.Verdict) *toolcrib.Verdict {
	if v != nil && v.Decision == toolcrib.Deny {
		return v
	}
	denied, fixed := p.Rules.outOfReach(r)
	if len(denied)+len(fixed) == 0 {
		return v
	}
	var left toolcrib.Grant
	if p.Whole != nil {
		left = *p.Whole
	}
	left.Denied, left.Fixed = slices.Concat(left.Denied, denied), slices.Concat(left.Fixed, fixed)
	if v == nil {
		v = &toolcrib.Verdict{Decision: toolcrib.Allow, Note: true, Guard: "rules", Rule: "deny",
			Reason: "out of its reach by rules that deny paths: " + strings.Join(shortened(denied, fixed), ", ")}
	}
	v.Grant = &left
	return v
}

// shortened lists some patterns for people.
func shortened(lists ...[]string) []string {
	all := slices.Concat(lists...)
	slices.Sort(all)
	all = slices.Compact(all)
	if len(all) > 5 {
		all = append(all[:5], "…")
	}
	for i := range all {
		all[i] = path.Clean(strings.TrimSuffix(all[i], "/**"))
	}
	return all
}
