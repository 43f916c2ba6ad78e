package dialect

import (
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
)

// TestSwitchedOff: tools that are off say so in the words of the original,
// whatever they are asked for, and nothing is run or asked for it.
func TestSwitchedOff(t *testing.T) {
	journal := &cribtest.Memory{}
	// A guard that would ask a person about everything.
	c := &toolcrib.Crib{Catalog: &toolcrib.Catalog{}, Guards: []toolcrib.Guard{cribtest.Ask("why not")}, Journal: journal, Log: slog.New(slog.DiscardHandler)}
	var s toolcrib.Contents
	for _, name := range []string{"shell", "web"} {
		box, adapters := OVOSOff(name)
		if box == nil || box.Name() != name || len(adapters) != 1 {
			t.Fatalf("%s: %v, %d adapters", name, box, len(adapters))
		}
		s.Boxes, s.Adapters = append(s.Boxes, box), append(s.Adapters, adapters...)
	}
	if box, adapters := OVOSOff("math"); box != nil || adapters != nil {
		t.Error("there is no mathematics that is off")
	}
	if _, faults := c.Catalog.Load(t.Context(), s); faults != nil {
		t.Fatal(faults)
	}
	r := &room{Crib: c}
	const disabled = `{"stdout":"","stderr":"Shell execution is disabled (allow_shell=False).","returncode":-1,"success":false}`
	for _, input := range []map[string]any{
		{"command": "ls"}, {"command": "", "cwd": ""}, {"command": "x\x00", "timeout": 0}, {"command": "rm -rf /", "cwd": "/nowhere", "timeout": "-5"},
	} {
		if got := r.say(t, OVOS, "run_command", input); got != disabled {
			t.Errorf("%v: %s", input, got)
		}
	}
	if got := r.say(t, OVOS, "run_command", map[string]any{"command": 5}); !strings.HasPrefix(got, "refused: ValueError: Tool input validation failed for 'run_command' in ToolBox 'ovos-shell-tools'") {
		t.Errorf("a bad argument: %s", got)
	}
	// How the search is switched on is ours to say: no package is missing.
	if got := r.say(t, OVOS, "web_search", map[string]any{"query": "q", "max_results": 0}); !strings.HasSuffix(got, "toolboxes.web.enabled: true in the configuration of Toolcrib switches it on") {
		t.Error(got)
	}
	for _, rec := range journal.Records() {
		if rec.Outcome != toolcrib.Outcome(toolcrib.CodeUnavailable) && rec.Outcome != toolcrib.Outcome(toolcrib.CodeInvalid) || len(rec.Verdicts) > 0 {
			t.Errorf("%s is on record as %s, %v", rec.Tool, rec.Outcome, rec.Verdicts)
		}
	}
	// The contracts are those of the real ones.
	genuine := map[string]toolcrib.Entry{}
	for _, a := range ovosAdapters(Options{}) {
		genuine[a.Name] = entry(a)
	}
	for spec := range c.Tools(toolcrib.Caller{Dialect: OVOS}) {
		want := Contract(OVOS, genuine[spec.Name])
		if diff := cmp.Diff(text(t, want), text(t, Contract(OVOS, spec))); diff != "" {
			t.Errorf("%s: %s", spec.Name, diff)
		}
	}
}

func text(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
