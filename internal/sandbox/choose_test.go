package sandbox_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/sandbox"
)

const (
	isolation = toolcrib.BoundFiles | toolcrib.BoundNetwork | toolcrib.BoundTime
	all       = isolation | toolcrib.BoundMemory | toolcrib.BoundProcesses
)

// box is a backend that notes what it was asked.
type box struct {
	name     string
	enforces toolcrib.Bounds
	grant    toolcrib.Grant
	closed   bool
}

func (b *box) Enforces() toolcrib.Bounds { return b.enforces }

func (b *box) Close() error { b.closed = true; return nil }

func (b *box) Run(_ context.Context, _ toolcrib.Cmd, grant toolcrib.Grant) (toolcrib.Exit, error) {
	b.grant = grant
	return toolcrib.Exit{Code: 1}, nil
}

// set is a set of backends; those in missing cannot be opened.
type set struct {
	boxes   map[string]*box
	opens   []string
	missing []string
}

func newSet(missing ...string) *set {
	return &set{missing: missing, boxes: map[string]*box{
		sandbox.Host: {name: sandbox.Host, enforces: toolcrib.BoundTime}, sandbox.Linux: {name: sandbox.Linux, enforces: all},
		sandbox.Container: {name: sandbox.Container, enforces: all}, sandbox.MicroVM: {name: sandbox.MicroVM, enforces: toolcrib.BoundFiles | toolcrib.BoundMemory | toolcrib.BoundTime},
	}}
}

func (s *set) config() sandbox.Config {
	candidate := func(name string, strength sandbox.Strength) sandbox.Candidate {
		return sandbox.Candidate{Name: name, Strength: strength, Open: func(context.Context) (toolcrib.Sandbox, error) {
			s.opens = append(s.opens, name)
			if slices.Contains(s.missing, name) {
				return nil, sandbox.Unavailable(name+" is not there: install it", errors.New("no "+name))
			}
			return s.boxes[name], nil
		}}
	}
	return sandbox.Config{Candidates: []sandbox.Candidate{
		candidate(sandbox.Host, sandbox.Process), candidate(sandbox.Linux, sandbox.Isolated), candidate(sandbox.Container, sandbox.Isolated), candidate(sandbox.MicroVM, sandbox.Machine),
	}}
}

func chooser(t *testing.T, cfg sandbox.Config) *sandbox.Chooser {
	t.Helper()
	c, err := sandbox.NewChooser(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func yes() *bool { b := true; return &b }
func no() *bool  { b := false; return &b }

func TestChoose(t *testing.T) {
	const tool = "run_command"
	for _, c := range []struct {
		name     string
		backend  string
		risk     sandbox.Risk
		missing  []string
		weak     map[string]toolcrib.Bounds // enforces only this
		override sandbox.Override
		want     string // none for no sandbox
		refuses  string
	}{
		{name: "low needs none", risk: sandbox.Low, want: "none"},
		{name: "medium, the strongest", risk: sandbox.Medium, want: "microvm"},
		{name: "medium, without a machine", risk: sandbox.Medium, missing: []string{"microvm"}, want: "linux"},
		{name: "medium, only the host", risk: sandbox.Medium, missing: []string{"microvm", "linux", "container"}, want: "host"},
		{name: "high, a machine that cannot cut the network is not enough", risk: sandbox.High, want: "linux"},
		{name: "high, the network is for this tool", risk: sandbox.High, override: sandbox.Override{Network: yes()}, want: "microvm"},
		{name: "high, without linux", risk: sandbox.High, missing: []string{"linux"}, want: "container"},
		{name: "high, never the host", risk: sandbox.High, missing: []string{"linux", "container"}, refuses: "linux is not there: install it"},
		{name: "critical, all bounds", risk: sandbox.Critical, weak: map[string]toolcrib.Bounds{"linux": isolation}, want: "container"},
		{name: "critical, none has all", risk: sandbox.Critical, missing: []string{"container"}, weak: map[string]toolcrib.Bounds{"linux": isolation}, refuses: "memory, processes"},
		{name: "unrated is critical", risk: sandbox.Unrated, weak: map[string]toolcrib.Bounds{"linux": isolation}, want: "container"},
		{name: "an unknown risk is critical", risk: 99, weak: map[string]toolcrib.Bounds{"linux": isolation}, want: "container"},

		{name: "by name", backend: "container", risk: sandbox.High, want: "container"},
		{name: "by name, missing", backend: "container", risk: sandbox.High, missing: []string{"container"}, refuses: "not replaced by another"},
		{name: "by name, missing, medium", backend: "linux", risk: sandbox.Medium, missing: []string{"linux"}, refuses: "install it"},
		{name: "by name, too weak for the risk", backend: "host", risk: sandbox.High, refuses: "isolates too little"},
		{name: "by name, enough for the risk", backend: "host", risk: sandbox.Medium, want: "host"},
		{name: "by name, lacking a bound", backend: "microvm", risk: sandbox.High, refuses: "network"},
		{name: "none, low", backend: "none", risk: sandbox.Low, want: "none"},
		{name: "none, medium", backend: "none", risk: sandbox.Medium, refuses: "switched off"},

		{name: "this tool on the host", risk: sandbox.Critical, override: sandbox.Override{Backend: "host"}, want: "host"},
		{name: "this tool in a container", risk: sandbox.Medium, override: sandbox.Override{Backend: "container"}, want: "container"},
		{name: "this tool in a container that is missing", risk: sandbox.Medium, missing: []string{"container"}, override: sandbox.Override{Backend: "container"}, refuses: "install it"},
		{name: "this tool on the host, cut off", risk: sandbox.Medium, override: sandbox.Override{Backend: "host", Network: no()}, refuses: "network"},
		{name: "this tool cut off", risk: sandbox.Medium, override: sandbox.Override{Network: no()}, want: "linux"},
		{name: "this tool not at all", risk: sandbox.Medium, override: sandbox.Override{Backend: "none"}, refuses: "switched off"},
		{name: "this tool in a container though low", risk: sandbox.Low, override: sandbox.Override{Backend: "container"}, want: "container"},
		{name: "this tool by its risk", backend: "container", risk: sandbox.High, override: sandbox.Override{Backend: "auto"}, want: "container"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSet(c.missing...)
			for name, bounds := range c.weak {
				s.boxes[name].enforces = bounds
			}
			cfg := s.config()
			cfg.Backend, cfg.Overrides = c.backend, map[string]sandbox.Override{tool: c.override}
			ch := chooser(t, cfg)
			got, err := ch.Choose(t.Context(), tool, c.risk)
			e := ch.Explain(t.Context(), tool, effectsOf(c.risk))
			if c.refuses != "" {
				if toolcrib.CodeOf(err) != toolcrib.CodeUnavailable || !strings.Contains(err.Error(), c.refuses) || got != nil {
					t.Fatalf("got %v and %v, want unavailable with %q", got, err, c.refuses)
				}
				if c.risk >= sandbox.Low && c.risk <= sandbox.Critical && (e.Refusal != err.Error() || e.Backend == "host") {
					t.Errorf("the explanation differs: %+v", e)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if c.risk >= sandbox.Low && c.risk <= sandbox.Critical && e.Backend != c.want {
				t.Errorf("the explanation says %q", e.Backend)
			}
			if c.want == "none" {
				if got != nil {
					t.Errorf("got %v, want none", got)
				}
				return
			}
			if _, err := got.Run(t.Context(), toolcrib.Cmd{}, toolcrib.Grant{Programs: []string{"*"}}); err != nil {
				t.Fatal(err)
			}
			for name, b := range s.boxes {
				if used := b.grant.Programs != nil; used != (name == c.want) {
					t.Errorf("%s was used: %v", name, used)
				}
			}
		})
	}
}

// effectsOf gives effects of a risk.
func effectsOf(r sandbox.Risk) toolcrib.Effects {
	switch r {
	case sandbox.Low:
		return toolcrib.Reads
	case sandbox.Medium:
		return toolcrib.Writes
	case sandbox.High:
		return toolcrib.Runs
	}
	return 0
}

// Whatever the configuration and whatever is there, a sandbox that is given
// holds what the risk needs, or someone chose it for that tool by name.
func TestChooseNeverDowngrades(t *testing.T) {
	names := []string{sandbox.Auto, sandbox.None, sandbox.Host, sandbox.Linux, sandbox.Container, sandbox.MicroVM}
	rapid.Check(t, func(rt *rapid.T) {
		s := newSet(rapid.SliceOfDistinct(rapid.SampledFrom(names[2:]), func(n string) string { return n }).Draw(rt, "missing")...)
		for name, b := range s.boxes {
			b.enforces = toolcrib.Bounds(rapid.IntRange(0, int(all)).Draw(rt, name))
		}
		cfg := s.config()
		cfg.Backend = rapid.SampledFrom(names).Draw(rt, "backend")
		risk := sandbox.Risk(rapid.IntRange(0, 5).Draw(rt, "risk"))
		ch, err := sandbox.NewChooser(cfg)
		if err != nil {
			rt.Fatal(err)
		}
		got, err := ch.Choose(t.Context(), "tool", risk)
		if err != nil {
			if toolcrib.CodeOf(err) != toolcrib.CodeUnavailable || got != nil {
				rt.Fatalf("%v with %v", got, err)
			}
			return
		}
		need := toolcrib.Bounds(0)
		switch risk {
		case sandbox.Low, sandbox.Medium:
		case sandbox.High:
			need = isolation
		default:
			need = all
		}
		if got == nil {
			if risk != sandbox.Low {
				rt.Fatalf("no sandbox for %s", risk)
			}
			return
		}
		if missing := need &^ got.Enforces(); missing != 0 {
			rt.Fatalf("risk %s was given a sandbox without %v", risk, sandbox.BoundNames(missing))
		}
		if _, err := got.Run(t.Context(), toolcrib.Cmd{}, toolcrib.Grant{Programs: []string{"x"}}); err != nil {
			rt.Fatal(err)
		}
		for name, b := range s.boxes {
			if b.grant.Programs == nil {
				continue
			}
			if slices.Contains(s.missing, name) || cfg.Backend != sandbox.Auto && cfg.Backend != name || need != 0 && name == sandbox.Host {
				rt.Fatalf("%s was used: asked was %s at %s", name, cfg.Backend, risk)
			}
			if b.grant.Bounds&need != need {
				rt.Fatalf("%s was asked to hold only %v", name, sandbox.BoundNames(b.grant.Bounds))
			}
		}
	})
}

func TestOverrideNarrowsTheGrant(t *testing.T) {
	full := toolcrib.Grant{Hosts: []string{"*"}, Time: time.Minute, Dirs: []files.Dir{{Path: "/x", Write: true}}}
	for _, c := range []struct {
		name     string
		override sandbox.Override
		in, want toolcrib.Grant
	}{
		{"nothing set", sandbox.Override{}, full, toolcrib.Grant{Hosts: []string{"*"}, Time: time.Minute, Dirs: full.Dirs, Bounds: isolation}},
		{"cut off", sandbox.Override{Network: no()}, full, toolcrib.Grant{Time: time.Minute, Dirs: full.Dirs, Bounds: isolation}},
		{"network does not widen", sandbox.Override{Network: yes()}, toolcrib.Grant{}, toolcrib.Grant{Bounds: isolation &^ toolcrib.BoundNetwork}},
		{"a shorter time", sandbox.Override{MaxTimeout: time.Second}, full, toolcrib.Grant{Hosts: []string{"*"}, Time: time.Second, Dirs: full.Dirs, Bounds: isolation}},
		{"a longer time", sandbox.Override{MaxTimeout: time.Hour}, full, toolcrib.Grant{Hosts: []string{"*"}, Time: time.Minute, Dirs: full.Dirs, Bounds: isolation}},
		{"a time where there was none", sandbox.Override{MaxTimeout: time.Hour}, toolcrib.Grant{}, toolcrib.Grant{Time: time.Hour, Bounds: isolation}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSet("microvm")
			cfg := s.config()
			cfg.Overrides = map[string]sandbox.Override{"tool": c.override}
			got, err := chooser(t, cfg).Choose(t.Context(), "tool", sandbox.High)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := got.Run(t.Context(), toolcrib.Cmd{}, c.in); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, s.boxes["linux"].grant); diff != "" {
				t.Errorf("the grant (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRiskOf(t *testing.T) {
	const reads, writes, destroys, runs, network, secrets, asks = toolcrib.Reads, toolcrib.Writes, toolcrib.Destroys, toolcrib.Runs, toolcrib.Network, toolcrib.UsesSecrets, toolcrib.AsksPerson
	for effects, want := range map[toolcrib.Effects]sandbox.Risk{
		0: sandbox.Critical, toolcrib.Pure: sandbox.Low, reads: sandbox.Low, asks: sandbox.Low, reads | asks: sandbox.Low,
		writes: sandbox.Medium, network: sandbox.Medium, secrets: sandbox.Medium, reads | writes: sandbox.Medium,
		secrets | network: sandbox.High, destroys: sandbox.High,
		reads | runs: sandbox.Medium, reads | runs | asks: sandbox.Medium, runs: sandbox.High, reads | runs | network: sandbox.High, reads | runs | secrets: sandbox.High, reads | writes | runs: sandbox.High,
		runs | destroys: sandbox.Critical, reads | writes | destroys | runs | network: sandbox.Critical,
	} {
		if got := sandbox.RiskOf(effects); got != want {
			t.Errorf("RiskOf(%s) = %s, want %s", effects, got, want)
		}
	}
}

// More that can be changed never makes a call less of a risk, and whoever runs
// programs is never rated so low that no sandbox is used.
func TestRiskGrowsWithEffects(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		effect := rapid.IntRange(1, 127)
		a := toolcrib.Effects(effect.Draw(t, "a")<<1) | toolcrib.Reads
		b := a | toolcrib.Effects(effect.Draw(t, "b")<<1)
		if sandbox.RiskOf(a) > sandbox.RiskOf(b) {
			t.Errorf("%s is %s, but %s is %s", a, sandbox.RiskOf(a), b, sandbox.RiskOf(b))
		}
		if a&toolcrib.Runs != 0 && sandbox.RiskOf(a) < sandbox.Medium {
			t.Errorf("%s is %s", a, sandbox.RiskOf(a))
		}
	})
}

func TestRiskText(t *testing.T) {
	for r := sandbox.Unrated; r <= sandbox.Critical; r++ {
		text, err := r.MarshalText()
		if err != nil {
			t.Fatal(err)
		}
		var back sandbox.Risk
		if err := back.UnmarshalText(text); err != nil || back != r {
			t.Errorf("%s was read as %s, error %v", r, back, err)
		}
	}
	var r sandbox.Risk
	if err := r.UnmarshalText([]byte("hihg")); err == nil {
		t.Error("a misspelt risk was accepted")
	}
}

func TestBadConfig(t *testing.T) {
	for _, cfg := range []sandbox.Config{
		{Backend: "dokcer"}, {Overrides: map[string]sandbox.Override{"x": {Backend: "vm"}}}, {Overrides: map[string]sandbox.Override{"x": {MaxTimeout: -1}}},
	} {
		if _, err := sandbox.NewChooser(cfg); err == nil {
			t.Errorf("%+v was accepted", cfg)
		}
	}
	c := chooser(t, sandbox.Config{Backend: sandbox.Container})
	if _, err := c.Choose(t.Context(), "x", sandbox.High); toolcrib.CodeOf(err) != toolcrib.CodeUnavailable || !strings.Contains(err.Error(), "not set up") {
		t.Errorf("a backend that is not set up: %v", err)
	}
	if _, err := chooser(t, sandbox.Config{}).Choose(t.Context(), "x", sandbox.High); toolcrib.CodeOf(err) != toolcrib.CodeUnavailable {
		t.Errorf("no backends: %v", err)
	}
}

// A backend is opened once; one that is missing is tried again after a while.
func TestOpensOnce(t *testing.T) {
	s := newSet("microvm", "linux")
	cfg := s.config()
	now := time.Now()
	cfg.Now = func() time.Time { return now }
	c := chooser(t, cfg)
	use := func() {
		t.Helper()
		if _, err := c.Choose(t.Context(), "x", sandbox.High); err != nil {
			t.Fatal(err)
		}
	}
	use()
	use()
	if want := []string{"microvm", "linux", "container"}; !slices.Equal(s.opens, want) {
		t.Errorf("opened %q, want %q", s.opens, want)
	}
	now = now.Add(time.Minute)
	s.missing, s.opens = nil, nil
	use()
	if want := []string{"microvm", "linux"}; !slices.Equal(s.opens, want) {
		t.Errorf("opened %q, want %q", s.opens, want)
	}
	if err := c.Close(); err != nil || !s.boxes["linux"].closed || s.boxes["host"].closed {
		t.Errorf("closed wrongly: %v", err)
	}
}

func TestProbe(t *testing.T) {
	s := newSet("container")
	cfg := s.config()
	cfg.Candidates[1].Probe = func(context.Context) []sandbox.Finding { return []sandbox.Finding{{Name: "time", OK: true}} }
	want := []sandbox.Report{
		{Name: "host", Available: true, Enforces: []string{"time"}},
		{Name: "linux", Available: true, Enforces: []string{"files", "network", "memory", "processes", "time"}, Findings: []sandbox.Finding{{Name: "time", OK: true}}},
		{Name: "container", Reason: "container is not there: install it (no container)"},
		{Name: "microvm", Available: true, Enforces: []string{"files", "memory", "time"}},
	}
	if diff := cmp.Diff(want, chooser(t, cfg).Probe(t.Context())); diff != "" {
		t.Errorf("reports (-want +got):\n%s", diff)
	}
}

func TestExplain(t *testing.T) {
	s := newSet("microvm")
	cfg := s.config()
	cfg.Overrides = map[string]sandbox.Override{"rm": {MaxTimeout: time.Minute, Network: no()}}
	want := sandbox.Explanation{
		Tool: "rm", Risk: sandbox.High, Why: "it runs programs", Backend: "linux", Asked: "auto, by the configuration",
		Needs: []string{"files", "network", "time"}, Enforces: []string{"files", "network", "memory", "processes", "time"}, Network: "cut off", MaxTimeout: time.Minute,
		Considered: []sandbox.Considered{{Name: "microvm", Reason: "microvm is not there: install it (no microvm)"}, {Name: "linux", Chosen: true, Reason: "the strongest that is there"}},
	}
	if diff := cmp.Diff(want, chooser(t, cfg).Explain(t.Context(), "rm", toolcrib.Runs)); diff != "" {
		t.Errorf("explanation (-want +got):\n%s", diff)
	}
}

// A backend that is used only where a person names it is never chosen by auto.
func TestAskedIsNeverAuto(t *testing.T) {
	opened := 0
	k := sandbox.Candidate{Name: sandbox.Seatbelt, Strength: sandbox.Machine, Asked: true, Open: func(context.Context) (toolcrib.Sandbox, error) {
		opened++
		return nil, errors.New("not here")
	}}
	for backend, want := range map[string]int{sandbox.Auto: 0, sandbox.Seatbelt: 1} {
		opened = 0
		c, err := sandbox.NewChooser(sandbox.Config{Backend: backend, Candidates: []sandbox.Candidate{k}})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Ready(t.Context(), "x", toolcrib.Reads, 0); err == nil || opened != want {
			t.Errorf("%s: opened %d times, %v", backend, opened, err)
		}
	}
}
