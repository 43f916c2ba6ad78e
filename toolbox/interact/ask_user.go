package interact

import (
	"context"
	_ "embed" // the description
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib"
)

//go:embed ask_user.md
var askUserText string

type askUserIn struct {
	Question string   `json:"question" minlen:"1" maxlen:"4000" doc:"What to ask, in full sentences: the person may not have followed what was done before."`
	Options  []string `json:"options,omitempty" maxitems:"20" doc:"Answers to choose from. The person may still answer something else."`
}

type askUserOut struct {
	Answer string `json:"answer" doc:"What the person said."`
	Chosen bool   `json:"chosen" doc:"The answer is one of the options."`
}

// thinking is how long a person has at most; what the crib gives them to answer
// a question is shorter as a rule.
const thinking = 10 * time.Minute

func askUser() toolcrib.Tool {
	return toolcrib.Define(toolcrib.Spec{
		Name:        "ask_user",
		Title:       "Ask the person",
		Description: askUserText,
		Effects:     toolcrib.AsksPerson,
		Group:       "interact",
		Timeout:     thinking,
	}, func(ctx context.Context, env *toolcrib.Env, in askUserIn) (askUserOut, error) {
		question := strings.TrimSpace(in.Question)
		if question == "" {
			return askUserOut{}, errors.New("the question is empty")
		}
		if env.Ask == nil {
			return askUserOut{}, nobody(toolcrib.ErrNobody)
		}
		answer, err := env.Ask(ctx, toolcrib.Question{Text: question, Options: in.Options, Effects: toolcrib.AsksPerson})
		if err != nil {
			return askUserOut{}, unanswered(ctx, err)
		}
		if answer.Decision != toolcrib.Allow {
			return askUserOut{}, declined(answer.Message)
		}
		return askUserOut{Answer: answer.Message, Chosen: slices.Contains(in.Options, answer.Message)}, nil
	})
}

// declined: the person was there and did not want to answer.
func declined(message string) error {
	text := "the person was asked and does not want to answer"
	if message != "" {
		text += ": " + message
	}
	return &toolcrib.Error{Code: toolcrib.CodeDenied, Message: text}
}

// nobody: there is no person.
func nobody(cause error) error {
	return &toolcrib.Error{Code: toolcrib.CodeUnavailable, Err: cause, Message: "nobody is there to be asked; decide by yourself what can be decided, and say what you assumed"}
}

// unanswered says why there is no answer. Who keeps the question knows best,
// and says it in its own words.
func unanswered(ctx context.Context, err error) error {
	if _, ok := toolcrib.AsError(err); ok {
		return err
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return ctx.Err()
	}
	if ctx.Err() != nil || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return &toolcrib.Error{Code: toolcrib.CodeTimeout, Err: err, Message: "the person was asked and has not answered in time"}
	}
	return nobody(err)
}
