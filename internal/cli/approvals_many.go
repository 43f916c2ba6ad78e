package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/desk"
	"github.com/toolcrib/toolcrib/internal/text"
	"github.com/toolcrib/toolcrib/internal/toolname"
)

// many picks several questions that wait.
type many struct {
	all, alike   bool
	server, tool string
	gives        bool // what is picked is allowed
}

func (m *many) flags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolVar(&m.alike, "all-alike", false, "answer all questions that are like it: the same tool, caller and reasons")
	flags.BoolVar(&m.all, "all", false, "answer all questions that wait")
	flags.StringVar(&m.server, "server", "", "answer all questions about tools of this MCP server or toolbox")
	flags.StringVar(&m.tool, "tool", "", "answer all questions about this tool")
	cmd.Args = usageArgs(func(_ *cobra.Command, args []string) error {
		switch {
		case m.all && (m.server != "" || m.tool != ""), m.alike && m.picks():
			return fmt.Errorf("--all, --all-alike, and --server and --tool exclude each other")
		case m.picks() && len(args) > 0:
			return fmt.Errorf("name questions, or pick them with --all, --server or --tool")
		case !m.picks() && len(args) == 0:
			return fmt.Errorf("name a question ('toolcrib approvals' lists them), or pick several with --all, --server or --tool")
		}
		return nil
	})
}

// picks reports whether questions are picked by what they are about.
func (m *many) picks() bool { return m.all || m.server != "" || m.tool != "" }

// several reports whether more may be answered than was named.
func (m *many) several() bool { return m.picks() || m.alike }

func (m *many) fits(q *desk.Question) bool {
	word := m.tool
	if rest, ok := toolname.FromClient(word); ok {
		word = rest
	}
	if m.server != "" && q.Box != m.server {
		return false
	}
	if m.tool == "" || !m.gives {
		of := toolname.Tool{Box: q.Box, Native: q.Native, Shown: []string{q.Tool}}
		return m.tool == "" || slices.Contains(of.Names(), word)
	}
	// A server calls its tools as it likes, also like those of others: what allows goes by
	// what is shown, and by names with the server in them.
	box, native, ok := toolname.Split(strings.TrimPrefix(word, "mcp__"))
	return word == q.Name() || word == q.Box+"/"+q.Native || ok && box == q.Box && native == q.Native
}

// questions are those that the names and the flags mean.
func (m *many) questions(ctx context.Context, d *desk.Desk, names []string) (list []desk.Question, err error) {
	if m.picks() {
		list, err = d.Questions(ctx, desk.Filter{State: desk.Open})
		now := time.Now()
		list = slices.DeleteFunc(list, func(q desk.Question) bool { return !m.fits(&q) || !now.Before(q.Expires) })
		slices.SortStableFunc(list, func(a, b desk.Question) int { return a.Asked.Compare(b.Asked) })
		if err == nil && len(list) == 0 {
			err = &toolcrib.Error{Code: toolcrib.CodeNotFound, Message: "no question of this kind waits; 'toolcrib approvals' lists those that do"}
		}
		return list, err
	}
	for _, name := range names {
		q, err := findQuestion(ctx, d, name, true)
		if err != nil {
			return nil, err
		}
		like := []desk.Question{q}
		if m.alike {
			if like, err = d.Alike(ctx, q.ID); err != nil {
				return nil, err
			}
		}
		for _, q := range like {
			if !slices.ContainsFunc(list, func(o desk.Question) bool { return o.ID == q.ID }) {
				list = append(list, q)
			}
		}
	}
	return list, nil
}

// alone says why a question is not allowed together with others; empty: it may be.
func alone(q *desk.Question) string {
	switch {
	case q.Text != "":
		return "it is a tool's own question"
	case q.Floor:
		return "it is of the kind that is asked every time"
	case q.Unseen:
		return "what is hidden in it may be more than a key"
	case q.Cut:
		return "its change is too long to be shown whole"
	}
	return ""
}

// allowable leaves out what has to be looked at by itself, and tells it.
func (c *command) allowable(list []desk.Question) []desk.Question {
	return slices.DeleteFunc(list, func(q desk.Question) bool {
		why := alone(&q)
		if why != "" {
			fmt.Fprintf(c.err, "toolcrib: %s (%s) is left out: %s; answer it by its ID\n", q.ID, text.ShowLine(q.Name()), why)
		}
		return why != ""
	})
}

// showMany shows questions one after another. Of those that are alike, what they have
// in common is shown once; what each would be given is shown of each.
func (c *command) showMany(list []desk.Question) {
	l := c.look(c.err)
	var page strings.Builder
	var shown []string
	for i := range list {
		if slices.Contains(shown, list[i].Like) {
			continue
		}
		shown = append(shown, list[i].Like)
		page.WriteString(l.question(&list[i]))
		for j := i + 1; j < len(list); j++ {
			if list[j].Like == list[i].Like {
				page.WriteString(l.again(&list[j], &list[i]))
			}
		}
		page.WriteString("\n")
	}
	fmt.Fprint(c.err, page.String())
}

// again shows what a question has of its own beside one that is like it.
func (l look) again(q, first *desk.Question) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s\n", l.strong("And the same with"), l.in(dim, q.ID))
	known := first.Describe()
	for _, part := range q.Describe() {
		args := part.Kind == desk.PartArguments
		if !args && slices.ContainsFunc(known, func(k desk.Part) bool { return k.Title == part.Title && slices.Equal(k.Lines, part.Lines) }) {
			continue
		}
		if !args {
			fmt.Fprintf(&b, "%s\n", l.strong(part.Title+":"))
		}
		for _, line := range part.Lines {
			b.WriteString(l.line(part.Kind, line))
		}
	}
	return b.String()
}
