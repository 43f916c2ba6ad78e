package mcphub

import (
	"context"
	"errors"
	"testing"
)

// TestOnlyWhatIsRead: a reference that lacks something keeps nobody from being asked where
// the start of the server would not read it.
func TestOnlyWhatIsRead(t *testing.T) {
	lacks := func(context.Context, string) error { return errors.New("it lacks something") }
	for name, c := range map[string]struct {
		server Server
		lacks  bool
	}{
		"a variable of a program":      {Server{Command: "x", Env: map[string]string{"A": "${NONE}"}}, true},
		"a variable without a program": {Server{URL: "http://127.0.0.1:1", Env: map[string]string{"A": "${NONE}"}}, false},
		"a header":                     {Server{URL: "http://127.0.0.1:1", Headers: map[string]string{"A": "${NONE}"}}, true},
		"a header without an address":  {Server{Command: "x", Headers: map[string]string{"A": "${NONE}"}}, false},
		"a login":                      {Server{URL: "http://127.0.0.1:1", OAuth: OAuth{ClientID: "c", ClientSecret: "${NONE}"}}, true},
		"a login that is off":          {Server{URL: "http://127.0.0.1:1", OAuth: OAuth{ClientID: "c", ClientSecret: "${NONE}", Off: true}}, false},
		"nothing":                      {Server{Command: "x", Args: []string{"y"}}, false},
	} {
		b := &Box{name: "s", server: c.server, hub: &Hub{needs: Needs{Lacks: lacks}}}
		if err := b.resolvable(t.Context()); (err != nil) != c.lacks {
			t.Errorf("%s: %v", name, err)
		}
	}
}
