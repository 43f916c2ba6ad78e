package shellguard

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode"

	"github.com/toolcrib/toolcrib"
)

// typedText adds the places that are named by what is typed into a job of which
// nobody knows for certain what it makes of it: a person who allowed its start was
// not asked about that. Where a shell is among its programs the text is read as a
// line for that shell, with what was typed before; besides, every word of it may be
// a path that the program reads or writes.
func (s *Guard) typedText(r *toolcrib.Review, o *operands) {
	var in request
	if r.Spec.Native != "command_input" || s == nil || s.Job == nil || json.Unmarshal(r.Input, &in) != nil {
		return
	}
	job, ok := s.Job(r.Call, in.Job)
	if !ok || strings.TrimSpace(in.Text) == "" {
		return
	}
	dir := s.dir(job.WorkingDir)
	started := Analyze(job.Command, s.optionsIn(dir))
	if elsewhere(started) {
		return
	}
	dirs := []string{dir}
	for i := range started.Programs {
		p := &started.Programs[i]
		for _, d := range p.Dirs {
			if !slices.Contains(dirs, d) {
				dirs = append(dirs, d)
			}
			if !isShell(programKey(p.Name)) || !strings.HasPrefix(d, "/") {
				continue
			}
			text := strings.Join(append(slices.Clone(job.Typed), in.Text), "\n")
			l := Analyze(text, s.optionsIn(d))
			o.trail, o.fed = l.trail, l.fedByPrograms()
			o.addLine(l, false)
			if l.possible != nil {
				o.addLine(l.possible, true)
			}
		}
	}
	words := slices.DeleteFunc(strings.Fields(in.Text), func(w string) bool { return !strings.ContainsFunc(w, unicode.IsLetter) }) // select * from x
	o.addWords(strings.Join(words, " "), dirs, true)
}

// elsewhere: what is typed is for another machine.
func elsewhere(l *Line) bool {
	return len(l.Programs) == 1 && slices.Contains([]string{"ssh", "mosh", "telnet"}, programKey(l.Programs[0].Name))
}
