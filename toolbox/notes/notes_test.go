package notes

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

// shelf keeps notes in memory, by subject and session.
type shelf struct {
	mu  sync.Mutex
	all map[string]Notes
	err error
}

func (s *shelf) key(c toolcrib.Caller) string { return c.Subject + "/" + c.Session }

func (s *shelf) Read(_ context.Context, c toolcrib.Caller) (Notes, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all[s.key(c)], s.err
}

func (s *shelf) Change(_ context.Context, c toolcrib.Caller, edit func(*Notes) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.all[s.key(c)]
	if err := errors.Join(s.err, edit(&n)); err != nil {
		return err
	}
	s.all[s.key(c)] = n
	return nil
}

func newShelf() *shelf { return &shelf{all: map[string]Notes{}} }

func open(t testing.TB, s Store) toolcrib.Toolbox {
	t.Helper()
	b, err := Open(t.Context(), Config{Screens: "mcp-shelf"}, Needs{Store: s})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestToolbox(t *testing.T) {
	cribtest.Toolbox(t, func(t testing.TB) toolcrib.Toolbox { return open(t, newShelf()) })
	if _, err := Open(t.Context(), Config{}, Needs{}); err == nil {
		t.Error("it opened without a store")
	}
	b, err := Open(t.Context(), Config{}, Needs{Store: newShelf()})
	if err != nil {
		t.Fatal(err)
	}
	tools, err := b.Tools(t.Context())
	if err != nil || len(tools) != 3 || slices.ContainsFunc(tools, func(t toolcrib.Tool) bool { return t.Name == "read_notes" }) {
		t.Errorf("without screens: %v, %v", tools, err)
	}
}

func TestJourneys(t *testing.T) {
	cribtest.Journeys(t, "testdata/journey", func(t testing.TB, s cribtest.Setup) *toolcrib.Crib {
		c := cribtest.Open(t, s)
		if _, faults := c.Catalog.Load(t.Context(), toolcrib.Contents{Boxes: []toolcrib.Toolbox{open(t, newShelf())}}); faults != nil {
			t.Fatal(faults)
		}
		return c
	})
}

// do runs a tool as ann in a session.
func do(t testing.TB, b toolcrib.Toolbox, session, tool string, input any) (string, error) {
	t.Helper()
	tools, err := b.Tools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(tools, func(x toolcrib.Tool) bool { return x.Name == tool })
	env := &toolcrib.Env{Call: toolcrib.Call{Caller: toolcrib.Caller{Subject: "ann", Session: session}}}
	result, err := tools[i].Run(t.Context(), env, text)
	if err != nil {
		return "", err
	}
	if result.Failed {
		return "", errors.New(result.String())
	}
	return string(result.Value), nil
}

type fields = map[string]any

func todos(list ...string) fields {
	var items []fields
	for _, one := range list {
		status, content, _ := strings.Cut(one, ":")
		items = append(items, fields{"content": content, "status": status})
	}
	return fields{"items": items}
}
