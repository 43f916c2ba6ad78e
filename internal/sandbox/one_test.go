package sandbox_test

import (
	"strings"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/sandbox"
)

func TestOneSandboxForAll(t *testing.T) {
	const (
		reading  = toolcrib.Reads | toolcrib.Runs
		ordinary = toolcrib.Reads | toolcrib.Writes | toolcrib.Runs
	)
	for _, c := range []struct {
		name     string
		tool     string
		effects  toolcrib.Effects
		bounds   toolcrib.Bounds // of the crib
		missing  []string
		weak     bool // linux bounds no memory and no processes
		override sandbox.Override
		want     string
		refuses  string
		time     time.Duration
	}{
		{name: "a harmless command", effects: reading, missing: []string{"microvm", "linux", "container"}, want: "host"},
		{name: "one that is not said to run anything", effects: toolcrib.Reads, missing: []string{"microvm", "linux", "container"}, want: "host"},
		{name: "an ordinary command", effects: ordinary, want: "linux"},
		{name: "an ordinary command and only the host", effects: ordinary, missing: []string{"microvm", "linux", "container"}, refuses: "linux is not there: install it"},
		{name: "a harmless command under a bound", effects: reading, bounds: toolcrib.BoundNetwork, want: "linux"},
		{name: "a bound that nobody holds", effects: reading, bounds: toolcrib.BoundNetwork, missing: []string{"linux", "container"}, refuses: "network"},
		{name: "an unknown bound", effects: reading, bounds: 1 << 15, refuses: "0x8000"},
		{name: "what may destroy is of the highest risk", effects: ordinary | toolcrib.Destroys, weak: true, want: "container"},
		{name: "what nobody rated too", weak: true, want: "container"},
		{name: "an ordinary command is not", effects: ordinary, weak: true, want: "linux"},
		{name: "forced", tool: "mine", effects: ordinary, override: sandbox.Override{Backend: "container"}, want: "container"},
		{name: "forced and missing", tool: "mine", effects: ordinary, override: sandbox.Override{Backend: "container"}, missing: []string{"container"}, refuses: "not replaced by another"},
		{name: "forced to what cannot hold the grant", tool: "mine", effects: ordinary, bounds: toolcrib.BoundFiles, override: sandbox.Override{Backend: "host"}, refuses: "files"},
		{name: "another tool", tool: "other", effects: ordinary, override: sandbox.Override{Backend: "container"}, want: "linux"},
		{name: "a time", tool: "mine", effects: ordinary, override: sandbox.Override{MaxTimeout: time.Second}, want: "linux", time: time.Second},
		{name: "switched off", tool: "mine", effects: reading, override: sandbox.Override{Backend: "none"}, refuses: "switched off"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSet(c.missing...)
			if c.weak {
				s.boxes["linux"].enforces = isolation
			}
			cfg := s.config()
			cfg.Overrides = map[string]sandbox.Override{"mine": c.override}
			_, err := chooser(t, cfg).Run(t.Context(), toolcrib.Cmd{Tool: c.tool, Effects: c.effects}, toolcrib.Grant{Programs: []string{"*"}, Bounds: c.bounds})
			if c.refuses != "" {
				if toolcrib.CodeOf(err) != toolcrib.CodeUnavailable || !strings.Contains(err.Error(), c.refuses) {
					t.Fatalf("got %v, want unavailable with %q", err, c.refuses)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			for name, b := range s.boxes {
				if used := b.grant.Programs != nil; used != (name == c.want) {
					t.Errorf("%s was used: %v", name, used)
				}
				if name == c.want && b.grant.Time != c.time {
					t.Errorf("the time is %s, want %s", b.grant.Time, c.time)
				}
			}
		})
	}
}

func TestEnforcesUnion(t *testing.T) {
	for _, c := range []struct {
		backend   string
		overrides map[string]sandbox.Override
		missing   []string
		want      toolcrib.Bounds
		opens     int
	}{
		{missing: []string{"linux", "container"}, want: toolcrib.BoundFiles | toolcrib.BoundMemory | toolcrib.BoundTime, opens: 4},
		{want: all, opens: 2}, // a machine, and linux: then everything is there
		{backend: "host", want: toolcrib.BoundTime, opens: 1},
		{backend: "none", want: 0},
		{backend: "container", missing: []string{"container"}, want: 0, opens: 1},
		{backend: "none", overrides: map[string]sandbox.Override{"x": {Backend: "linux"}}, want: all, opens: 1},
	} {
		s := newSet(c.missing...)
		cfg := s.config()
		cfg.Backend, cfg.Overrides = c.backend, c.overrides
		if got := chooser(t, cfg).Enforces(); got != c.want || len(s.opens) != c.opens {
			t.Errorf("%+v: %v after opening %v", c, sandbox.BoundNames(got), s.opens)
		}
	}
}

// What is promised of a tool holds for whatever its programs do.
func TestBounds(t *testing.T) {
	for _, c := range []struct {
		backend  string
		missing  []string
		override string
		want     toolcrib.Bounds
	}{
		{missing: []string{"microvm"}, want: all},
		{want: toolcrib.BoundFiles | toolcrib.BoundMemory | toolcrib.BoundTime}, // reading ones run in a machine, others in linux
		{missing: []string{"microvm", "linux", "container"}, want: toolcrib.BoundTime},
		{backend: "none", want: 0},
		{override: "host", want: toolcrib.BoundTime},
		{override: "container", want: all},
		{override: "container", missing: []string{"container"}, want: 0},
	} {
		cfg := newSet(c.missing...).config()
		cfg.Backend, cfg.Overrides = c.backend, map[string]sandbox.Override{"run_command": {Backend: c.override}}
		if got := chooser(t, cfg).Bounds(t.Context(), "run_command"); got != c.want {
			t.Errorf("%+v: %v, want %v", c, sandbox.BoundNames(got), sandbox.BoundNames(c.want))
		}
	}
}
