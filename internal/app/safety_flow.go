package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/guard"
)

// SafetyInjection sets up what is done to results from outside.
type SafetyInjection struct {
	Enabled bool `yaml:"enabled" project:"on" doc:"Mark what came from outside as such, and write out hidden characters and control tokens in it. Only results of tools with the label untrusted are touched."`
}

// SafetyFlow sets up when a tool may send something away.
type SafetyFlow struct {
	Enabled   bool   `yaml:"enabled" project:"on" doc:"Watch what a conversation has read before something can leave by a tool with the label public."`
	Private   string `yaml:"private" enum:"deny,ask,allow" project:"lower" doc:"What happens to such a call when private data was read before, which may hold words of others. ask: short questions to the search engine and pages of trusted_hosts are only noted. allow: all are."`
	Untrusted string `yaml:"untrusted" enum:"deny,ask,allow" project:"lower" doc:"What happens to such a call when content from outside was read before."`
	Both      string `yaml:"both" enum:"deny,ask" project:"lower" doc:"What happens to such a call when both were read. It cannot be allowed unasked."`
	// A list replaces the default one, as all lists do.
	TrustedHosts []string `yaml:"trusted_hosts" project:"drop" doc:"Hosts whose pages may be fetched after private data was read, by their exact names: what is asked of them gets to nobody who could have written what was read. Only addresses of a page's length without a query count."`
}

// SafetyHook is a guard or a vetter that is a program or a service.
type SafetyHook struct {
	Command []string          `yaml:"command" doc:"The program and its arguments. It is started for each question, without a shell, gets the question on standard input and answers on standard output. The program is named by its full path."`
	URL     string            `yaml:"url" doc:"A service instead of a program: the question is posted there. https, or http on this machine."`
	Headers map[string]string `yaml:"headers" secret:"true" doc:"Headers that are sent to it, such as Authorization."`
	Env     map[string]string `yaml:"env" secret:"true" doc:"Variables the program gets besides PATH and LANG. Nothing is inherited."`
	Phases  []string          `yaml:"phases" enum:"judge,vet" doc:"What it is asked: judge, before a call; vet, about its result. Empty: judge."`
	Tools   []string          `yaml:"tools" doc:"The tools it is asked about, such as group:web or files/*. Empty: all."`
	Timeout time.Duration     `yaml:"timeout" max:"1m" doc:"How long it may take. What it has not answered by then is denied. 0: five seconds."`
}

// DefaultFlow is what a fresh machine does: it asks where somebody else's words
// and the person's own data meet a way out. A file is both: nobody knows who
// wrote it.
func DefaultFlow() SafetyFlow {
	return SafetyFlow{Enabled: true, Private: "ask", Untrusted: "allow", Both: "ask", TrustedHosts: []string{
		// Pages that their owners wrote, and that send nobody on to where an address says.
		"developer.mozilla.org", "docs.python.org", "doc.rust-lang.org", "docs.rs", "go.dev", "nodejs.org", "www.typescriptlang.org", "react.dev",
		"www.postgresql.org", "www.sqlite.org", "kubernetes.io", "docs.docker.com", "git-scm.com", "man7.org", "www.rfc-editor.org", "en.wikipedia.org",
	}}
}

// flowNeeds is what openFlow takes besides the settings.
type flowNeeds struct {
	Own     []string
	Offline bool // the programs of tools cannot reach the network
	// Shell is the shell guard that holds now; nil, or an answer of nil: commands
	// are not understood.
	Shell func() *guard.Shell
	Log   *slog.Logger // nil: slog.Default
	Hooks string       // the directory that hooks run in; empty: the top one
}

// flowSafety is the guards and vetters of labels, injection, flow and hooks.
type flowSafety struct {
	Labels  *guard.LabelTable
	Guards  []toolcrib.Guard
	Hooks   []toolcrib.Vetter // they come before what makes results harmless
	Vetters []toolcrib.Vetter // to be last, in this order
	Around  []func(toolcrib.Tool) toolcrib.Tool
}

// openFlow builds them. labels replaces the labels of tools and added adds to
// them.
func openFlow(labels, added map[string][]string, injection SafetyInjection, flow SafetyFlow, hooks map[string]SafetyHook, n flowNeeds) (*flowSafety, error) {
	table, err := guard.NewLabelTable(guard.LabelOptions{Own: n.Own, Offline: n.Offline, Effects: n.understood, Set: labels, Add: added})
	if err != nil {
		return nil, fmt.Errorf("safety.labels: %w", err)
	}
	s := &flowSafety{Labels: table}
	if flow.Enabled {
		f, err := flow.open(table)
		if err != nil {
			return nil, err
		}
		s.Guards = append(s.Guards, f)
		s.Vetters = append(s.Vetters, f)
		s.Around = append(s.Around, f.Around)
	}
	if injection.Enabled {
		j := &guard.Inject{Labels: table, Report: n.suspicious}
		s.Vetters = append(s.Vetters, j)
		s.Around = append(s.Around, j.Around)
	}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(hooks)) {
		h, err := n.hook(name, hooks[name])
		if err != nil {
			errs = append(errs, fmt.Errorf("safety.hooks.%s: %w", name, err))
			continue
		}
		phases := hooks[name].Phases
		if len(phases) == 0 || slices.Contains(phases, "judge") {
			s.Guards = append(s.Guards, h)
		}
		if slices.Contains(phases, "vet") {
			s.Hooks = append(s.Hooks, h)
		}
	}
	return s, errors.Join(errs...)
}

func (f SafetyFlow) open(table *guard.LabelTable) (*guard.Flow, error) {
	out := &guard.Flow{Labels: table, Vouched: guard.Vouch{Box: "web", Hosts: f.TrustedHosts}.Vouched}
	for _, d := range []struct {
		key, word string
		into      *toolcrib.Decision
	}{{"private", f.Private, &out.Private}, {"untrusted", f.Untrusted, &out.Untrusted}, {"both", f.Both, &out.Both}} {
		if err := d.into.UnmarshalText([]byte(d.word)); err != nil {
			return nil, fmt.Errorf("safety.flow.%s: %w", d.key, err)
		}
	}
	if out.Both == toolcrib.Allow {
		return nil, errors.New("safety.flow.both: it is ask or deny; what a tool's results hold is said under safety.labels")
	}
	return out, nil
}

// understood is what a command line can do, as far as the shell guard says.
func (n flowNeeds) understood(ctx context.Context, r toolcrib.Review) toolcrib.Effects {
	if n.Shell == nil {
		return 0
	}
	shell := n.Shell()
	if shell == nil {
		return 0
	}
	v, err := shell.Judge(ctx, r)
	if err != nil || v == nil || v.Decision != toolcrib.Allow {
		return 0
	}
	return v.Effects
}

func (n flowNeeds) log() *slog.Logger {
	if n.Log != nil {
		return n.Log
	}
	return slog.Default()
}

func (n flowNeeds) suspicious(ctx context.Context, r toolcrib.Review, flags []string) {
	n.log().InfoContext(ctx, "a result from outside is suspicious", "tool", r.Spec.Box+"/"+r.Spec.Native, "call", r.Call.ID, "flags", flags)
}

// hook builds one hook.
func (n flowNeeds) hook(name string, cfg SafetyHook) (*guard.Hook, error) {
	tools, err := guard.ParseSelectors(cfg.Tools)
	if err != nil {
		return nil, fmt.Errorf("tools: %w", err)
	}
	h := &guard.Hook{Name: name, Tools: tools, Timeout: cfg.Timeout}
	h.Report = func(ctx context.Context, r toolcrib.Review, err error) {
		n.log().ErrorContext(ctx, "a hook gave no usable answer", "hook", name, "tool", r.Spec.Box+"/"+r.Spec.Native, "call", r.Call.ID, "err", err)
	}
	switch {
	case len(cfg.Command) > 0 && cfg.URL != "":
		return nil, errors.New("it has both a command and a url")
	case len(cfg.Command) > 0:
		h.Run, err = commandHook(cfg.Command, cfg.Env, n.Hooks)
	case cfg.URL != "":
		h.Run, err = httpHook(cfg.URL, cfg.Headers)
	default:
		return nil, errors.New("it has neither a command nor a url")
	}
	if err != nil {
		return nil, err
	}
	return h, nil
}
