package code

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
)

type countPerson struct{ asked int }

func (c *countPerson) Approve(context.Context, toolcrib.Question) (toolcrib.Answer, error) {
	c.asked++
	return toolcrib.Answer{Decision: toolcrib.Allow}, nil
}

// TestNobodyIsAskedAboutCodeThatCannotRun: where no sandbox takes code, a person is not
// asked whether it may run, and the refusal says why.
func TestNobodyIsAskedAboutCodeThatCannotRun(t *testing.T) {
	none := errors.New("no sandbox holds code of this risk: set toolboxes.code.backends")
	for name, tt := range map[string]struct {
		needs Needs
		asked int
		want  string
	}{
		"no place": {Needs{Place: func(string, Risk) (string, error) { return "", none }, Ready: func(context.Context, string) error { return nil }}, 0, "toolboxes.code.backends"},
		"a place that is gone": {Needs{Ready: func(_ context.Context, place string) error {
			return &toolcrib.Error{Code: toolcrib.CodeUnavailable, Message: "the sandbox " + place + " cannot be had"}
		}}, 0, "the sandbox linux cannot be had"},
		"a place":            {Needs{Ready: func(context.Context, string) error { return nil }}, 1, "nothing runs here"},
		"nobody can tell it": {Needs{}, 1, "nothing runs here"},
	} {
		person := &countPerson{}
		c := &toolcrib.Crib{Catalog: &toolcrib.Catalog{}, Journal: toolcrib.NoJournal{}, Approver: person, Guards: []toolcrib.Guard{cribtest.Ask("to see")}}
		if _, faults := c.Catalog.Load(t.Context(), toolcrib.Contents{Boxes: []toolcrib.Toolbox{nowhere(t, tt.needs)}}); faults != nil {
			t.Fatal(faults)
		}
		r, err := c.Call(t.Context(), toolcrib.Call{Tool: "run_code", Input: []byte(`{"language":"python","code":"1"}`), Caller: toolcrib.Caller{Subject: "ann", Session: "s"}})
		said := ""
		if err != nil {
			said = err.Error()
		} else {
			said = r.String()
		}
		if person.asked != tt.asked || !strings.Contains(said, tt.want) {
			t.Errorf("%s: asked %d times, %s", name, person.asked, said)
		}
	}
}
