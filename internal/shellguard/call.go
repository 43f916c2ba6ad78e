package shellguard

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
)

// RunsLines reports whether a tool is one of those whose input is a command
// line: the shell guard judges it.
func RunsLines(spec *toolcrib.Entry) bool {
	if spec.Box != "shell" {
		return false
	}
	return isOneOf(spec.Native, "run_command start_command command_input")
}

// Judges reports whether the shell guard has a word on every call of the
// tool, so that a mode need not have one.
func Judges(spec *toolcrib.Entry) bool {
	return RunsLines(spec) || spec.Box == "shell" && spec.Native == "stop_command"
}

// LineOf takes the command line of a call apart, or all of what was typed into the
// shell of a job. Nil: it has none, or nobody can say what its program makes of it.
func (s *Guard) LineOf(r toolcrib.Review) *Line {
	if !RunsLines(&r.Spec) {
		return nil
	}
	return s.Line(&r, nil)
}

// Line takes the command line of a call apart, as Judge does; for what is typed
// into a job, all of what its shell was given. Nil: nobody can say what the
// program makes of it.
func (s *Guard) Line(r *toolcrib.Review, cache *Cache) *Line {
	var in request
	if s == nil || json.Unmarshal(r.Input, &in) != nil {
		return nil
	}
	text, dir := in.Command, s.dir(in.WorkingDir)
	if r.Spec.Native == "command_input" {
		if s.Job == nil {
			return nil
		}
		job, ok := s.Job(r.Call, in.Job)
		if !ok || strings.ContainsAny(in.Text, "!\t") {
			return nil
		}
		dir = s.dir(job.WorkingDir)
		if !plainShell(Analyze(job.Command, s.optionsIn(dir))) {
			return nil
		}
		text = strings.Join(append(slices.Clone(job.Typed), in.Text), "\n")
	}
	if strings.TrimSpace(text) == "" {
		return nil
	}
	return cache.analyze(text, s.optionsIn(dir))
}

func (s *Guard) optionsIn(dir string) Options {
	opt := s.Options
	if opt.Writable == nil && opt.Dir != "" {
		opt.Writable = []string{opt.Dir}
	}
	opt.Dir = dir
	if resolved, err := realPath(&opt, dir); err == nil {
		opt.Dir = resolved // where ".." leads from, to the shell
	}
	return opt
}

// ReadsFreely reports whether programs that only read need no rule, or some of them.
func (s *Guard) ReadsFreely() bool { return s != nil && (s.Bounded || s.Literal) && !s.Only }

// Free reports whether a program that only reads needs no rule.
func (s *Guard) Free(p *Program) bool { return s != nil && s.free(p) }

// free: where nothing bounds what a command reads, a look at its arguments does so
// only for some.
func (s *Guard) free(p *Program) bool {
	return !s.Only && (s.Bounded || s.Literal && literalReader(p))
}

// Harmless reports whether the line was understood, and nothing in it does more
// than read.
func (l *Line) Harmless() bool { return l != nil && l.ReadOnly() && len(l.Floor()) == 0 }

// Cache is what guards share that look at the same call: a command line is
// taken apart once for both. Nil: nothing is shared.
type Cache struct {
	text, dir string
	line      *Line
}

// analyze is Analyze, unless this very line was taken apart before.
func (c *Cache) analyze(text string, opt Options) *Line {
	if c == nil {
		return Analyze(text, opt)
	}
	if c.line == nil || c.text != text || c.dir != opt.Dir {
		c.text, c.dir, c.line = text, opt.Dir, Analyze(text, opt)
	}
	return c.line
}
