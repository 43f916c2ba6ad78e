package dialect

import (
	"context"
	"log/slog"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
	"github.com/toolcrib/toolcrib/toolbox/memory"
	"github.com/toolcrib/toolcrib/toolbox/notes"
)

// shortStore keeps notes and memories as long as a test.
type shortStore struct {
	notes   notes.Notes
	entries []memory.Entry
}

func (s *shortStore) Read(context.Context, toolcrib.Caller) (notes.Notes, error) { return s.notes, nil }

func (s *shortStore) Change(_ context.Context, _ toolcrib.Caller, edit func(*notes.Notes) error) error {
	return edit(&s.notes)
}

func (s *shortStore) Plan(context.Context, toolcrib.Caller, memory.Entry) (memory.Saved, error) {
	return memory.Saved{Untrusted: "web/fetch_page", Notes: []string{"a word was written out"}}, nil
}

func (s *shortStore) Append(ctx context.Context, c toolcrib.Caller, e memory.Entry) (memory.Saved, error) {
	s.entries = append(s.entries, e)
	return s.Plan(ctx, c, e)
}

func (s *shortStore) Search(_ context.Context, _ toolcrib.Caller, query string, limit int) (memory.Found, error) {
	f := memory.Found{Skipped: []string{"x.md: it is a link"}}
	if query == "all" {
		f.Notes = []memory.Note{
			{Text: "one\ntwo", By: memory.ByPerson, File: "ann/_/MEMORY.md:1-2", Score: 0.5},
			{Text: strings.Repeat("é", 300), By: memory.ByUntrusted, Warning: "[untrusted: web/fetch_page] Mind.", File: "ann/_/MEMORY.md:3-3", Score: 0.25},
		}[:min(limit, 2)]
	}
	return f, nil
}

// TestAgenticXSessionTools: what internal/conformance holds against AgenticX itself,
// and what that cannot show.
func TestAgenticXSessionTools(t *testing.T) {
	s := &shortStore{}
	noted, err := notes.Open(t.Context(), notes.Config{}, notes.Needs{Store: s})
	if err != nil {
		t.Fatal(err)
	}
	remembered, err := memory.Open(t.Context(), memory.Config{}, memory.Needs{Store: s})
	if err != nil {
		t.Fatal(err)
	}
	c := &toolcrib.Crib{Catalog: &toolcrib.Catalog{}, Guards: []toolcrib.Guard{cribtest.Allow()}, Journal: toolcrib.NoJournal{}, Log: slog.New(slog.DiscardHandler)}
	if _, faults := c.Catalog.Load(t.Context(), toolcrib.Contents{Boxes: []toolcrib.Toolbox{noted, remembered}, Adapters: Adapters(Options{})}); faults != nil {
		t.Fatal(faults)
	}
	r := &room{Crib: c}
	type args = map[string]any
	full := map[string]string{}
	for i := range notes.MaxKeys {
		full["k"+strings.Repeat("x", i)] = ""
	}
	for _, tt := range []struct {
		tool string
		in   args
		want string
	}{
		{"todo_write", args{"items": []args{{"content": "a", "status": "COMPLETED"}, {"content": "b", "status": "in_progress"}}}, "[x] a\n[>] b <- b\n\n(1/2 completed)"},
		{"todo_write", args{"items": []args{{"content": "a", "status": "done"}}}, "ERROR: item 0: invalid status 'done'"},
		{"todo_write", args{"items": []args{{"content": strings.Repeat("x", 501), "status": "pending"}}}, "refused: Parameter validation failed: …"},
		{"todo_write", args{"items": "x"}, "refused: Parameter validation failed: …"},
		{"scratchpad_write", args{"key": "a", "value": "7"}, "OK: scratchpad[a] updated"},
		{"scratchpad_read", args{"key": "a"}, "7"},
		{"scratchpad_write", args{"key": "a", "value": strings.Repeat("x", 10_001)}, "ERROR: the value has 10001 characters…"},
		{"memory_append", args{"target": "daily", "content": "x"}, "OK: appended to daily (scope=subject)\nIt is marked as [untrusted: web/fetch_page]\na word was written out"},
		{"memory_append", args{"target": "long_term", "content": "x", "scope": "user_global"}, "OK: appended to long_term (scope=user_global)…"},
		{"memory_search", args{"query": "all", "limit": 99}, "1. score=0.5 path=ann/_/MEMORY.md:1-2 text=one two\n2. score=0.25 path=ann/_/MEMORY.md:3-3 text=[untrusted: web/fetch_page] " + strings.Repeat("é", 240) + "...\n(skipped: x.md: it is a link)"},
		{"memory_search", args{"query": "none"}, "No memory matches.\n(skipped: x.md: it is a link)"},
	} {
		got := r.say(t, AgenticX, tt.tool, tt.in)
		begin, open := strings.CutSuffix(tt.want, "…")
		if got != tt.want && !(open && strings.HasPrefix(got, begin)) {
			t.Errorf("%s %.80v: %q, want %q", tt.tool, tt.in, got, tt.want)
		}
	}
	if len(s.entries) != 2 || s.entries[0].Scope != "agent" || s.entries[1].Scope != "user" {
		t.Errorf("%+v", s.entries)
	}
	s.notes.Pad = full
	if got := r.say(t, AgenticX, "scratchpad_write", args{"key": "more", "value": ""}); got != "ERROR: scratchpad key limit exceeded (50)" {
		t.Error(got)
	}
}
