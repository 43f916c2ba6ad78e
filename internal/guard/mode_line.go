package guard

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
)

// runsLines reports whether a tool is one of those whose input is a command
// line: the shell guard judges it.
func runsLines(spec *toolcrib.Spec) bool {
	if spec.Box != "shell" {
		return false
	}
	switch spec.Native {
	case "run_command", "start_command", "command_input":
		return true
	}
	return false
}

// shellJudges reports whether the shell guard has a word on every call of the
// tool, so that a mode need not have one.
func shellJudges(spec *toolcrib.Spec) bool {
	return runsLines(spec) || spec.Box == "shell" && spec.Native == "stop_command"
}

// LineOf takes the command line of a call apart, or all of what was typed into the
// shell of a job. Nil: it has none, or nobody can say what its program makes of it.
func (s *Shell) LineOf(r toolcrib.Review) *Line {
	if !runsLines(&r.Spec) {
		return nil
	}
	return s.line(&r, nil)
}

// line takes the command line of a call apart, as Judge does; for what is typed
// into a job, all of what its shell was given. Nil: nobody can say what the
// program makes of it.
func (s *Shell) line(r *toolcrib.Review, look *look) *Line {
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
	return look.analyze(text, s.optionsIn(dir))
}

func (s *Shell) optionsIn(dir string) ShellOptions {
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

// freely: programs that only read need no rule.
func (s *Shell) freely() bool { return s != nil && s.Bounded && !s.Only }

// looksOnly: the line was understood, and nothing in it does more than read.
func looksOnly(l *Line) bool { return l != nil && l.ReadOnly() && len(l.Floor()) == 0 }
