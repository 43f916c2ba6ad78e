package sandboxes

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/sandbox"
)

// noting is a sandbox that has something to say.
type noting struct{ notes []string }

func (noting) Enforces() toolcrib.Bounds { return ^toolcrib.Bounds(0) }

func (n noting) Run(context.Context, toolcrib.Cmd, toolcrib.Grant) (toolcrib.Exit, error) {
	return toolcrib.Exit{Notes: n.notes}, nil
}

// TestPersonIsTold: what a sandbox says about a program is in the log, once, and
// not only in the answer for the model.
func TestPersonIsTold(t *testing.T) {
	chooser, err := sandbox.NewChooser(sandbox.Config{Candidates: []sandbox.Candidate{
		{Name: sandbox.Linux, Strength: sandbox.Machine, Open: func(context.Context) (toolcrib.Sandbox, error) {
			return noting{[]string{".npmrc was set aside"}}, nil
		}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	box := &Telling{Chooser: chooser, Log: slog.New(slog.NewTextHandler(&log, nil))}
	for range 2 {
		exit, err := box.Run(t.Context(), toolcrib.Cmd{Tool: "run_command", Path: "/bin/true"}, toolcrib.Grant{})
		if err != nil || len(exit.Notes) != 1 {
			t.Fatalf("%+v, %v", exit, err)
		}
	}
	if n := strings.Count(log.String(), ".npmrc was set aside"); n != 1 || !strings.Contains(log.String(), "level=WARN") {
		t.Errorf("told %d times: %s", n, log.String())
	}
}
