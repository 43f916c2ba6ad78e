package vault

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestOrder(t *testing.T) {
	for _, c := range []struct {
		from Scope
		want []Scope
	}{
		{Scope{"x", "s", "t"}, []Scope{{"x", "s", "t"}, {"x", "s", ""}, {"x", "", "t"}, {"x", "", ""}, {"*", "", "t"}, {"*", "", ""}}},
		{Scope{"x", "", "t"}, []Scope{{"x", "", "t"}, {"x", "", ""}, {"*", "", "t"}, {"*", "", ""}}},
		{Scope{"x", "s", ""}, []Scope{{"x", "s", ""}, {"x", "", ""}, {"*", "", ""}}},
		{Scope{}, []Scope{{}, {"*", "", ""}}},
		{Scope{"x", "s", "b/t"}, []Scope{
			{"x", "s", "b/t"}, {"x", "s", "b"}, {"x", "s", ""}, {"x", "", "b/t"}, {"x", "", "b"}, {"x", "", ""}, {"*", "", "b/t"}, {"*", "", "b"}, {"*", "", ""},
		}},
		{Scope{"x", "", "/t"}, []Scope{{"x", "", "/t"}, {"x", "", ""}, {"*", "", "/t"}, {"*", "", ""}}},
	} {
		if diff := cmp.Diff(c.want, c.from.order()); diff != "" {
			t.Errorf("from %v: %s", c.from, diff)
		}
	}
}

func TestLookup(t *testing.T) {
	v := fresh(t, said(someKey(t)))
	acme, other := "acme", "other"
	for _, s := range []Scope{{}, {acme, "", ""}, {acme, "", "gh"}, {acme, "ann", ""}, {acme, "ann", "gh"}, {other, "ann", "gh"}, {Everyone, "", ""}} {
		mustSet(t, v, Ref{s, "K"}, fmt.Sprint(s))
	}
	mustSet(t, v, Ref{Scope{other, "", ""}, "SOLE"}, "other's alone")
	mustSet(t, v, Ref{Scope{"", "", ""}, "NODE"}, "the node's alone")
	for _, c := range []struct{ from, want Scope }{
		{Scope{acme, "ann", "gh"}, Scope{acme, "ann", "gh"}},
		{Scope{acme, "ann", "web"}, Scope{acme, "ann", ""}},
		{Scope{acme, "bob", "gh"}, Scope{acme, "", "gh"}},
		{Scope{acme, "bob", "web"}, Scope{acme, "", ""}},
		{Scope{other, "bob", "gh"}, Scope{Everyone, "", ""}},
		{Scope{"third", "ann", "gh"}, Scope{Everyone, "", ""}},
		{Scope{"", "ann", "gh"}, Scope{}},
	} {
		got, ref, err := v.Lookup(t.Context(), c.from, "K")
		if err != nil || ref != (Ref{c.want, "K"}) || got != fmt.Sprint(c.want) {
			t.Errorf("from %v: got %v, %v; want %v", c.from, ref, err, c.want)
		}
	}
	for _, from := range []Scope{{acme, "ann", "gh"}, {"", "", ""}, {"third", "", ""}} {
		_, _, err := v.Lookup(t.Context(), from, "SOLE")
		wantErr(t, err, ErrNotFound)
	}
	_, _, err := v.Lookup(t.Context(), Scope{acme, "", ""}, "NODE")
	wantErr(t, err, ErrNotFound)

	seen, err := v.Visible(t.Context(), Scope{acme, "bob", "gh"})
	if must(t, err); len(seen) != 1 || seen[0].Ref != (Ref{Scope{acme, "", "gh"}, "K"}) {
		t.Errorf("bob sees %v", seen)
	}
	seen, err = v.Visible(t.Context(), Scope{other, "", ""})
	if must(t, err); len(seen) != 2 || seen[0].Organisation != Everyone || seen[1].Name != "SOLE" {
		t.Errorf("the other organisation sees %v", seen)
	}
	_, err = v.Visible(t.Context(), Scope{Everyone, "", ""})
	wantErr(t, err, ErrInvalid)
}

// Whatever is in the store, a lookup gives a secret that is for its caller, and
// no narrower one is there.
func TestLookupProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := func(label string, more ...string) string {
			return rapid.SampledFrom(append([]string{"", "a", "b"}, more...)).Draw(t, label)
		}
		c := &content{secrets: map[Ref]entry{}}
		for range rapid.IntRange(0, 12).Draw(t, "n") {
			ref := Ref{Scope{word("org", Everyone), word("subject"), word("tool", "a/t", "b/t")}, rapid.SampledFrom([]string{"N", "M"}).Draw(t, "name")}
			if ref.check() == nil {
				c.secrets[ref] = entry{value: ref.String()}
			}
		}
		from := Scope{word("from org"), word("from subject"), word("from tool", "a/t", "a/u")}
		// What may be seen, said in another way than order does.
		weight := func(s Scope) int {
			if s.Organisation != from.Organisation && s.Organisation != Everyone ||
				s.Subject != "" && s.Subject != from.Subject || s.Tool != "" && s.Tool != from.Tool && !strings.HasPrefix(from.Tool, s.Tool+"/") {
				return 0
			}
			w := 1
			if s.Organisation != Everyone {
				w += 8
			}
			if s.Subject != "" {
				w += 4
			}
			if s.Tool != "" {
				w++
			}
			if s.Tool == from.Tool {
				w++
			}
			return w
		}
		best, bestWeight := Ref{}, 0
		for ref := range c.secrets {
			if w := weight(ref.Scope); ref.Name == "N" && w > bestWeight {
				best, bestWeight = ref, w
			}
		}
		e, ref, ok := c.lookup(from, "N")
		if ok != (bestWeight > 0) || ref != best || ok && e.value != best.String() {
			t.Fatalf("from %v: got %v (%v), want %v", from, ref, ok, best)
		}
	})
}
