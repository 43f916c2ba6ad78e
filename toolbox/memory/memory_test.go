package memory

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
)

// shelf remembers in the order of its notes.
type shelf struct {
	mu    sync.Mutex
	notes []Note
	err   error
}

func (s *shelf) Plan(_ context.Context, c toolcrib.Caller, e Entry) (Saved, error) {
	if e.Content == "" {
		return Saved{}, errors.New("the note has no text")
	}
	saved := Saved{File: c.Subject + "/" + e.Scope + "/" + e.Target + ".md", Text: "- " + strings.ReplaceAll(e.Content, "\n", "\n  ") + "\n"}
	if c.Session == "tainted" {
		saved.Untrusted = "web/fetch_page"
	}
	return saved, s.err
}

func (s *shelf) Append(ctx context.Context, c toolcrib.Caller, e Entry) (Saved, error) {
	saved, err := s.Plan(ctx, c, e)
	if err == nil {
		by := ByAgent
		if saved.Untrusted != "" {
			by = ByUntrusted
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.notes = append(s.notes, Note{Text: e.Content, By: by, File: saved.File, Score: 1})
	}
	return saved, err
}

func (s *shelf) Search(_ context.Context, c toolcrib.Caller, query string, limit int) (Found, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var f Found
	for _, n := range s.notes {
		if strings.HasPrefix(n.File, c.Subject+"/") && strings.Contains(n.Text, query) {
			f.Notes = append(f.Notes, n)
		}
	}
	f.More = max(0, len(f.Notes)-limit)
	f.Notes = f.Notes[:min(len(f.Notes), limit)]
	return f, s.err
}

func open(t testing.TB, s Store) toolcrib.Toolbox {
	t.Helper()
	b, err := Open(t.Context(), Config{}, Needs{Store: s})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestToolbox(t *testing.T) {
	cribtest.Toolbox(t, func(t testing.TB) toolcrib.Toolbox { return open(t, &shelf{}) })
	if _, err := Open(t.Context(), Config{}, Needs{}); err == nil {
		t.Error("it opened without a store")
	}
}

func TestJourneys(t *testing.T) {
	cribtest.Journeys(t, "testdata/journey", func(t testing.TB, s cribtest.Setup) *toolcrib.Crib {
		c := cribtest.Open(t, s)
		if _, faults := c.Catalog.Load(t.Context(), toolcrib.Contents{Boxes: []toolcrib.Toolbox{open(t, &shelf{})}}); faults != nil {
			t.Fatal(faults)
		}
		return c
	})
}

func tool(t testing.TB, s Store, name string) toolcrib.Tool {
	t.Helper()
	tools, err := open(t, s).Tools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return tools[slices.IndexFunc(tools, func(x toolcrib.Tool) bool { return x.Name == name })]
}

func as(subject, session string) *toolcrib.Env {
	return &toolcrib.Env{Call: toolcrib.Call{Caller: toolcrib.Caller{Subject: subject, Session: session}}}
}

func raw(text string) json.RawMessage { return json.RawMessage(text) }
