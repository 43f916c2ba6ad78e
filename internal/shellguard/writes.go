package shellguard

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
)

// What a line writes by itself, through a redirection or tee, is what write_file
// would write: it goes by the same answer. What programs write that a rule allows
// is for the sandbox to bound; but places that no command can write there, since
// they are protected or obeyed, are better asked about than failed at.

// writer says whether the call may write a file of the line unasked; nil: none.
func (s *Guard) writer(call toolcrib.Call, opt *Options) func(Path) error {
	// Without a sandbox the file may be another one when the line runs.
	if s.Writes == nil || !s.Bounded || s.Only {
		return nil
	}
	return func(p Path) error {
		full := p.Full()
		if !path.IsAbs(full) || p.Glob {
			return errors.New("nobody knows where it lies")
		}
		if resolved, err := realPath(opt, full); err != nil {
			return errors.New("nobody knows where it leads")
		} else if strings.HasPrefix(resolved, "/dev/") || strings.HasPrefix(resolved, "/proc/") || strings.HasPrefix(resolved, "/sys/") {
			return errors.New("it is not a plain file")
		}
		return s.Writes(call, full)
	}
}

// mayWrite holds the files that are written against the one who knows: what
// speaks against the first that may not be.
func mayWrite(files []Path, write func(Path) error) error {
	if write == nil || len(files) == 0 {
		return errors.New("nothing allows it")
	}
	for _, f := range files {
		if err := write(f); err != nil {
			if strings.HasPrefix(err.Error(), Quote(f.Text)+":") {
				return err
			}
			return fmt.Errorf("%s: %w", Quote(f.Text), err)
		}
	}
	return nil
}

// writesTo are the files of tee, where it is told nothing but to write them.
func (p *Program) writesTo() ([]Path, bool) {
	if path.Base(p.Name) != "tee" || !p.trusted || p.Builtin || p.Dynamic {
		return nil, false
	}
	var out []Path
	for _, a := range p.Args {
		switch t := a.Text; {
		case !a.Literal || a.sample || t == "":
			return nil, false
		case isOneOf(t, "-a -i -ai -ia --append --ignore-interrupts"):
		case strings.HasPrefix(t, "-"):
			return nil, false
		case t == "/dev/null":
		default:
			for _, d := range p.Dirs {
				out = append(out, Path{Dir: d, Text: t})
			}
		}
	}
	return out, len(p.Dirs) > 0
}

// OnlyWrites reports whether the program is tee, which goes by what may be written
// and needs no rule.
func (p *Program) OnlyWrites() bool {
	_, ok := p.writesTo()
	return ok
}

// writesFiles: a redirection of the line, or tee, writes a file.
func (l *Line) writesFiles() bool {
	return slices.ContainsFunc(l.Redirects, func(r Redirect) bool { return r.Class == Writes }) ||
		slices.ContainsFunc(l.Programs, func(p Program) bool { return p.OnlyWrites() })
}

// wrongPlaces finds operands of programs that write them which lie outside of what
// was granted, or which are protected or obeyed.
func (s *Guard) wrongPlaces(l *Line, opt *Options) []string {
	var out []string
	add := func(why string) {
		if len(out) < maxReasons && !slices.Contains(out, why) {
			out = append(out, why)
		}
	}
	for i := range l.Programs {
		p := &l.Programs[i]
		name := path.Base(p.Name)
		if p.Class == ReadOnly || p.Builtin {
			continue
		}
		for _, a := range p.placesOf(name) {
			for _, d := range p.Dirs {
				f := Path{Dir: d, Text: a.Text, Glob: a.Glob}
				if err := s.reachPath(f, opt, true); err != nil {
					add(err.Error())
					continue
				}
				if s.Obeyed == nil {
					continue
				}
				if place, ok := s.Obeyed(f.Full()); ok {
					add(Quote(place.Pattern) + ": " + place.By + ", so that commands find it read-only")
				}
			}
		}
	}
	return out
}

// placesOf are the operands that a program writes, moves or removes.
func (p *Program) placesOf(name string) []Arg {
	if !writesOperands(name) || name == "dd" || name == "tee" {
		return p.outputs(name)
	}
	var out []Arg
	sed := name == "sed" || name == "gsed"
	script := sed && !slices.ContainsFunc(p.Args, func(a Arg) bool { return a.Text == "-e" || strings.HasPrefix(a.Text, "--expression") })
	mode := isOneOf(name, "chmod chown chgrp")
	for i, a := range p.Args {
		switch {
		case a.Text == "" || strings.HasPrefix(a.Text, "-") && a.Text != "-":
		case sed && wordBefore(p.Args, i) == "-e":
		case script || mode: // the first word is what to do
			script, mode = false, false
		default:
			out = append(out, a)
		}
	}
	return out
}

// outputs are the files that compilers and their like are told to write.
func (p *Program) outputs(name string) []Arg {
	if !isOneOf(name, "go gcc cc g++ c++ clang clang++ curl rustc") {
		return nil
	}
	var out []Arg
	for i, a := range p.Args {
		if b := wordBefore(p.Args, i); (b == "-o" || b == "--output") && a.Text != "/dev/null" && a.Text != "-" {
			out = append(out, a)
		}
	}
	return out
}
