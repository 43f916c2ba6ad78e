// Package desktest is the conformance suite of desk.Store. It may be imported
// by tests only. Its one invariant: it asks of a store nothing but what the
// port promises.
package desktest

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/desk"
)

// Store tries a store; open gives an empty one.
func Store(t *testing.T, open func(t *testing.T) desk.Store) {
	t.Run("keeps", func(t *testing.T) { keeps(t, open(t)) })
	t.Run("filters", func(t *testing.T) { filters(t, open(t)) })
	t.Run("rolls back", func(t *testing.T) { rollsBack(t, open(t)) })
	t.Run("views only", func(t *testing.T) { viewsOnly(t, open(t)) })
	t.Run("one after the other", func(t *testing.T) { oneByOne(t, open(t)) })
	t.Run("shares nothing", func(t *testing.T) { sharesNothing(t, open(t)) })
}

// question has something in every field that a store could lose.
func question(id string) desk.Question {
	at := time.Date(2026, 11, 15, 12, 0, 0, 123456789, time.UTC)
	return desk.Question{
		ID: id, State: desk.Open, Asked: at, Expires: at.Add(time.Hour), Call: "c1", Project: "/p",
		Caller: toolcrib.Caller{Subject: "alice", Agent: "coder", Session: "s1", Frontend: "mcp", Dialect: "ovos"},
		Tool:   "write_file", Box: "files", Native: "write_file", Definition: "d", Input: []byte(`{"a":"<b>"}`), Redacted: true,
		Effects: toolcrib.Reads | toolcrib.Writes, Preview: "+x\n", Cut: true, Text: "why?", Options: []string{"a", "b"},
		Reasons: []toolcrib.Verdict{{Decision: toolcrib.Ask, Guard: "mode", Rule: "r", Reason: "because", Effects: toolcrib.Writes}},
		Floor:   true, Arguments: "args", Rules: []string{"r1"}, Waiting: 2, Replaces: "q-0", Slot: "slot-" + id, Key: "key", Like: "like",
		Reply: &desk.Given{Choice: desk.Edit, By: "bob", At: at, Message: "m", Input: []byte(`{"b":1}`), Grant: "g", Left: 1, Told: true},
	}
}

func grant(id string) desk.Grant {
	at := time.Date(2026, 11, 15, 12, 0, 0, 5, time.UTC)
	return desk.Grant{
		ID: id, Scope: desk.Project, Subject: "alice", Agent: "coder", Session: "s", Project: "/p", Tool: "t", Box: "b", Native: "n",
		Definition: "d", Arguments: "a", Rules: []string{"r"}, Input: []byte(`{}`), Effects: toolcrib.Runs, Asked: []string{"mode\nr"},
		Question: "q", By: "bob", At: at, Expires: at.Add(time.Hour), Revoked: at.Add(time.Minute), RevokedBy: "eve",
	}
}

func update(t *testing.T, s desk.Store, fn func(desk.Tx) error) {
	t.Helper()
	if err := s.Update(t.Context(), fn); err != nil {
		t.Fatal(err)
	}
}

func view(t *testing.T, s desk.Store, fn func(desk.Tx) error) {
	t.Helper()
	if err := s.View(t.Context(), fn); err != nil {
		t.Fatal(err)
	}
}

// want compares by what JSON shows, which is every field but Rev.
func want(t *testing.T, what string, got, want any) {
	t.Helper()
	if g, w := shown(t, got), shown(t, want); g != w {
		t.Errorf("%s:\n got %s\nwant %s", what, g, w)
	}
}

func keeps(t *testing.T, s desk.Store) {
	view(t, s, func(tx desk.Tx) error {
		if _, err := tx.Question("q-1"); !errors.Is(err, desk.ErrNotFound) {
			t.Errorf("a question that is not there: %v", err)
		}
		if _, err := tx.Grant("g-1"); !errors.Is(err, desk.ErrNotFound) {
			t.Errorf("a grant that is not there: %v", err)
		}
		return nil
	})
	update(t, s, func(tx desk.Tx) error {
		if err := tx.PutQuestion(question("q-1")); err != nil {
			return err
		}
		if q, err := tx.Question("q-1"); err != nil || q.Rev < 1 {
			t.Errorf("inside the transaction: %+v, %v", q, err)
		}
		return tx.PutGrant(grant("g-1"))
	})
	check := func(tx desk.Tx) error {
		q, err := tx.Question("q-1")
		want(t, "question", q, question("q-1"))
		if err != nil {
			return err
		}
		g, err := tx.Grant("g-1")
		want(t, "grant", g, grant("g-1"))
		return err
	}
	view(t, s, check)
	update(t, s, check)
	update(t, s, func(tx desk.Tx) error {
		return errors.Join(tx.DropQuestion("q-1"), tx.DropQuestion("q-1"), tx.DropGrant("g-1"), tx.DropGrant("g-1"))
	})
	var dropped int64
	view(t, s, func(tx desk.Tx) error {
		list, err1 := tx.Questions(desk.Filter{})
		grants, err2 := tx.Grants(desk.GrantFilter{})
		if len(list) != 0 || len(grants) != 0 {
			t.Errorf("dropped, and still there: %v %v", list, grants)
		}
		rev, err3 := tx.Rev()
		if dropped = rev; rev < 1 {
			t.Errorf("the number of changes was forgotten with the question: %d", rev)
		}
		return errors.Join(err1, err2, err3)
	})
	update(t, s, func(tx desk.Tx) error { return tx.PutQuestion(question("q-2")) })
	view(t, s, func(tx desk.Tx) error {
		q, err := tx.Question("q-2")
		if q.Rev <= dropped {
			t.Errorf("a number was given a second time: %d after %d", q.Rev, dropped)
		}
		return err
	})
}

func filters(t *testing.T, s desk.Store) {
	base := question("q-a").Asked
	update(t, s, func(tx desk.Tx) error {
		for i, state := range []desk.State{desk.Open, desk.Allowed, desk.Denied, desk.Expired, desk.Replaced, desk.Allowed} {
			q := question(fmt.Sprintf("q-%d", i))
			q.State, q.Asked = state, base.Add(time.Duration(i)*time.Minute)
			if i == 5 { // used up
				q.Reply.Left = 0
				q.Caller.Subject, q.Like, q.Slot = "bob", "other", "slot-q-1"
			}
			if err := tx.PutQuestion(q); err != nil {
				return err
			}
		}
		g1, g2, g3, g4 := grant("g-1"), grant("g-2"), grant("g-3"), grant("g-4")
		g2.Subject, g3.At, g4.Arguments = "bob", g1.At.Add(-time.Hour), ""
		return errors.Join(tx.PutGrant(g1), tx.PutGrant(g2), tx.PutGrant(g3), tx.PutGrant(g4))
	})
	view(t, s, func(tx desk.Tx) error {
		all, err := tx.Questions(desk.Filter{})
		if err != nil || len(all) != 6 {
			return fmt.Errorf("%d questions, %w", len(all), err)
		}
		for name, c := range map[string]struct {
			f    desk.Filter
			want string
		}{
			"all":     {desk.Filter{}, "q-0 q-1 q-2 q-3 q-4 q-5 "},
			"after":   {desk.Filter{After: all[3].Rev}, "q-4 q-5 "},
			"state":   {desk.Filter{State: desk.Allowed}, "q-1 q-5 "},
			"live":    {desk.Filter{Live: true}, "q-0 q-1 "},
			"slot":    {desk.Filter{Slot: "slot-q-1"}, "q-1 q-5 "},
			"both":    {desk.Filter{Slot: "slot-q-1", Live: true}, "q-1 "},
			"like":    {desk.Filter{Like: "other"}, "q-5 "},
			"subject": {desk.Filter{Subject: "bob", State: desk.Allowed}, "q-5 "},
			"before":  {desk.Filter{Before: base.Add(2 * time.Minute)}, "q-0 q-1 "},
			"limit":   {desk.Filter{Limit: 2}, "q-0 q-1 "},
		} {
			list, err := tx.Questions(c.f)
			if err != nil {
				return err
			}
			var got strings.Builder
			for _, q := range list {
				got.WriteString(q.ID + " ")
			}
			if got.String() != c.want {
				t.Errorf("%s: %s, want %s", name, got.String(), c.want)
			}
			if n, err := tx.Count(c.f); c.f.Limit == 0 && (err != nil || n != len(list)) {
				t.Errorf("%s: counts %d, %v", name, n, err)
			}
		}
		g1 := grant("g-1")
		for name, c := range map[string]struct {
			f    desk.GrantFilter
			want string
		}{
			"all":       {desk.GrantFilter{}, "g-3 g-1 g-2 g-4 "},
			"subject":   {desk.GrantFilter{Subject: "alice"}, "g-3 g-1 g-4 "},
			"bound":     {desk.GrantFilter{Bound: g1.Bound(), Arguments: "a"}, "g-3 g-1 g-4 "},
			"arguments": {desk.GrantFilter{Bound: g1.Bound(), Arguments: "b"}, "g-4 "},
			"nobody":    {desk.GrantFilter{Bound: "x", Arguments: "a"}, ""},
		} {
			list, err := tx.Grants(c.f)
			if err != nil {
				return err
			}
			var got strings.Builder
			for _, g := range list {
				got.WriteString(g.ID + " ")
			}
			if got.String() != c.want {
				t.Errorf("grants, %s: %s, want %s", name, got.String(), c.want)
			}
		}
		return nil
	})
}

func rollsBack(t *testing.T, s desk.Store) {
	update(t, s, func(tx desk.Tx) error { return tx.PutQuestion(question("q-1")) })
	failed := errors.New("no")
	err := s.Update(t.Context(), func(tx desk.Tx) error {
		q := question("q-1")
		q.State = desk.Denied
		return errors.Join(tx.PutQuestion(q), tx.PutQuestion(question("q-2")), tx.PutGrant(grant("g-1")), failed)
	})
	if !errors.Is(err, failed) {
		t.Errorf("the error of fn is lost: %v", err)
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic of fn is lost")
			}
		}()
		err := s.Update(t.Context(), func(tx desk.Tx) error {
			if err := tx.DropQuestion("q-1"); err != nil {
				return err
			}
			panic("no")
		})
		t.Error("it came back:", err)
	}()
	view(t, s, func(tx desk.Tx) error {
		list, err := tx.Questions(desk.Filter{})
		if len(list) != 1 || list[0].State != desk.Open {
			t.Errorf("what failed has left its traces: %+v", list)
		}
		if _, err := tx.Grant("g-1"); !errors.Is(err, desk.ErrNotFound) {
			t.Errorf("the grant stayed: %v", err)
		}
		return err
	})
}

func viewsOnly(t *testing.T, s desk.Store) {
	view(t, s, func(tx desk.Tx) error {
		for name, err := range map[string]error{
			"put question": tx.PutQuestion(question("q-1")), "drop question": tx.DropQuestion("q-1"),
			"put grant": tx.PutGrant(grant("g-1")), "drop grant": tx.DropGrant("g-1"),
		} {
			if err == nil {
				t.Errorf("%s works while viewing", name)
			}
		}
		return nil
	})
}

// oneByOne adds up in many goroutines: a lost update would show in the sum.
func oneByOne(t *testing.T, s desk.Store) {
	start := question("q-1")
	start.Waiting = 0
	update(t, s, func(tx desk.Tx) error { return tx.PutQuestion(start) })
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 5 {
				err := s.Update(t.Context(), func(tx desk.Tx) error {
					q, err := tx.Question("q-1")
					q.Waiting++
					return errors.Join(err, tx.PutQuestion(q))
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	view(t, s, func(tx desk.Tx) error {
		q, err := tx.Question("q-1")
		if q.Waiting != 40 {
			t.Errorf("40 additions made %d", q.Waiting)
		}
		return err
	})
}

func sharesNothing(t *testing.T, s desk.Store) {
	mine := question("q-1")
	update(t, s, func(tx desk.Tx) error { return tx.PutQuestion(mine) })
	mine.Reply.By = "eve"
	view(t, s, func(tx desk.Tx) error {
		q, err := tx.Question("q-1")
		if err != nil {
			return err
		}
		q.Reply.By = "eve"
		again, err := tx.Question("q-1")
		if again.Reply.By != "bob" {
			t.Error("what was handed out or in is what is kept")
		}
		return err
	})
}
