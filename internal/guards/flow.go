// Package guards makes the guards, vetters and wrappers that the settings of
// safety and of bounds ask for: labels, flow, injection and hooks; budgets,
// retries, loops, time and artifacts. It judges nothing itself. The wiring in
// internal/app imports it.
package guards

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/hookrun"
	"github.com/toolcrib/toolcrib/internal/policy"
	"github.com/toolcrib/toolcrib/internal/safety"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/shellguard"
)

// FlowNeeds is what openFlow takes besides the settings.
type FlowNeeds struct {
	Own     []string
	Persons func(box string) bool // boxes of the person, see [policy.LabelOptions]
	Offline bool                  // the programs of tools cannot reach the network
	// Shell is the shell guard that holds now; nil, or an answer of nil: commands
	// are not understood.
	Shell func() *shellguard.Guard
	Log   *slog.Logger // nil: slog.Default
	Hooks string       // the directory that hooks run in; empty: the top one
}

// Flow is the guards and vetters of labels, injection, flow and hooks.
type Flow struct {
	Labels  *policy.LabelTable
	Guards  []toolcrib.Guard
	Hooks   []toolcrib.Vetter // they come before what makes results harmless
	Vetters []toolcrib.Vetter // to be last, in this order
	Around  []func(toolcrib.Entry, toolcrib.Tool) toolcrib.Tool
	States  []*safety.Hook // asked after a call, see [States]
	// Watched knows what conversations have read, also where nothing is judged by it.
	Watched *safety.Flow
}

// OpenFlow builds them. labels replaces the labels of tools and added adds to
// them.
func OpenFlow(labels, added map[string][]string, injection settings.SafetyInjection, flow settings.SafetyFlow, hooks map[string]settings.SafetyHook, n FlowNeeds) (*Flow, error) {
	table, err := policy.NewLabelTable(policy.LabelOptions{Own: n.Own, Persons: n.Persons, Offline: n.Offline, Effects: (&understood{FlowNeeds: n}).of, Set: labels, Add: added})
	if err != nil {
		return nil, fmt.Errorf("safety.labels: %w", err)
	}
	s := &Flow{Labels: table, Watched: &safety.Flow{Labels: table}}
	if flow.Enabled {
		if s.Watched, err = openFlowGuard(flow, table); err != nil {
			return nil, err
		}
		s.Guards = append(s.Guards, s.Watched)
	}
	s.Vetters = append(s.Vetters, s.Watched)
	s.Around = append(s.Around, s.Watched.Around)
	if injection.Enabled {
		j := &safety.Inject{Labels: table, Report: n.suspicious}
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
		if slices.Contains(phases, "state") {
			s.States = append(s.States, h)
		}
	}
	return s, errors.Join(errs...)
}

func openFlowGuard(f settings.SafetyFlow, table *policy.LabelTable) (*safety.Flow, error) {
	out := &safety.Flow{Labels: table, Vouched: safety.Vouch{Box: "web", Hosts: f.TrustedHosts}.Vouched}
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

// Understood is what a command line can do, as far as the shell guard says.
func (n FlowNeeds) Understood(ctx context.Context, r toolcrib.Review) toolcrib.Effects {
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

// understood keeps what the newest call can do: its guard, its tool and its result are
// all labelled, and a line that is read again says the same.
type understood struct {
	FlowNeeds
	mu      sync.Mutex
	newest  toolcrib.Call // with the input as it was judged
	shell   *shellguard.Guard
	effects toolcrib.Effects
}

func (u *understood) of(ctx context.Context, r toolcrib.Review) toolcrib.Effects {
	if u.Shell == nil || r.Call.ID == "" {
		return u.Understood(ctx, r)
	}
	shell := u.Shell()
	u.mu.Lock()
	was, effects := &u.newest, u.effects
	same := was.ID == r.Call.ID && was.Tool == r.Call.Tool && was.Caller == r.Call.Caller && u.shell == shell && bytes.Equal(was.Input, r.Input)
	u.mu.Unlock()
	if same {
		return effects
	}
	effects = u.Understood(ctx, r)
	u.mu.Lock()
	defer u.mu.Unlock()
	u.newest, u.shell, u.effects = toolcrib.Call{ID: r.Call.ID, Tool: r.Call.Tool, Caller: r.Call.Caller, Input: bytes.Clone(r.Input)}, shell, effects
	return effects
}

func (n FlowNeeds) log() *slog.Logger {
	if n.Log != nil {
		return n.Log
	}
	return slog.Default()
}

func (n FlowNeeds) suspicious(ctx context.Context, r toolcrib.Review, flags []string) {
	n.log().InfoContext(ctx, "a result from outside is suspicious", "tool", r.Spec.Box+"/"+r.Spec.Native, "call", r.Call.ID, "flags", flags)
}

// hook builds one hook.
func (n FlowNeeds) hook(name string, cfg settings.SafetyHook) (*safety.Hook, error) {
	tools, err := policy.ParseSelectors(cfg.Tools)
	if err != nil {
		return nil, fmt.Errorf("tools: %w", err)
	}
	h := &safety.Hook{Name: name, Tools: tools, Timeout: cfg.Timeout}
	h.Report = func(ctx context.Context, r toolcrib.Review, err error) {
		n.log().ErrorContext(ctx, "a hook gave no usable answer", "hook", name, "tool", r.Spec.Box+"/"+r.Spec.Native, "call", r.Call.ID, "err", err)
	}
	switch {
	case len(cfg.Command) > 0 && cfg.URL != "":
		return nil, errors.New("it has both a command and a url")
	case len(cfg.Command) > 0:
		h.Run, err = hookrun.Command(cfg.Command, cfg.Env, n.Hooks)
	case cfg.URL != "":
		h.Run, err = hookrun.HTTP(cfg.URL, cfg.Headers)
	default:
		return nil, errors.New("it has neither a command nor a url")
	}
	if err != nil {
		return nil, err
	}
	return h, nil
}
