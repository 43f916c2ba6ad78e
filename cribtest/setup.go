package cribtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
)

// Setup is the tools section of a journey: what the crib is made of. Every
// field may be left out.
type Setup struct {
	Tools   []string          `json:"tools"` // of the demo box; none named: all of them
	Rename  map[string]string `json:"rename"`
	Alias   map[string]string `json:"alias"`
	Disable []string          `json:"disable"`
	Hidden  []string          `json:"hidden"` // tools that no caller sees
	Guards  []GuardSetup      `json:"guards"` // none: every call is denied
	Person  []PersonSetup     `json:"person"` // none: nobody is there to be asked
	Limits  LimitsSetup       `json:"limits"`
	Journal string            `json:"journal"` // memory, none, or broken; default memory
}

// GuardSetup is one guard. It speaks about all tools, or about those named.
type GuardSetup struct {
	Name     string            `json:"name"` // default fake
	Decision toolcrib.Decision `json:"decision"`
	Reason   string            `json:"reason"`
	Tools    []string          `json:"tools"`
	Effects  toolcrib.Effects  `json:"effects"` // instead: allow tools within these
	Error    string            `json:"error"`   // instead: fail to judge
}

// PersonSetup is what the person does at one question.
type PersonSetup struct {
	toolcrib.Answer
	Silent bool   `json:"silent"` // does not answer
	Error  string `json:"error"`  // could not be asked
}

// LimitsSetup are limits with durations as people write them.
type LimitsSetup struct {
	Timeout, Ask, Grace string
	Input, Output       int
	Depth, Record       int
}

// ReadSetup reads a tools section. An unknown key is an error.
func ReadSetup(text []byte) (Setup, error) {
	var s Setup
	if len(bytes.TrimSpace(text)) == 0 {
		return s, errors.New("the tools section is empty: write {} for a crib that denies everything")
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&s); err != nil {
		return s, fmt.Errorf("reading the tools section: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return s, errors.New("reading the tools section: there is more than one value")
	}
	return s, nil
}

// Open makes the crib of a setup, over the demo box and a [Memory] journal.
func Open(t testing.TB, s Setup) *toolcrib.Crib {
	t.Helper()
	crib, err := s.crib(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return crib
}

func (s Setup) crib(ctx context.Context) (*toolcrib.Crib, error) {
	tools, err := s.tools()
	if err != nil {
		return nil, err
	}
	c := &toolcrib.Crib{Catalog: &toolcrib.Catalog{}, Log: slog.New(slog.DiscardHandler)}
	_, faults := c.Catalog.Load(ctx, toolcrib.Contents{
		Boxes: []toolcrib.Toolbox{toolcrib.NewBox("demo", tools...)}, Rename: s.Rename, Alias: s.Alias, Disable: s.Disable,
	})
	for _, f := range faults {
		err = errors.Join(err, f)
	}
	for _, g := range s.Guards {
		c.Guards = append(c.Guards, g.guard())
	}
	if len(s.Person) > 0 {
		c.Approver = &Person{Script: s.script()}
	}
	if len(s.Hidden) > 0 {
		c.Visible = func(_ toolcrib.Caller, spec *toolcrib.Entry) bool { return !slices.Contains(s.Hidden, spec.Native) }
	}
	switch s.Journal {
	case "", "memory":
		c.Journal = &Memory{}
	case "broken":
		c.Journal = &Memory{BeginErr: errors.New("the disk is full")}
	case "none":
	default:
		err = errors.Join(err, fmt.Errorf("unknown journal %q: want memory, none or broken", s.Journal))
	}
	limits, lerr := s.Limits.limits()
	c.Limits = limits
	return c, errors.Join(err, lerr)
}

func (s Setup) tools() ([]toolcrib.Tool, error) {
	all := DemoTools()
	if len(s.Tools) == 0 {
		return all, nil
	}
	var some []toolcrib.Tool
	for _, name := range s.Tools {
		i := slices.IndexFunc(all, func(t toolcrib.Tool) bool { return t.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("there is no demo tool %q", name)
		}
		some = append(some, all[i])
	}
	return some, nil
}

func (g GuardSetup) guard() toolcrib.Guard {
	if g.Effects != 0 {
		return toolcrib.AllowEffects(g.Effects)
	}
	name := g.Name
	if name == "" {
		name = "fake"
	}
	return GuardFunc(func(_ context.Context, r toolcrib.Review) (*toolcrib.Verdict, error) {
		switch {
		case len(g.Tools) > 0 && !slices.Contains(g.Tools, r.Spec.Native):
			return nil, nil
		case g.Error != "":
			return nil, errors.New(g.Error)
		}
		return &toolcrib.Verdict{Decision: g.Decision, Guard: name, Reason: g.Reason}, nil
	})
}

func (s Setup) script() []Reply {
	script := make([]Reply, len(s.Person))
	for i, p := range s.Person {
		script[i] = Reply{Answer: p.Answer, Silent: p.Silent}
		if p.Error != "" {
			script[i].Err = errors.New(p.Error)
		}
	}
	return script
}

func (l LimitsSetup) limits() (toolcrib.Limits, error) {
	out := toolcrib.Limits{Input: l.Input, Output: l.Output, Depth: l.Depth, Record: l.Record}
	var errs []error
	for _, d := range []struct {
		text string
		to   *time.Duration
	}{{l.Timeout, &out.Timeout}, {l.Ask, &out.Ask}, {l.Grace, &out.Grace}} {
		if d.text == "" {
			continue
		}
		v, err := time.ParseDuration(d.text)
		*d.to = v
		errs = append(errs, err)
	}
	return out, errors.Join(errs...)
}
