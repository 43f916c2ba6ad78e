package reach

import (
	"context"
	"errors"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/sandbox"
	"github.com/toolcrib/toolcrib/internal/toolfile"
)

type countAsked struct{ asked int }

func (c *countAsked) Approve(context.Context, toolcrib.Question) (toolcrib.Answer, error) {
	c.asked++
	return toolcrib.Answer{Decision: toolcrib.Allow}, nil
}

// Where no sandbox can run a command, nobody is asked about it.
func TestNobodyIsAskedAboutWhatCannotRun(t *testing.T) {
	fails := func(context.Context) (toolcrib.Sandbox, error) { return nil, errors.New("this kernel has none") }
	chooser, err := sandbox.NewChooser(sandbox.Config{Candidates: []sandbox.Candidate{{Name: sandbox.Linux, Strength: sandbox.Isolated, Open: fails}}})
	if err != nil {
		t.Fatal(err)
	}
	asked := &countAsked{}
	r := Reachable{Crib: &toolcrib.Crib{Sandbox: chooser}, Approver: asked}
	all := toolcrib.Reads | toolcrib.Writes | toolcrib.Destroys | toolcrib.Runs | toolcrib.Network
	for _, tool := range []string{"run_command", "start_command"} {
		q := toolcrib.Question{Spec: toolcrib.Entry{Spec: toolcrib.Spec{Name: tool, Effects: all}, Box: "shell", Native: tool}, Input: []byte(`{"command":"rm -r x"}`), Effects: all}
		if _, err := r.Approve(t.Context(), q); toolcrib.CodeOf(err) != toolcrib.CodeUnavailable || asked.asked != 0 {
			t.Errorf("%s: asked %d times, %v", tool, asked.asked, err)
		}
	}
	q := toolcrib.Question{Spec: toolcrib.Entry{Spec: toolcrib.Spec{Name: "x", Effects: toolcrib.Writes}, Box: "other"}, Input: []byte(`{}`), Effects: toolcrib.Writes}
	if _, err := r.Approve(t.Context(), q); err != nil || asked.asked != 1 {
		t.Errorf("what runs nothing: asked %d times, %v", asked.asked, err)
	}
	tools := &Tools{Launcher: &Launcher{Chooser: chooser}, Box: chooser}
	for _, f := range []*toolfile.File{{Name: "a", Effects: toolcrib.Pure}, {Name: "b", Effects: toolcrib.Writes}, {Name: "c", Effects: toolcrib.Reads, Sandbox: sandbox.Linux}} {
		err := tools.Ready(t.Context(), f)
		if toolcrib.CodeOf(err) != toolcrib.CodeUnavailable {
			t.Errorf("the tool %s of a file: %v", f.Name, err)
		}
	}
	if err := tools.Ready(t.Context(), &toolfile.File{Name: "d", Sandbox: sandbox.Host}); err != nil {
		t.Error(err)
	}
}
