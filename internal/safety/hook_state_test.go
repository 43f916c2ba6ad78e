package safety

import (
	"encoding/json"
	"testing"
)

// FuzzHookState: what a hook says is a JSON value that is not too long, or nothing.
func FuzzHookState(f *testing.F) {
	for _, seed := range []string{`{"state":{}}`, `{"state":null}`, `{"state":1,"state":2}`, `{}`, `{"state": [1, 2]}`, `{"State":1}`, `{"state":"\ud800"}`, `null`, `{"state":1}x`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		state, err := decodeState([]byte(text))
		if err == nil && state != nil && (!json.Valid(state) || len(state) > MaxState) {
			t.Errorf("%q: %q", text, state)
		}
	})
}
