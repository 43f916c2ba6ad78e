package sandboxes

import (
	"context"
	"log/slog"
	"slices"
	"sync"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/policy"
	"github.com/toolcrib/toolcrib/internal/sandbox"
)

// Telling has the person told what a sandbox says about a program, such as what it
// made that other programs obey. The answer of a tool goes to a model, which may keep
// it to itself.
type Telling struct {
	*sandbox.Chooser
	Log *slog.Logger
	// Crib has the journal that connections of programs are written to. Nil: they
	// are not.
	Crib *toolcrib.Crib
	// Beside gives what commands of a caller see besides what their call was granted: directories, after links, and
	// such of Scratch, with the variables that name them. Nil: nothing.
	Beside  func(c toolcrib.Caller) (read, write, env []string)
	Scratch *Scratch

	mu   sync.Mutex
	said map[string]bool
}

// maxSaid bounds what is remembered of what was said. Much of it is the same for
// each program, and is said once.
const maxSaid = 1000

// Run runs a program.
func (t *Telling) Run(ctx context.Context, cmd toolcrib.Cmd, grant toolcrib.Grant) (toolcrib.Exit, error) {
	ctx, stop := t.extend(ctx, &cmd, &grant)
	if cmd.OnLayer && len(grant.Hosts) == 0 && t.Crib != nil && len(t.Crib.Grant.Hosts) > 0 {
		ctx = sandbox.WithHeldHosts(ctx)
	}
	ctx, ended := t.Watch(ctx, cmd, grant)
	exit, err := t.Chooser.Run(ctx, cmd, grant)
	if full := stop(); full != nil {
		err = full
	}
	if failed := ended(); failed != nil {
		t.Log.Error("the connections of a program are not in the journal", "call", cmd.Call.ID, "err", failed)
	}
	for _, note := range exit.Notes {
		if t.isNew(note) {
			t.Log.Warn("a note of the sandbox", "tool", cmd.Tool, "note", note)
		}
	}
	if exit.Code != 0 && len(grant.Fixed) > 0 { // it may be why
		exit.Notes = append(slices.Clip(exit.Notes), "by rules about paths this program could only read what lies in "+policy.Places(grant.Fixed)+": a command that names such a place is denied, or a person is asked")
	}
	return exit, err
}

func (t *Telling) isNew(note string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.said[note] {
		return false
	}
	if t.said == nil || len(t.said) >= maxSaid {
		t.said = map[string]bool{}
	}
	t.said[note] = true
	return true
}
