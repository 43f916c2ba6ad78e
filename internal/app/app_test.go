package app

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/settings"
)

// livingBox changes by itself.
type livingBox struct {
	mu      sync.Mutex
	names   []string
	changed func()
}

func (b *livingBox) Name() string { return "living" }

func (b *livingBox) Tools(context.Context) ([]toolcrib.Tool, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []toolcrib.Tool
	for _, name := range b.names {
		out = append(out, toolcrib.Tool{
			Spec: toolcrib.Spec{Name: name},
			Run:  func(context.Context, *toolcrib.Env, json.RawMessage) (*toolcrib.Result, error) { return nil, nil },
		})
	}
	return out, nil
}

func (b *livingBox) Notify(changed func()) func() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.changed = changed
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.changed = nil
	}
}

func TestInstructions(t *testing.T) {
	dir := t.TempDir()
	cfg := settings.Defaults()
	a, err := Open(t.Context(), cfg, Needs{State: t.TempDir(), Dir: dir, Home: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close(t.Context())
	text := a.Instructions()
	for _, part := range []string{"Relative paths begin in " + dir, dir + " (to read and change)", "approved by a person"} {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not in %s", part, text)
		}
	}
	if strings.Contains(text, "Commands") {
		t.Errorf("there are no commands: %s", text)
	}
}

func TestBoxesThatChangeAreReadAgain(t *testing.T) {
	box := &livingBox{names: []string{"one"}}
	a := &App{Crib: &toolcrib.Crib{Catalog: &toolcrib.Catalog{}}, shelving: toolcrib.Contents{Boxes: []toolcrib.Toolbox{box}}}
	a.Reload(t.Context())
	diffs := make(chan toolcrib.Diff, 10)
	a.Crib.Catalog.Watch(func(d toolcrib.Diff) { diffs <- d })
	a.follow()
	box.mu.Lock()
	box.names = []string{"one", "two"}
	box.changed()
	box.mu.Unlock()
	select {
	case d := <-diffs:
		if len(d.Added) != 1 || d.Added[0] != "two" {
			t.Errorf("diff %+v", d)
		}
	case <-time.After(20 * time.Second):
		t.Error("nobody read the box again")
	}
	if err := a.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if box.changed != nil {
		t.Error("the box is still followed")
	}
}

// TestTextOnlyTakesPatterns: what is no pattern is refused, not taken for all clients.
func TestTextOnlyTakesPatterns(t *testing.T) {
	cfg := settings.Defaults()
	cfg.TextOnly = []string{"my-agent["}
	if _, err := Open(t.Context(), cfg, Needs{State: t.TempDir(), Dir: t.TempDir(), Home: t.TempDir()}); err == nil || !strings.Contains(err.Error(), "text_only") {
		t.Errorf("%v", err)
	}
}
