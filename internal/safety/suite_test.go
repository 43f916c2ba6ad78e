package safety

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
)

// TestGuardSuites holds every guard of this package to what the core wants of
// one. Those that count are opened in the state in which they object.
func TestGuardSuites(t *testing.T) {
	about := func(spec toolcrib.Entry, input string) toolcrib.Review {
		spec.Input = json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}}}`)
		return toolcrib.Review{Spec: spec, Input: json.RawMessage(input),
			Call: toolcrib.Call{ID: "c", Tool: spec.Name, Input: json.RawMessage(input), Caller: inSession("s")}}
	}
	write := tool("files", "write_file", "fs", toolcrib.Reads|toolcrib.Writes)
	for name, c := range map[string]struct {
		open  func(t testing.TB) toolcrib.Guard
		about toolcrib.Review
	}{
		"secrets": {func(testing.TB) toolcrib.Guard { return SecretGuard{testSecrets(), SecretBlock} }, about(write, `{"text":"say correct horse battery"}`)},
		"marks":   {func(testing.TB) toolcrib.Guard { return Marks{} }, about(write, `{"text":"x [redacted] y"}`)},
		"hook": {func(testing.TB) toolcrib.Guard {
			return &Hook{Name: "h", Run: answers(`{"decision":"ask","reason":"r"}`)}
		}, about(write, `{}`)},
		"budget": {func(t testing.TB) toolcrib.Guard {
			b := newBudget(t, &cribtest.Clock{}, []BudgetLimit{{Name: "all", Per: time.Hour, Calls: 1}})
			if err := spends(t, b, inSession("s"), write, nil); err != nil {
				t.Fatal(err)
			}
			return b
		}, about(write, `{}`)},
		"loop": {func(t testing.TB) toolcrib.Guard {
			l := &Loop{Stop: 3, Now: (&cribtest.Clock{}).Now}
			for range 3 {
				goes(t, l, inSession("s"), "a", `{}`, "x")
			}
			return l
		}, about(toolcrib.Entry{Spec: toolcrib.Spec{Name: "a"}, Box: "box", Native: "a"}, `{}`)},
		"flow": {func(t testing.TB) toolcrib.Guard {
			f := newFlow(t)
			vet(t, f, call(readFile(), "s", "1"), toolcrib.Text("x"))
			vet(t, f, call(fetch(), "s", "2"), toolcrib.Text("x"))
			return f
		}, about(fetch(), `{}`)},
		"times": {func(t testing.TB) toolcrib.Guard {
			return &Times{Limits: []TimeLimit{{picks(t, "write_file"), time.Minute}}}
		}, about(write, `{}`)},
		"secret grant": {func(testing.TB) toolcrib.Guard { return &SecretGrant{} }, about(tool("web", "fetch", "web", toolcrib.UsesSecrets), `{}`)},
	} {
		t.Run(name, func(t *testing.T) { cribtest.Guard(t, c.open, c.about) })
	}
}
