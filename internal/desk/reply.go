package desk

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Choice is what a person can say. The zero value is no answer.
type Choice string

// The choices. A message to the model goes with Deny, or is the answer to a
// tool's own question with AllowOnce.
const (
	AllowOnce    Choice = "once"
	AllowSession Choice = "session"
	AllowProject Choice = "project"
	AllowAlways  Choice = "always"
	Deny         Choice = "deny"
	Edit         Choice = "edit" // allow once, with other arguments
)

// Choices lists them all, in a fixed order, for screens and tables.
func Choices() []Choice {
	return []Choice{AllowOnce, AllowSession, AllowProject, AllowAlways, Deny, Edit}
}

// ParseChoice reads a choice as a person or a protocol writes it: its name, in
// whatever case, with or without "allow" before it.
func ParseChoice(text string) (Choice, error) {
	word := strings.ToLower(strings.TrimSpace(text))
	word = strings.TrimLeft(strings.TrimPrefix(word, "allow"), "_- ")
	for _, c := range Choices() {
		if word == string(c) && (c != Deny && c != Edit || !strings.Contains(strings.ToLower(text), "allow")) {
			return c, nil
		}
	}
	return "", fmt.Errorf("unknown answer %q: want one of once, session, project, always, deny, edit", text)
}

// Reply is a person's answer as a screen hands it in.
type Reply struct {
	Choice  Choice          `json:"choice"`
	Message string          `json:"message,omitempty"` // for the model, or the answer to a tool's own question
	Input   json.RawMessage `json:"input,omitempty"`   // for Edit: the arguments to take instead
	// Paths, with AllowOnce, are what is taken of the changes of a command: files, and
	// directories with all that is in them. Nil: all of it.
	Paths []string `json:"paths,omitempty"`
	// Calls is how many of the waiting calls an allowance is for: as many as
	// the screen showed in [Question.Waiting]. 0: one. The others are asked
	// about again.
	Calls int `json:"calls,omitempty"`
	// By is what is remembered instead of the exact arguments.
	By By `json:"by,omitempty"`
	// For is how long a grant lasts. 0: as configured for its scope.
	For time.Duration `json:"for,omitempty"`
	// Within is how long an answer that allows once waits for its call, if that is less
	// than configured. 0: as configured.
	Within time.Duration `json:"within,omitempty"`
}

const (
	maxMessage = 16 << 10
	maxBy      = 256
	maxPaths   = 1000
	maxPath    = 4096
)

// scope gives what a choice remembers; empty: nothing.
func (c Choice) scope() Scope {
	switch c {
	case AllowSession:
		return Session
	case AllowProject:
		return Project
	case AllowAlways:
		return Always
	}
	return ""
}

// checkReply makes sure that an answer can be given to a question.
func (d *Desk) checkReply(r Reply, q *Question) error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("%w: %s", ErrBadReply, fmt.Sprintf(format, args...))
	}
	switch r.Choice {
	case AllowOnce, AllowSession, AllowProject, AllowAlways, Deny, Edit:
	default:
		return bad("%q is not a choice", r.Choice)
	}
	switch {
	case r.Calls < 0 || r.For < 0 || r.Within < 0:
		return bad("numbers must not be negative")
	case len(r.Message) > maxMessage:
		return bad("the message has %d bytes; at most %d are taken", len(r.Message), maxMessage)
	case (r.Choice == Edit) != (r.Input != nil):
		return bad("arguments go with edit, and only with it")
	case r.Paths != nil && !q.ByPath:
		return bad("only of what a command has changed a part can be taken, and it is taken back as a whole")
	case r.Paths != nil && r.Choice != AllowOnce:
		return bad("a part is taken once")
	case r.Paths != nil && (len(r.Paths) == 0 || len(r.Paths) > maxPaths || slices.ContainsFunc(r.Paths, func(p string) bool { return p == "" || len(p) > maxPath })):
		return bad("want 1 to %d paths", maxPaths)
	case r.Choice == Edit:
		return d.editFits(r, q)
	}
	scope := r.Choice.scope()
	if scope == "" {
		if r.By != "" || r.For != 0 {
			return bad("%s remembers nothing", r.Choice)
		}
		return nil
	}
	switch {
	case q.askedByTool():
		return bad("the answer to a tool's question is not remembered")
	case q.Floor:
		return bad("this is asked every time: it can only be allowed once")
	case q.Unseen:
		return bad("what is hidden in it has blanks or signs of a shell and may be more than a secret: it can only be allowed once")
	case q.Caller.Subject == "":
		return bad("nobody answers for the caller, so that nothing can be remembered for it")
	case scope == Session && q.Caller.Session == "":
		return bad("the caller has no session")
	case scope == Project && q.Project == "":
		return bad("the caller works in no project")
	}
	return q.checkWay(r.By)
}

// editFits makes sure that other arguments can be taken.
func (d *Desk) editFits(r Reply, q *Question) error {
	text := bytes.TrimSpace(r.Input)
	switch {
	case q.ByPath:
		return fmt.Errorf("%w: the command has run already, so its arguments cannot be edited", ErrBadReply)
	case q.askedByTool():
		return fmt.Errorf("%w: a tool's question has no arguments to edit", ErrBadReply)
	case r.By != "" || r.For != 0:
		return fmt.Errorf("%w: edit remembers nothing", ErrBadReply)
	case len(text) > d.cfg.MaxInput:
		return fmt.Errorf("%w: the arguments have %d bytes; at most %d are taken", ErrBadReply, len(text), d.cfg.MaxInput)
	case len(text) == 0 || text[0] != '{' || !json.Valid(text):
		return fmt.Errorf("%w: the arguments are not a JSON object", ErrBadReply)
	case q.Redacted && d.cfg.Mark != "" && bytes.Contains(text, []byte(d.cfg.Mark)):
		// What was hidden from the person is not known here any more.
		return fmt.Errorf("%w: the arguments have %s in them, where something was hidden; write out what is meant", ErrBadReply, d.cfg.Mark)
	}
	return nil
}
