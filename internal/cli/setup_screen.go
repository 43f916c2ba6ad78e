package cli

import (
	"fmt"
	"io"

	"github.com/toolcrib/toolcrib/internal/setup"
	"github.com/toolcrib/toolcrib/internal/text"
)

// setupScreen shows a setup to a person.
type setupScreen struct {
	c     *command
	quiet bool
	steps int
}

func (s *setupScreen) line(format string, args ...any) {
	if !s.quiet {
		_, _ = io.WriteString(s.c.out, text.Show(fmt.Sprintf(format, args...))+"\n") // what was not written is noticed at the end
	}
}

func (s *setupScreen) begin(f setupFlags) {
	switch {
	case f.dry:
		s.line("What 'toolcrib setup' would do. Nothing is changed.")
	case f.yes:
		s.line("Setting up. 'toolcrib setup --undo' takes all of it back.")
	default:
		s.line("This brings your AI clients behind Toolcrib, step by step. Nothing is changed before you\nsay so, and 'toolcrib setup --undo' takes all of it back. Enter takes the answer in\ncapitals, n skips a step, q stops.")
	}
}

// mostSetupLine is how much of one line is shown.
const mostSetupLine = 400

func (s *setupScreen) tell(e setup.Event) {
	line := text.ShowLine(text.Clip(e.Text, mostSetupLine))
	switch e.Kind {
	case setup.Title:
		s.steps++
		s.line("\n%d. %s", s.steps, line)
	case setup.Found:
		s.line("   %s", line)
	case setup.Would:
		s.line("   - %s", line)
	case setup.Working:
		s.line("   … %s", line)
	case setup.Done:
		s.line("   Done: %s", line)
	case setup.Warning:
		s.line("   ! %s", line)
	case setup.Failed:
		s.line("   FAILED: %s", line)
	case setup.Skipped:
		s.line("   Skipped.")
	}
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
				s.line("   %s", line)
			}
		}
	}
	if len(r.Round) > 0 && !dry {
		s.line("\nStill round Toolcrib, because a client starts them itself:")
		for _, line := range r.Round {
			s.line("   ! %s", line)
		}
	} else if !dry {
		s.line("\nNo server in your own client files goes round Toolcrib.")
	}
	if len(r.Project) > 0 {
		s.line("\nThe files of this project name servers too, and were not changed: whoever can write to the\nproject chose them. 'toolcrib hub import FILE' takes them over.")
		for _, line := range r.Project {
			s.line("   %s", line)
		}
	}
	if dry {
		return
	}
	if r.Record != "" {
		s.line("\nHow to take it back is kept in %s, with your\nfiles as they were, secrets included; only your account can read it.", r.Record)
	}
	s.line(`
Try next:
   1. Restart one of your clients and ask it: "Which tools does toolcrib give you?"
   2. toolcrib approvals     what waits for your word
   3. toolcrib journal       what was done
To take the setup back: toolcrib setup --undo`)
}
