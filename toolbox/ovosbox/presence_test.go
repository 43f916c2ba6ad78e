package ovosbox

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/ovos/bus"
)

// TestVanishedHost: a call whose host goes away ends before its time is over, and says
// so; one whose host is at work does not.
func TestVanishedHost(t *testing.T) {
	b := startBus(t, "127.0.0.1:0")
	const limit = 4 * time.Second
	begun, gate := make(chan struct{}), make(chan struct{})
	t.Cleanup(func() { close(gate) })
	leaves := double(g1, "leaves").put("waits", entry("waits", "Waits.", anyArgs, anyArgs), func(map[string]any) (any, string) {
		close(begun)
		<-gate
		return map[string]any{}, ""
	}).start(t, b)
	double(g2, "works").put("slow", entry("slow", "Is slow.", anyArgs, anyArgs), func(map[string]any) (any, string) {
		time.Sleep(limit * 7 / 8)
		return map[string]any{"done": true}, ""
	}).start(t, b)
	box := b.open(t, Config{Refresh: -1, Watch: -1, Timeouts: map[string]time.Duration{"leaves": limit, "works": 4 * limit}})
	lists(t, box, "leaves__double", "leaves__waits", "works__double", "works__slow")
	c, _ := crib(t, box)
	var both sync.WaitGroup
	both.Go(func() {
		if got, err := callTool(t, c, "works__slow", `{}`); err != nil || got.Failed {
			t.Errorf("at work: %v, %v", got, err)
		}
	})
	both.Go(func() {
		<-begun
		_ = leaves.client.Close() // as one that is killed
	})
	began := time.Now()
	_, err := callTool(t, c, "leaves__waits", `{}`)
	if took := time.Since(began); toolcrib.CodeOf(err) != toolcrib.CodeTimeout || !strings.Contains(err.Error(), "the host of the toolbox leaves is gone") {
		t.Errorf("after %v: %v", took, err)
	}
	eventually(t, "it is off the list", func() bool {
		box.mu.Lock()
		defer box.mu.Unlock()
		return box.remotes["leaves"] == nil
	})
	both.Wait()
}

// TestLateHosts: a host that joins late is seen, by what clients said as they joined
// or by the service that answers now.
func TestLateHosts(t *testing.T) {
	b := startBus(t, "127.0.0.1:0")
	box := b.open(t, Config{Refresh: -1, Watch: 20 * time.Millisecond})
	lists(t, box)
	seen := func(id string) func() bool {
		return func() bool {
			box.mu.Lock()
			defer box.mu.Unlock()
			return box.remotes[id] != nil
		}
	}
	double(g1, "greets").start(t, b)
	client := b.client(t, nil)
	if err := client.Send(t.Context(), bus.Message{Type: topicJoined}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the one that says so is seen", seen("greets"))

	double(g1, "silent").start(t, b)
	sub := client.Subscribe(bus.Filter{Types: []string{topicGet}})
	go func() { // its service
		for {
			m, err := sub.Next(context.Background())
			if err != nil {
				return
			}
			_ = client.Send(context.Background(), m.Response("", json.RawMessage(`{"error":"Missing required field: 'name'"}`)))
		}
	}()
	eventually(t, "the one that says nothing is seen", seen("silent"))
}
