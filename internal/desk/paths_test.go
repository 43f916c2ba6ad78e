package desk_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/desk"
)

// changed is a question about what a command has changed.
func changed() toolcrib.Question {
	q := ask()
	q.Spec.Name, q.Spec.Native, q.Spec.Box, q.Call.Tool, q.ByPath = "run_command", "run_command", "shell", "run_command", true
	return q
}

// TestAPartIsTaken: the paths of an answer come to the call, once, and only to one that
// asks about what a command has changed.
func TestAPartIsTaken(t *testing.T) {
	bubble(t, nil, func(t *testing.T, d *desk.Desk) {
		p := start(t.Context(), t, d, changed())
		synctest.Wait()
		q := theOne(t, d)
		if !q.ByPath || !q.TakesPart(d.Offers(&q)) || slices.ContainsFunc(d.Offers(&q), func(o desk.Offer) bool { return o.Choice == desk.Edit }) {
			t.Errorf("offers %+v", d.Offers(&q))
		}
		if parts := q.Describe(); !strings.HasSuffix(parts[0].Title, ", has run") {
			t.Errorf("%q", parts[0].Title)
		}
		for name, r := range map[string]desk.Reply{
			"none":       {Choice: desk.AllowOnce, Paths: []string{}},
			"empty":      {Choice: desk.AllowOnce, Paths: []string{""}},
			"long":       {Choice: desk.AllowOnce, Paths: []string{strings.Repeat("x", 5000)}},
			"many":       {Choice: desk.AllowOnce, Paths: slices.Repeat([]string{"a"}, 1001)},
			"remembered": {Choice: desk.AllowSession, Paths: []string{"a"}},
			"denied":     {Choice: desk.Deny, Paths: []string{"a"}},
			"edited":     {Choice: desk.Edit, Input: json.RawMessage(`{}`)},
		} {
			if _, err := d.Answer(context.Background(), q.ID, r, "bob"); !errors.Is(err, desk.ErrBadReply) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if now := answer(t, d, q.ID, desk.Reply{Choice: desk.AllowOnce, Paths: []string{"a", "src"}}); now.State != desk.Allowed {
			t.Errorf("%+v", now)
		}
		if o := p.got(); o.err != nil || o.answer.Decision != toolcrib.Allow || strings.Join(o.answer.Paths, " ") != "a src" {
			t.Errorf("%+v", o)
		}
		if q, err := d.Question(context.Background(), q.ID); err != nil || q.Reply.Paths != nil {
			t.Errorf("an answer that was used is kept: %+v, %v", q.Reply, err)
		}
		// Of what would run there is no part.
		start(t.Context(), t, d, ask())
		synctest.Wait()
		other := theOne(t, d)
		if _, err := d.Answer(context.Background(), other.ID, desk.Reply{Choice: desk.AllowOnce, Paths: []string{"a"}}, "bob"); !errors.Is(err, desk.ErrBadReply) || other.TakesPart(d.Offers(&other)) {
			t.Errorf("%v", err)
		}
		answer(t, d, other.ID, desk.Reply{Choice: desk.Deny})
	})
}

func TestPaths(t *testing.T) {
	for typed, want := range map[string]string{
		"":                        "",
		"a":                       "a",
		" a  b/c\nd ":             "a|b/c|d",
		`"a b" c`:                 "a b|c",
		`"a\"b"`:                  `a"b`,
		`a"b`:                     `a"b`,
		`"x\ny"z`:                 "x\ny|z",
		`"a`:                      "error",
		"\"a\nb\"":                "error",
		`C:\Users\x "C:\\My x\\"`: `C:\Users\x|C:\My x\`,
	} {
		list, err := desk.Paths(typed)
		got := strings.Join(list, "|")
		if err != nil {
			got = "error"
		}
		if got != want {
			t.Errorf("%q: %q, %v", typed, got, err)
		}
	}
}

func FuzzPaths(f *testing.F) {
	f.Add(`a "b c"`)
	f.Fuzz(func(t *testing.T, typed string) {
		list, err := desk.Paths(typed)
		if err != nil {
			return
		}
		var again []string
		for _, path := range list {
			again = append(again, strconv.Quote(path))
		}
		back, err := desk.Paths(strings.Join(again, " "))
		for i := range list {
			list[i] = strings.ToValidUTF8(list[i], "")
		}
		for i := range back {
			back[i] = strings.ToValidUTF8(back[i], "")
		}
		if err != nil || !slices.Equal(list, back) {
			t.Errorf("%q: %q, %q, %v", typed, list, back, err)
		}
	})
}
