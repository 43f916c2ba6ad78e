package server

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/desk"
	"github.com/toolcrib/toolcrib/internal/text"
)

// form is a question as a client shows it: a text, and fields to fill in.
type form struct {
	question *desk.Question
	offers   []desk.Offer
	text     string
}

// The most that a client is sent. What is longer is cut, and says so.
const (
	maxFormText  = 48 << 10
	maxFormLines = 400 // of all but a change: more are not read
	maxPrefill   = 8 << 10
)

// newForm makes the form of a question. why is what was wrong with the answer
// before, if there was one.
func (s *Server) newForm(q *desk.Question, why error) *form {
	f := &form{question: q, offers: s.screen.desk.Offers(q)}
	var whole bool
	if f.text, whole = formText(q, why); !whole && q.Text == "" { // what is allowed must have been seen
		f.offers = slices.DeleteFunc(f.offers, func(o desk.Offer) bool { return o.Choice != desk.Deny })
		return f
	}
	if s.cfg.Answers == nil || q.Text != "" { // to what a tool asks there are no others
		return f
	}
	all := len(f.offers)
	f.offers = slices.DeleteFunc(f.offers, func(o desk.Offer) bool { return !slices.Contains(s.cfg.Answers, o.Choice) })
	if len(f.offers) < all {
		f.text += " To allow it for longer than is offered here, leave it open and say so at a terminal: 'toolcrib approvals show " + q.ID + "'."
	}
	return f
}

// params is the form as a client of a version takes it.
func (f *form) params(version string) json.RawMessage {
	var o object
	if version >= "2025-11-25" { // before, there were no others
		o.text("mode", "form")
	}
	o.text("message", f.text)
	schema, err := json.Marshal(f.schema())
	if err != nil { // strings and lists of them can always be written
		schema = []byte(`{"type":"object","properties":{}}`)
	}
	o.raw("requestedSchema", schema)
	return o.end()
}

// formText is what a client shows, and whether that is all of it. Blanks in great
// number would push what follows out of a window.
func formText(q *desk.Question, why error) (shown string, whole bool) {
	var b strings.Builder
	if why != nil {
		fmt.Fprintf(&b, "That could not be taken: %s\n\n", text.ShowExact(why.Error()))
	}
	// What is long comes last: the arguments, and a change behind them.
	count := 0
	parts := q.Describe()
	slices.SortStableFunc(parts, func(x, y desk.Part) int { return cmp.Compare(later(x), later(y)) })
	for _, part := range parts {
		b.WriteString(part.Title + ":\n")
		if part.Kind != desk.PartChange {
			count += len(part.Lines)
		}
		for _, line := range part.Lines {
			b.WriteString("  " + blanks.ReplaceAllStringFunc(line, func(run string) string { return fmt.Sprintf(" [%d blanks] ", len(blank.FindAllString(run, -1))) }) + "\n")
		}
	}
	text := b.String()
	whole = len(text) <= maxFormText && count <= maxFormLines
	if !whole {
		more := "It is too long to be answered here: 'toolcrib approvals show " + q.ID + "' shows it all"
		if q.Text == "" {
			more += ", and 'toolcrib approvals allow " + q.ID + "' allows it; here it can only be denied"
		}
		if len(text) > maxFormText {
			text = strings.ToValidUTF8(text[:maxFormText], "") + "…\n"
		}
		text = more + ".\n" + text
	}
	if q.Text == "" {
		text += "What is allowed for longer is remembered for " + q.Remembers(false) + ".\n"
	}
	return text + "Question " + q.ID + ".", whole
}

func later(p desk.Part) int {
	switch p.Kind {
	case desk.PartArguments:
		return 1
	case desk.PartChange:
		return 2
	}
	return 0
}

// blanks finds runs of what is not seen, or is written as its code because of that.
var (
	blank  = regexp.MustCompile(oneBlank)
	blanks = regexp.MustCompile(`(?:` + oneBlank + `){64,}`)
)

const oneBlank = `[\s\p{Zs}]|\[U\+(?:00A0|1680|20(?:0[0-9A]|2F|5F)|3000)\]`

// field is one property of a form: clients take flat ones only.
type field struct {
	Type        string   `json:"type"`
	Title       string   `json:"title,omitempty"`
	Description string   `json:"description,omitempty"`
	Enum        []string `json:"enum,omitempty"`
	Default     string   `json:"default,omitempty"`
}

type formSchema struct {
	Type       string           `json:"type"`
	Properties map[string]field `json:"properties"`
	Required   []string         `json:"required,omitempty"`
}

func (f *form) schema() formSchema {
	q := f.question
	s := formSchema{Type: "object", Properties: map[string]field{}}
	if q.Text != "" {
		if len(q.Options) == 0 {
			s.Properties["answer"] = field{Type: "string", Title: "Answer"}
			s.Required = []string{"answer"}
			return s
		}
		choice := field{Type: "string", Title: "Answer"}
		for _, o := range q.Options {
			choice.Enum = append(choice.Enum, text.ShowExact(o))
		}
		s.Properties["answer"] = choice
		s.Properties["other"] = field{Type: "string", Title: "Another answer", Description: "Instead of one of those above."}
		return s
	}
	choice := field{Type: "string", Title: "Your answer"}
	for _, o := range f.offers {
		choice.Enum = append(choice.Enum, o.Text)
		if o.Choice == desk.Edit {
			arguments := field{Type: "string", Title: "Arguments", Description: "Only if you change them: what is run instead, as JSON."}
			if !q.Redacted && len(q.Input) <= maxPrefill {
				arguments.Default = text.ShowJSON(string(q.Input))
			}
			s.Properties["arguments"] = arguments
		}
	}
	s.Properties["answer"] = choice
	s.Properties["message"] = field{Type: "string", Title: "Message to the model", Description: "Only if you deny it."}
	if len(q.Rules) > 0 {
		s.Properties["by_rule"] = field{Type: "boolean", Title: "Remember the rule", Description: "If it is remembered: " + q.Remembers(true) + ", and not only these arguments."}
	}
	s.Required = []string{"answer"}
	return s
}

// read makes an answer of the fields that were filled in.
func (f *form) read(content map[string]any) (desk.Reply, error) {
	text := func(name string) string {
		s, _ := content[name].(string)
		return strings.TrimSpace(s)
	}
	q := f.question
	if q.Text != "" {
		return f.readOwn(text("answer"), text("other"))
	}
	for _, o := range f.offers {
		if o.Text != text("answer") {
			continue
		}
		r := desk.Reply{Choice: o.Choice, Calls: q.Waiting}
		switch o.Choice {
		case desk.Deny:
			r.Message, r.Calls = text("message"), 0
		case desk.Edit:
			if text("arguments") == "" {
				return desk.Reply{}, errors.New("there are no arguments to allow it with")
			}
			r.Input = json.RawMessage(text("arguments"))
		case desk.AllowSession, desk.AllowProject, desk.AllowAlways:
			r.ByRule, _ = content["by_rule"].(bool)
		case desk.AllowOnce:
		}
		return r, nil
	}
	return desk.Reply{}, errors.New("none of the answers was chosen")
}

// readOwn is the answer to a tool's own question.
func (f *form) readOwn(chosen, other string) (desk.Reply, error) {
	answer := other
	if answer == "" {
		answer = chosen
		for _, o := range f.question.Options {
			if text.ShowExact(o) == chosen {
				answer = o
			}
		}
	}
	if answer == "" {
		return desk.Reply{}, errors.New("there is no answer in it")
	}
	return desk.Reply{Choice: desk.AllowOnce, Message: answer, Calls: f.question.Waiting}, nil
}
