package mcphub

import (
	"context"
	"encoding/json"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/jsontext"
	"github.com/toolcrib/toolcrib/internal/mcp"
	"github.com/toolcrib/toolcrib/internal/mcp/client"
)

// TestDrop: a conversation's place is given up with its server, and not with one
// that came before it.
func TestDrop(t *testing.T) {
	b := &Box{instances: map[string]*instance{}}
	before, now := &instance{box: b, key: "a"}, &instance{box: b, key: "a"}
	b.instances["a"] = now
	b.drop(before)
	b.drop(&instance{box: b}) // the one that all share has no place
	if b.instances["a"] != now {
		t.Error("the place was taken from another server")
	}
	b.drop(now)
	if len(b.instances) != 0 {
		t.Error("the place is still taken")
	}
}

// TestPerPerson: each person has a server of their own, whatever conversation they are
// in, and in a directory of their own; what one has told it another does not get.
func TestPerPerson(t *testing.T) {
	var mu sync.Mutex
	persons := map[string]bool{}
	programs := 0
	d := house(t, t.TempDir(), &rogue{}, Server{Instance: PerPerson, Idle: time.Hour}, func(n *Needs) {
		n.Start = func(ctx context.Context, l Launch) (client.Process, error) {
			mu.Lock()
			persons[l.Person] = true
			programs++
			mu.Unlock()
			var said atomic.Value
			said.Store("nothing")
			one := &rogue{tools: echo, other: func(method string, say sayFunc, id, params json.RawMessage) bool {
				if method != mcp.MethodToolsCall {
					return false
				}
				text := textMember(jsontext.Lookup(params, "arguments"), "text")
				was := said.Swap(text)
				say(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":%q}]}}`, id, was)
				return true
			}}
			return one.start(ctx, l)
		}
	})
	d.refresh()
	tell := func(who toolcrib.Caller, text string) string {
		t.Helper()
		r, err := d.call(t.Context(), "echo", `{"text":"`+text+`"}`, who)
		if err != nil {
			t.Fatal(err)
		}
		return r.String()
	}
	ann, bob := toolcrib.Caller{Subject: "ann", Session: "1"}, toolcrib.Caller{Subject: "bob", Session: "1"}
	again := toolcrib.Caller{Subject: "ann", Session: "2"}
	other := toolcrib.Caller{Subject: "ann", Organisation: "acme"}
	for i, step := range []struct {
		who        toolcrib.Caller
		text, want string
	}{{ann, "a", "nothing"}, {bob, "b", "nothing"}, {again, "c", "a"}, {other, "d", "nothing"}, {bob, "e", "b"}, {ann, "f", "c"}} {
		if got := tell(step.who, step.text); got != step.want {
			t.Errorf("%d: %+v hears %q, want %q", i, step.who, got, step.want)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if programs != 4 || len(persons) != 4 || !persons[""] { // one lists, and belongs to nobody
		t.Errorf("%d programs for %v", programs, persons)
	}
}
