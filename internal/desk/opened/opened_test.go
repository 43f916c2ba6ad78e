package opened

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/desk"
	"github.com/toolcrib/toolcrib/internal/settings"
)

func TestOpenDesk(t *testing.T) {
	ctx := t.Context()
	same := func(text string) string { return text }
	needs := Needs{State: t.TempDir(), Auto: desk.Leave, RedactJSON: func(m json.RawMessage) json.RawMessage { return m }, RedactText: same}
	d, kept, err := New(ctx, settings.DefaultDesk(), needs)
	if err != nil {
		t.Fatal(err)
	}
	q := toolcrib.Question{Call: toolcrib.Call{Tool: "x", Caller: toolcrib.Caller{Subject: "ann"}}, Text: "What?"}
	if _, err := d.Approve(ctx, q); toolcrib.CodeOf(err) != toolcrib.CodeUnavailable || !strings.Contains(err.Error(), "-m ANSWER") {
		t.Errorf("%v", err)
	}
	if err := kept.Close(); err != nil {
		t.Fatal(err)
	}
	// Another process looks at it and answers.
	other, done, err := ToAnswer(ctx, settings.Defaults(), needs.State, nil)
	if err != nil {
		t.Fatal(err)
	}
	list, err := other.Questions(ctx, desk.Filter{State: desk.Open})
	if err != nil || len(list) != 1 || time.Until(list[0].Expires) < 11*time.Hour {
		t.Errorf("%+v, %v", list, err)
	}
	if err := done(); err != nil {
		t.Error(err)
	}
	needs.RedactText = nil
	if _, _, err := New(context.WithoutCancel(ctx), settings.DefaultDesk(), needs); err == nil {
		t.Error("a desk that hides nothing was opened")
	}
}

func TestUnattended(t *testing.T) {
	for word, want := range map[string]desk.Unattended{"auto": desk.Await, "leave": desk.Leave, "await": desk.Await, "refuse": desk.Refuse, "": desk.Refuse, "x": desk.Refuse} {
		if got := unattended(settings.Desk{Unattended: word}, desk.Await); got != want {
			t.Errorf("%s: %q", word, got)
		}
	}
}
