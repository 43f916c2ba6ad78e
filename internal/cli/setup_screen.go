package cli

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/toolcrib/toolcrib/internal/setup"
	"github.com/toolcrib/toolcrib/internal/text"
)

// setupScreen shows a setup to a person.
type setupScreen struct {
	c     *command
	quiet bool
	steps int

	width          int
	terminal, busy bool
	waiting        time.Time // when somebody without a terminal was last told what is waited for
}

func (s *setupScreen) line(format string, args ...any) {
	if !s.quiet {
		s.clear()
		_, _ = io.WriteString(s.c.out, text.Show(fmt.Sprintf(format, args...))+"\n") // what was not written is noticed at the end
	}
}

// item writes a text below a mark, broken where the screen ends.
func (s *setupScreen) item(mark, content string) {
	content = text.ShowLine(text.Clip(content, mostSetupLine))
	if home := s.c.home(); len(home) > 1 { // the usual way to write it is the shorter one
		content = strings.ReplaceAll(content, home+string(filepath.Separator), "~"+string(filepath.Separator))
	}
	indent := strings.Repeat(" ", utf8.RuneCountInString(mark))
	for i, row := range wrapped(content, s.width-len(indent)) {
		if i > 0 {
			mark = indent
		}
		s.line("%s%s", mark, row)
	}
}

// wrapped breaks a text at blanks, so that no row is longer than this if that can be.
func wrapped(content string, width int) (rows []string) {
	row := ""
	for word := range strings.SplitSeq(content, " ") {
		if row != "" && utf8.RuneCountInString(row)+1+utf8.RuneCountInString(word) > width {
			rows, row = append(rows, row), word
			continue
		}
		if row != "" {
			row += " "
		}
		row += word
	}
	return append(rows, row)
}

// waitingLine is how often a line says what is waited for, where there is no terminal.
const waitingLine = 10 * time.Second

// working shows what is being done, in one row that the next thing said replaces.
func (s *setupScreen) working(what string) {
	if s.quiet {
		return
	}
	if !s.terminal { // there a line stays, so only some are written
		if s.waiting.IsZero() {
			s.waiting = time.Now()
		}
		if time.Since(s.waiting) >= waitingLine {
			s.waiting = time.Now()
			s.item("   ", what+" …")
		}
		return
	}
	s.clear()
	_, _ = io.WriteString(s.c.out, "   "+text.ShowLine(text.ClipRunes(what, max(s.width-8, 8)))+" …") // as above
	s.busy = true
}

func (s *setupScreen) clear() {
	if s.busy {
		_, _ = io.WriteString(s.c.out, "\r\x1b[K") // as above
		s.busy = false
	}
}

func (s *setupScreen) begin(f setupFlags, overview string) {
	s.width = 100
	if out, ok := s.c.out.(*os.File); ok {
		if width, _, err := term.GetSize(int(out.Fd())); err == nil && width > 20 {
			s.width, s.terminal = min(width, 120), true
		}
	}
	switch {
	case f.dry:
		s.line("What 'toolcrib setup' would do. Nothing is changed.")
	case f.yes:
		s.line("Setting up. 'toolcrib setup --undo' takes all of it back.")
	default:
		s.item("", "This brings your AI clients behind Toolcrib, step by step: what they do is then judged by your rules and written down. Nothing is changed before you say so, and 'toolcrib setup --undo' takes all of it back. Enter takes the answer in capitals, n skips a step, q stops.")
	}
	s.line("")
	s.item("", overview)
}

// mostSetupLine is how much of one line is shown.
const mostSetupLine = 400

func (s *setupScreen) tell(e setup.Event) {
	switch e.Kind {
	case setup.Title:
		s.steps++
		s.line("\n%d. %s", s.steps, e.Text)
	case setup.Found:
		s.item("   ", e.Text)
	case setup.Would:
		s.item("   - ", e.Text)
	case setup.Working:
		s.working(e.Text)
	case setup.Done:
		s.item("   Done: ", e.Text)
	case setup.Warning:
		s.item("   ! ", e.Text)
	case setup.Failed:
		s.item("   FAILED: ", e.Text)
	case setup.Skipped:
		s.line("   Skipped.")
	}
}

// failures names every server that did not start, with the whole cause, and says where its
// entry is now.
func (s *setupScreen) failures(r *setup.Report) {
	if len(r.Failed) == 0 {
		return
	}
	s.line("")
	s.item("", fmt.Sprintf("%s did not start through Toolcrib:", counted(len(r.Failed), "server")))
	help := ""
	for _, f := range r.Failed {
		s.item("   ! ", fmt.Sprintf("%s: %s", f.Server, f.Why))
		if len(f.Wrote) > 0 {
			s.item("     ", "It wrote:")
		}
		for _, line := range f.Wrote {
			s.item("       | ", line)
		}
		switch {
		case len(f.Files) > 0:
			s.item("     ", "Its entry is still in "+strings.Join(f.Files, ", ")+", so that client still starts it itself.")
		default:
			s.item("     ", "No client of yours starts it now.")
		}
		help = cmp.Or(help, f.Help)
	}
	if help != "" {
		s.item("   ", "They may need variables that are "+help+".")
	}
	s.item("   ", "'toolcrib hub test NAME' starts one again. When it answers, 'toolcrib setup' takes its entry out of the client's file.")
}

// end sums up, and says what to try first.
func (s *setupScreen) end(r *setup.Report, dry bool) {
	s.line("")
	switch {
	case dry && len(r.Steps) > 0:
		s.line("Nothing was changed. 'toolcrib setup' does it, and asks before each step.")
	case !r.Changed:
		s.line("Nothing was changed.")
	default:
		s.line("Summary")
		for _, o := range r.Steps {
			for _, line := range o.Done {
				s.item("   ", line)
			}
		}
	}
	s.failures(r)
	if len(r.Round) > 0 && !dry {
		s.line("\nStill round Toolcrib, because a client starts them itself:")
		for _, line := range r.Round {
			s.item("   ! ", line)
		}
	} else if !dry && len(r.Failed) == 0 {
		s.line("\nNo server in your own client files goes round Toolcrib.")
	}
	if len(r.Plugins) > 0 {
		s.line("")
		s.item("", "Plugins of your clients bring servers of their own, which go round Toolcrib. Only you can switch them off:")
		for _, p := range r.Plugins {
			s.item("   ! ", p.String())
		}
	}
	if len(r.Project) > 0 {
		s.line("")
		s.item("", "The files of this project name servers too, and were not changed: whoever can write to the project chose them. 'toolcrib hub import FILE' takes them over.")
		for _, line := range r.Project {
			s.item("   ", line)
		}
	}
	if dry {
		return
	}
	if r.Record != "" {
		s.line("")
		s.item("", "How to take it back is kept in "+r.Record+", with your files as they were, secrets included; only your account can read it.")
	}
	s.line(`
Try next:
   1. Restart one of your clients in a project and ask it: "Which files are here? Use toolcrib."
   2. toolcrib approvals     what waits for your word
   3. toolcrib journal       what was done
To take the setup back: toolcrib setup --undo`)
}
