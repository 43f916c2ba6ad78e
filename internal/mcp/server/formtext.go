package server

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/desk"
	"github.com/toolcrib/toolcrib/internal/text"
)

// The most that a client is sent. What is longer is cut, and says so.
const (
	maxFormText  = 48 << 10
	maxFormLines = 400 // of all but a change: more are not read
	longWhy      = 12  // lines of a reason or a note, from which on it comes behind the call itself
	maxPrefill   = 8 << 10
)

// params is the form as a client of a version takes it.
func (f *form) params(version string) json.RawMessage {
	var o object
	if version >= "2025-11-25" { // before, there were no others
		o.text("mode", "form")
	}
	shown := f.text
	if f.why != nil {
		shown = "That could not be taken: " + text.ShowExact(f.why.Error()) + "\n\n" + shown
	}
	o.text("message", shown)
	schema, err := json.Marshal(f.schema())
	if err != nil { // strings and lists of them can always be written
		schema = []byte(`{"type":"object","properties":{}}`)
	}
	o.raw("requestedSchema", schema)
	return o.end()
}

// field is the property of a form: clients take flat ones only.
type field struct {
	Type    string   `json:"type"`
	Title   string   `json:"title,omitempty"`
	Enum    []string `json:"enum,omitempty"`
	Default string   `json:"default,omitempty"`
}

type formSchema struct {
	Type       string           `json:"type"`
	Properties map[string]field `json:"properties"`
	Required   []string         `json:"required,omitempty"`
}

func (f *form) schema() formSchema {
	asked := field{Type: "string", Title: "Your answer"}
	switch f.field {
	case fieldArguments:
		asked.Title, asked.Default = "Arguments", f.prefill()
	case fieldMessage:
		asked.Title = "Message to the model"
	case fieldPaths:
		asked.Title = "Paths"
	case fieldAnswer:
		for _, c := range f.choices {
			asked.Enum = append(asked.Enum, c.text)
		}
	}
	return formSchema{Type: "object", Properties: map[string]field{string(f.field): asked}, Required: []string{string(f.field)}}
}

// prefill is the arguments as they can be changed; empty: they cannot be shown so.
func (f *form) prefill() string {
	if q := f.question; !q.Redacted && len(q.Input) <= maxPrefill {
		return text.ShowJSON(string(q.Input))
	}
	return ""
}

// typedText is what a client shows above the second half of an answer.
func (f *form) typedText(wants fieldName) string {
	q := f.question
	tool := text.ShowExact(q.Tool)
	switch wants {
	case fieldArguments:
		shown := "Type the arguments that " + tool + " is to be given, all of them, as a JSON object. It runs once with them.\n"
		if q.Redacted {
			shown += "What is hidden of them has to be typed anew: it is not filled in again.\n"
		}
		if before := f.prefill(); before != "" {
			return shown + "It would be given:\n  " + before + "\nQuestion " + q.ID + "."
		}
		parts := slices.DeleteFunc(q.Describe(), func(p desk.Part) bool { return p.Kind != desk.PartArguments && p.Kind != desk.PartChange })
		before, _ := partsText(parts) // the arguments, and the change that may stand for a part of them
		return shown + before + "Question " + q.ID + "."
	case fieldMessage:
		return "Type what the model is told about why you deny " + tool + ".\nQuestion " + q.ID + "."
	case fieldPaths:
		return "Type the paths that you take of what the command has changed, with blanks between them: files, or directories with all that is in them. The rest is dropped.\nQuestion " + q.ID + "."
	case fieldAnswer:
	}
	shown, _ := formText(q)
	return shown
}

// partsText writes parts below one another, and counts the lines of all but a change.
// What is long comes last: the arguments, a change behind them, and a script that makes
// the call behind both, so that it cannot push them out of sight. Blanks in great
// number would push what follows out of a window.
func partsText(parts []desk.Part) (shown string, count int) {
	var b strings.Builder
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
	return b.String(), count
}

// formText is what a client shows, and whether that is all of it.
func formText(q *desk.Question) (shown string, whole bool) {
	text, count := partsText(q.Describe())
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
		text += "What is allowed for longer is remembered for " + q.Remembers(desk.ByArguments)
		if len(q.Rules) > 0 {
			text += ", or, if the answer names a rule, for " + q.Remembers(desk.ByRule)
		} else if len(q.Ways()) > 0 {
			text += ", unless the answer names more"
		}
		text += ".\n"
	}
	return text + "Question " + q.ID + ".", whole
}

func later(p desk.Part) int {
	switch p.Kind {
	case desk.PartArguments:
		return 1
	case desk.PartChange:
		return 2
	case desk.PartWhy:
		if len(p.Lines) > longWhy { // the script that makes the call, of which its writer decides how long it is
			return 3
		}
	}
	return 0
}

// blanks finds runs of what is not seen, or is written as its code because of that.
var (
	blank  = regexp.MustCompile(oneBlank)
	blanks = regexp.MustCompile(`(?:` + oneBlank + `){64,}`)
)

const oneBlank = `[\s\p{Zs}]|\[U\+(?:00A0|1680|20(?:0[0-9A]|2F|5F)|3000)\]`
