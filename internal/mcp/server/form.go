package server

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/desk"
	"github.com/toolcrib/toolcrib/internal/text"
)

// form is a question as a client shows it: a text, and one field to fill in. More
// fields would be a trap. Codex does not let its user leave an optional one empty,
// and whoever changes the arguments and then chooses an answer that does not take
// them would allow what they did not mean. What an answer needs besides is asked
// for in a second form.
type form struct {
	question *desk.Question
	text     string
	field    fieldName
	choices  []formChoice // of fieldAnswer; nil: a text is typed
	reply    desk.Reply   // what becomes of a text that is typed
	why      error        // what was wrong with the answer before
	tries    int          // how often something was
}

// formChoice is an answer that can be chosen.
type formChoice struct {
	text  string
	reply desk.Reply
	types fieldName // what has to be typed for it; empty: nothing
}

// fieldName names the one field of a form.
type fieldName string

// The fields.
const (
	fieldAnswer    fieldName = "answer"    // one of the choices, or the answer to a tool's own question
	fieldArguments fieldName = "arguments" // goes with [desk.Edit]
	fieldMessage   fieldName = "message"   // goes with [desk.Deny]
	fieldPaths     fieldName = "paths"     // of what a command has changed
)

// newForm makes the form of a question.
func (s *Server) newForm(q *desk.Question) *form {
	shown, whole := formText(q)
	f := &form{question: q, text: shown, field: fieldAnswer}
	if q.Text != "" {
		f.offerAnswers()
		return f
	}
	offers := s.screen.desk.Offers(q)
	if !whole { // what is allowed must have been seen
		offers = slices.DeleteFunc(offers, func(o desk.Offer) bool { return o.Choice != desk.Deny })
	} else if s.cfg.Answers != nil {
		all := len(offers)
		offers = slices.DeleteFunc(offers, func(o desk.Offer) bool { return !slices.Contains(s.cfg.Answers, o.Choice) })
		if len(offers) < all {
			f.text += " To allow it for longer than is offered here, leave it open and say so at a terminal: 'toolcrib approvals show " + q.ID + "'."
		}
	}
	f.offer(offers)
	return f
}

// offer fills in the answers to a question about a call.
func (f *form) offer(offers []desk.Offer) {
	for _, o := range offers {
		c := formChoice{text: o.Text, reply: desk.Reply{Choice: o.Choice, Calls: f.question.Waiting}}
		switch o.Choice {
		case desk.Edit:
			c.types = fieldArguments
		case desk.Deny:
			c.reply.Calls = 0
			f.choices = append(f.choices, c)
			c.text, c.types = o.Text+", and tell the model why", fieldMessage
		case desk.AllowOnce, desk.AllowSession, desk.AllowProject, desk.AllowAlways:
		}
		f.choices = append(f.choices, c)
		if o.Choice == desk.AllowOnce && f.question.ByPath {
			f.choices = append(f.choices, formChoice{text: "take only some of it", reply: c.reply, types: fieldPaths})
		}
		for _, w := range o.Wider {
			if o.Choice == desk.AllowAlways && w.By != desk.ByRule {
				continue // a list that has to be scrolled is not read; 'toolcrib approvals' has it
			}
			c.text, c.reply.By = w.Text, w.By
			f.choices = append(f.choices, c)
		}
	}
}

// offerAnswers fills in the answers to a tool's own question.
func (f *form) offerAnswers() {
	f.reply = desk.Reply{Choice: desk.AllowOnce, Calls: f.question.Waiting}
	offered := func(words string) bool {
		return slices.ContainsFunc(f.choices, func(c formChoice) bool { return c.text == words })
	}
	for _, o := range f.question.Options {
		shown := strings.TrimSpace(text.ShowExact(o))
		if shown == "" || offered(shown) { // clients may refuse a list that has a text twice
			continue
		}
		chosen := f.reply
		chosen.Message = o // as the tool wrote it, which may compare
		f.choices = append(f.choices, formChoice{text: shown, reply: chosen})
	}
	if len(f.choices) == 0 {
		return
	}
	other := "something else"
	for offered(other) { // a tool may use these words, and means its own answer by them
		other += ", in your own words"
	}
	f.choices = append(f.choices, formChoice{text: other, reply: f.reply, types: fieldAnswer})
}

// read makes an answer of the field that was filled in, or the form for the other
// half of it.
func (f *form) read(content map[string]any) (desk.Reply, *form, error) {
	given, _ := content[string(f.field)].(string)
	given = strings.TrimSpace(given)
	if f.choices != nil {
		for _, c := range f.choices {
			switch {
			case strings.TrimSpace(c.text) != given:
			case c.types == "":
				return c.reply, nil, nil
			default:
				return desk.Reply{}, &form{question: f.question, text: f.typedText(c.types), field: c.types, reply: c.reply, tries: f.tries}, nil
			}
		}
		return desk.Reply{}, nil, errors.New("none of the answers was chosen")
	}
	r := f.reply
	switch {
	case given == "":
		return r, nil, errors.New("nothing was typed")
	case f.field == fieldArguments:
		r.Input = json.RawMessage(given)
	case f.field == fieldPaths:
		var err error
		r.Paths, err = desk.Paths(given)
		return r, nil, err
	default:
		r.Message = given
	}
	return r, nil, nil
}
