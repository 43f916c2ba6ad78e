package keeper

import (
	"context"
	"sync"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/vault"
	"github.com/toolcrib/toolcrib/internal/vault/vaulttest"
)

// asking is an approver whose person answers each call on a channel.
type asking struct {
	mu    sync.Mutex
	calls map[string]chan toolcrib.Answer
}

func (a *asking) call(id string) chan toolcrib.Answer {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.calls[id] == nil {
		a.calls[id] = make(chan toolcrib.Answer)
	}
	return a.calls[id]
}

func (a *asking) Approve(ctx context.Context, q toolcrib.Question) (toolcrib.Answer, error) {
	select {
	case answer := <-a.call(q.Call.ID):
		return answer, nil
	case <-ctx.Done():
		return toolcrib.Answer{}, ctx.Err()
	}
}

func (a *asking) answer(ctx context.Context, q toolcrib.Question, answer toolcrib.Answer) error {
	select {
	case a.call(q.Call.ID) <- answer:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// TestApprover: with an open vault before it, an approver is what it was.
func TestApprover(t *testing.T) {
	cribtest.Approver(t, func(t testing.TB) (toolcrib.Approver, cribtest.Answering) {
		state, from := t.TempDir(), Source{Env: vaulttest.Env(t)}
		vaulttest.Fill(t, Dir(state), from.Env, map[vault.Ref]string{{Name: "A"}: "one-one-one"})
		k, err := Open(&toolcrib.Crib{}, settings.Defaults().Vault, state, from)
		if err != nil {
			t.Fatal(err)
		}
		behind := &asking{calls: map[string]chan toolcrib.Answer{}}
		return k.Approver(behind), behind.answer
	})
}
