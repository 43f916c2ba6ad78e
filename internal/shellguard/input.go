package shellguard

import (
	"path"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
)

// judgeInput is the verdict on text typed into a running program. A shell that
// was started plainly reads it as a command line; but what a line means there
// depends on everything typed before (an open quote, a function, a program that
// is reading now), so the whole of it is judged as one script. Whatever other
// program reads the text, nobody here knows what it would do with it.
func (s *Guard) judgeInput(call toolcrib.Call, in request, unasked bool) *toolcrib.Verdict {
	if s.Job == nil {
		return s.askOrDeny("", []string{"nothing is known about the program that would read this text"})
	}
	job, ok := s.Job(call, in.Job)
	if !ok {
		return &toolcrib.Verdict{Decision: toolcrib.Deny, Guard: "shell", Reason: "there is no job " + Quote(in.Job)}
	}
	typed := strings.Join(append(slices.Clone(job.Typed), in.Text), "\n")
	opt := s.Options
	opt.Dir = s.dir(job.WorkingDir)
	if !plainShell(Analyze(job.Command, opt)) {
		if floor := inputFloor(Analyze(job.Command, opt), typed, in.Text, opt); len(floor) > 0 {
			return s.askOrDeny("floor", floor)
		}
		if unasked {
			return allow("unasked", unaskedReason)
		}
		return s.askOrDeny("", []string{clip(Quote(job.Command)) + " reads this text, and only a shell's input is understood"})
	}
	v := s.judgeLine(call, typed, opt.Dir, unasked, false, false)
	if v.Decision == toolcrib.Allow && v.Rule != "unasked" {
		if name := readsInput(Analyze(typed, opt)); name != "" {
			return s.askOrDeny("", []string{Quote(name) + " may read what is typed after it, and what is left of that would be run"})
		}
	}
	if v.Decision == toolcrib.Allow && v.Rule != "unasked" && strings.ContainsAny(in.Text, "!\t") {
		// An interactive bash puts earlier commands in the place of !, and
		// what it likes in the place of a tab.
		return s.askOrDeny("", []string{"a ! or a tab means something else to an interactive shell"})
	}
	return v
}

// inputFloor is the floor of text for a program that is no plain shell: what was
// typed before counts, since it may have begun a line or gone elsewhere. A
// program of which it is known that it reads another language is not held to
// the grammar of shells.
func inputFloor(job *Line, typed, text string, opt Options) []string {
	other := len(job.Programs) > 0 && len(job.Unknown) == 0
	for i := range job.Programs {
		name := path.Base(job.Programs[i].Name)
		other = other && readsCode(name) && !isShell(name) && name != "eval" && name != "at" && name != "batch"
	}
	out := slices.Concat(Floor(text, opt), Floor(typed, opt))
	if other {
		code := Program{Args: []Arg{{Text: typed}}}
		out = slices.DeleteFunc(out, func(why string) bool { return strings.Contains(why, "so nobody knows what it would do") })
		if why := code.floorCode(path.Base(job.Programs[0].Name)); why != "" {
			out = append(out, why)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// readsInput finds a program that is not known to leave its input alone: in a
// shell that reads commands from there, it would change what is run next.
func readsInput(l *Line) string {
	for i := range l.Programs {
		switch name := path.Base(l.Programs[i].Name); name {
		case "echo", "printf", "pwd", "cd", "true", "false", ":", "ls", "date", "whoami", "id", "uname", "hostname", "which", "df", "du", "ps", "stat", "file", "git", "basename", "dirname", "realpath":
		default:
			return name
		}
	}
	return ""
}

// plainShell: the job is sh, bash or dash reading standard input, and nothing
// else.
func plainShell(l *Line) bool {
	if len(l.Unknown) > 0 || len(l.Programs) != 1 || len(l.Redirects) > 0 {
		return false
	}
	p := &l.Programs[0]
	if !p.trusted || p.Dynamic {
		return false
	}
	switch path.Base(p.Name) {
	case "sh", "dash":
		return len(p.Args) == 0
	case "bash":
		return !slices.ContainsFunc(p.Args, func(a Arg) bool { return !a.Literal || a.Text != "--norc" && a.Text != "--noprofile" })
	}
	return false
}
