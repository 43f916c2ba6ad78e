package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/text"
)

// runShow tells a person what an agent does, on standard error.
type runShow struct {
	c     *command
	quiet bool
	asks  bool  // nobody is asked, so that nobody has to be told
	err   error // that what was to be printed could not be
	said  strings.Builder
}

// printLine writes a value on one line, whoever reads it.
func (c *command) printLine(v any) error {
	var line bytes.Buffer
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := c.out.Write(line.Bytes())
	return err
}

// tell tells one event.
func (r *runShow) tell(e agent.Event) {
	in := strings.Repeat("  ", e.Depth)
	if e.Depth > 0 {
		in += text.ShowLine(e.Agent) + ": "
	}
	switch e.Kind {
	case agent.Content:
		if e.Depth == 0 {
			r.said.WriteString(e.Text)
		}
	case agent.Call:
		if e.Depth == 0 {
			r.flush()
		}
		r.line(in + "→ " + e.Tool + " " + text.Clip(text.ShowLine(string(e.Args)), 200))
	case agent.CallResult:
		if e.Success() {
			r.line(in + "✓ " + e.Tool)
			return
		}
		why := "failed"
		switch {
		case e.Error != nil:
			why = string(e.Error.Code) + ": " + e.Error.Message
		case e.Result != nil:
			why = e.Result.String()
		}
		r.line(in + "✗ " + e.Tool + ": " + text.Clip(text.ShowLine(why), 300))
	case agent.AskUser:
		if e.Question != nil && !r.asks && !r.c.attended() {
			fmt.Fprintf(r.c.err, "toolcrib: %s waits for an answer: 'toolcrib approvals' shows it (%s)\n", text.ShowLine(e.Question.Tool), e.Question.ID)
		}
	}
}

// flush shows what the model said before it called something: what it says last is its
// answer, and goes elsewhere.
func (r *runShow) flush() {
	if said := strings.TrimSpace(r.said.String()); said != "" {
		r.line(text.Show(said))
	}
	r.said.Reset()
}

func (r *runShow) line(l string) {
	if !r.quiet {
		fmt.Fprintln(r.c.err, l)
	}
}

func (r *runShow) end() { r.said.Reset() }

// attended reports whether a person sits at this terminal and can be asked.
func (c *command) attended() bool {
	in, ok := c.in.(*os.File)
	return ok && terminal(in) && terminal(c.err)
}
