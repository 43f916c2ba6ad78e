package toolcrib

import (
	"encoding/json"
	"strings"
)

// Result is what a tool answered. A tool that failed still answers: Failed is
// set and Content says why, because a model can mend its call and go on.
type Result struct {
	Content []Content       `json:"content,omitempty"` // for people and models
	Value   json.RawMessage `json:"value,omitempty"`   // for programs; fits the tool's Output schema
	Failed  bool            `json:"failed,omitempty"`
	// More is what else a supplier of another system said with it: an object,
	// for frontends that speak that system's language. It is vetted like a Value.
	More json.RawMessage `json:"more,omitempty"`

	ended ending // how the journal records it; the zero value goes by Failed
}

// ending is how a tool says its work ended, for the journal.
type ending struct {
	outcome Outcome
	why     string
}

// Content is one piece of a result in the form that models take.
type Content struct {
	Type   string `json:"type"` // text, image, audio, resource or link
	Text   string `json:"text,omitempty"`
	Data   []byte `json:"data,omitempty"` // base64 in JSON
	MIME   string `json:"mime,omitempty"`
	URI    string `json:"uri,omitempty"`
	Name   string `json:"name,omitempty"`
	Notice bool   `json:"notice,omitempty"` // a vetter's word about the result, which every dialect keeps
	// More is what else was said of this piece (for whom it is, how large it
	// is): an object, or nil.
	More json.RawMessage `json:"more,omitempty"`
}

// Text is a Result of plain text.
func Text(s string) *Result {
	return &Result{Content: []Content{{Type: "text", Text: s}}}
}

// Failed is the Result of a tool that could not do what was asked.
func Failed(message string) *Result {
	r := Text(message)
	r.Failed = true
	return r
}

// String gives the text of a result: its text contents, or its value.
func (r *Result) String() string {
	var parts []string
	for _, c := range r.Content {
		if c.Type == "text" {
			parts = append(parts, c.Text)
		}
	}
	if len(parts) == 0 {
		return string(r.Value)
	}
	return strings.Join(parts, "\n")
}

// FailedError is a failed Result seen as a Go error, as [Invoke] returns it.
type FailedError struct {
	Tool   string
	Result *Result
}

func (f *FailedError) Error() string { return f.Tool + " failed: " + f.Result.String() }
