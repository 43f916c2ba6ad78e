package voice

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/ovos/bus"
	"github.com/toolcrib/toolcrib/internal/spoken"
)

// reader reads an answer out as it comes.
type reader struct {
	*Voice
	ctx    context.Context
	about  bus.Message
	lang   string
	speech *Speech
	loud   int      // letters that were said
	left   []string // sentences that were too much for one go
	wrote  bool     // the model wrote something since its last call
}

const (
	maxLoud = 600 // letters that are said before the person is asked whether to go on
	maxLeft = 200 // sentences that are kept for then
)

// hear hears what happens in a turn.
func (r *reader) hear(e agent.Event) {
	if e.Depth > 0 { // what delegates say is said to who put them to work
		return
	}
	switch e.Kind {
	case agent.Content:
		r.wrote = r.wrote || strings.TrimSpace(e.Text) != ""
		r.read(r.speech.Add(e.Text))
	case agent.Call:
		r.read(r.speech.End())
		r.wrote = false
	}
}

func (r *reader) read(sentences []string) {
	for _, s := range sentences {
		if r.loud > 0 && r.loud+utf8.RuneCountInString(s) > maxLoud || len(r.left) > 0 {
			if len(r.left) < maxLeft {
				r.left = append(r.left, s)
			}
			continue
		}
		r.say(s)
	}
}

func (r *reader) say(sentence string) {
	if r.ctx.Err() != nil {
		return
	}
	r.loud += utf8.RuneCountInString(sentence)
	r.speak(r.about, r.lang, sentence, false)
}

// end says what is left, and what went wrong.
func (r *reader) end(out *agent.Outcome, err error) {
	if err == nil && !r.wrote && out != nil { // it did not come in pieces
		r.read(r.speech.Add(out.Text))
	}
	r.read(r.speech.End())
	if err != nil {
		r.cfg.Log.Warn("an answer to what was said broke off", "err", err)
		r.say(spoken.Say(r.lang, failure(err)))
		return
	}
	if r.loud == 0 {
		r.say(spoken.Say(r.lang, spoken.NoAnswerYet))
	}
	for len(r.left) > 0 {
		m, err := r.ask(r.ctx, r.about, r.lang, "", spoken.GoOn)
		if err != nil || m != Yes {
			return
		}
		rest := r.left
		r.left, r.loud = nil, 0
		r.read(rest)
	}
}

// failure says why there is no answer.
func failure(err error) spoken.Key {
	switch toolcrib.CodeOf(err) {
	case toolcrib.CodeDenied:
		return spoken.Denied
	case toolcrib.CodeTimeout:
		return spoken.TimedOut
	case toolcrib.CodeCancelled:
		return spoken.Cancelled
	case toolcrib.CodeUnavailable:
		return spoken.Unavailable
	}
	return spoken.Failed
}
