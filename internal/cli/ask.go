package cli

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
)

// approver asks the person at this terminal, if there is one. A pipe is
// nobody: what has to be asked is then refused, and says so.
func (c *command) approver() toolcrib.Approver {
	in, ok := c.in.(*os.File)
	if !ok || !terminal(in) || !terminal(c.err) {
		return nil
	}
	return &atTerminal{in: bufio.NewReader(in), out: c.err, by: subject(), unread: func() { unread(in) }}
}

// atTerminal is a person who types y or n.
type atTerminal struct {
	in     *bufio.Reader
	out    io.Writer
	by     string
	unread func() // drops what was typed before; nil: nothing was
}

// Approve implements [toolcrib.Approver]. Only a plain yes allows. It reads on
// after ctx has ended, which is well only in a program that ends then too.
func (p *atTerminal) Approve(_ context.Context, q toolcrib.Question) (toolcrib.Answer, error) {
	if _, err := io.WriteString(p.out, readable(questionText(q))); err != nil {
		return toolcrib.Answer{}, err
	}
	if p.unread != nil {
		p.unread()
		p.in.Discard(p.in.Buffered()) //nolint:errcheck // it has as much
	}
	line, err := p.in.ReadString('\n')
	if err != nil && (line == "" || !errors.Is(err, io.EOF)) {
		return toolcrib.Answer{}, fmt.Errorf("reading the answer: %w", err)
	}
	answer := toolcrib.Answer{Decision: toolcrib.Deny, By: p.by}
	switch line = strings.TrimSpace(line); {
	case len(q.Options) > 0 || q.Text != "":
		answer.Decision, answer.Message = toolcrib.Allow, line
	case strings.EqualFold(line, "y"), strings.EqualFold(line, "yes"):
		answer.Decision = toolcrib.Allow
	}
	return answer, nil
}

// questionText is what the person reads: the tool, exactly what it would be
// given, what would change, and why this is asked.
func questionText(q toolcrib.Question) string {
	var b strings.Builder
	if q.Text != "" {
		fmt.Fprintf(&b, "\n%s asks:\n%s", q.Spec.Name, indented(q.Text))
		for _, o := range q.Options {
			fmt.Fprintf(&b, "  - %s\n", o)
		}
		return b.String() + "Answer: "
	}
	fmt.Fprintf(&b, "\n%s, for %s, would run. It can: %s\n", q.Spec.Name, cmp.Or(q.Call.Caller.Agent, q.Call.Caller.Subject, "a caller"), q.Effects)
	b.WriteString(argumentsText(q.Input, q.Preview != ""))
	if q.Preview != "" {
		b.WriteString("What would change:\n" + indented(q.Preview))
	}
	for _, v := range q.Reasons {
		if v.Decision == toolcrib.Ask {
			fmt.Fprintf(&b, "Asked by the %s guard:\n%s", v.Guard, indented(v.Reason))
		}
	}
	return b.String() + "Allow it, once? [y/N] "
}

// longText is how much of a text is shown where the change shows it anyway.
const longText = 200

// argumentsText shows an input, an argument to a line. Texts are shown as they
// are and not as JSON, since people read them as commands; lines beyond the
// first stand further in, so that none can look like another argument.
func argumentsText(input json.RawMessage, shown bool) string {
	var args map[string]json.RawMessage
	if json.Unmarshal(input, &args) != nil {
		return indented(string(input))
	}
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(args)) {
		text := string(args[name])
		var plain string
		if json.Unmarshal(args[name], &plain) == nil {
			text = plain
		}
		if shown && len(text) > longText {
			text = fmt.Sprintf("(%d bytes, see below)", len(text))
		}
		fmt.Fprintf(&b, "  %s: %s\n", name, strings.ReplaceAll(text, "\n", "\n      "))
	}
	return b.String()
}

func indented(text string) string {
	return "  " + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n  ") + "\n"
}
