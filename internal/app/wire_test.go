package app

import (
	"context"
	"encoding/json"
	"sync"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
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

func TestBoxesThatChangeAreReadAgain(t *testing.T) {
	box := &livingBox{names: []string{"one"}}
	a := &App{Crib: &toolcrib.Crib{Catalog: &toolcrib.Catalog{}}, shelving: toolcrib.Shelving{Boxes: []toolcrib.Toolbox{box}}}
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
