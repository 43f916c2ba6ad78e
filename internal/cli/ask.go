package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
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
	return &atTerminal{in: bufio.NewReader(in), out: c.err, by: subject()}
}

// atTerminal is a person who types y or n.
type atTerminal struct {
	in  *bufio.Reader
	out io.Writer
	by  string
}

// Approve implements [toolcrib.Approver]. Only a plain yes allows.
func (p *atTerminal) Approve(_ context.Context, q toolcrib.Question) (toolcrib.Answer, error) {
	if _, err := io.WriteString(p.out, readable(questionText(q))); err != nil {
		return toolcrib.Answer{}, err
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
	fmt.Fprintf(&b, "\n%s (%s) %s\n", q.Spec.Name, q.Spec.Effects, "asks to run:")
	if q.Text != "" {
		fmt.Fprintf(&b, "  %s\n", q.Text)
		for _, o := range q.Options {
			fmt.Fprintf(&b, "  - %s\n", o)
		}
		return b.String() + "Answer: "
	}
	b.WriteString(indented(inputText(q.Input)))
	if q.Preview != "" {
		b.WriteString("What would change:\n" + indented(q.Preview))
	}
	for _, v := range q.Reasons {
		if v.Decision == toolcrib.Ask {
			fmt.Fprintf(&b, "Asked by %s: %s\n", v.Guard, strings.ReplaceAll(v.Reason, "; ", "\n  "))
		}
	}
	return b.String() + "Allow it, once? [y/N] "
}

// inputText shows an input with a line for each argument.
func inputText(input json.RawMessage) string {
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, input, "", "  "); err != nil {
		return string(input)
	}
	return pretty.String()
}

func indented(text string) string {
	return "  " + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n  ") + "\n"
}
