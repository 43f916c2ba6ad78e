package memory

import (
	"errors"
	"testing"
)

func TestMemoryAppend(t *testing.T) {
	s := &shelf{}
	x := tool(t, s, "memory_append")
	for _, c := range []struct{ session, in, want string }{
		{"", `{"target":"daily","content":"a fact","scope":"agent"}`, `{"file":"ann/agent/daily.md"}`},
		{"tainted", `{"target":"long_term","content":"a claim","scope":"user"}`, `{"file":"ann/user/long_term.md","untrusted":"web/fetch_page"}`},
	} {
		got, err := x.Run(t.Context(), as("ann", c.session), raw(c.in))
		if err != nil || string(got.Value) != c.want {
			t.Errorf("%s: %+v, %v", c.in, got, err)
		}
	}
	shown, err := x.Preview(t.Context(), as("ann", ""), raw(`{"target":"daily","content":"one\ntwo","scope":"agent"}`))
	if want := "--- ann/agent/daily.md\n+++ ann/agent/daily.md\n@@ at its end @@\n+- one\n+  two\n"; shown != want || err != nil {
		t.Errorf("%q, %v", shown, err)
	}
	if len(s.notes) != 2 {
		t.Errorf("a preview wrote: %v", s.notes)
	}
	s.err = errors.New("the disk is full")
	if _, err := x.Run(t.Context(), as("ann", ""), raw(`{"target":"daily","content":"x"}`)); err == nil {
		t.Error("a failure was not told")
	}
	if _, err := x.Preview(t.Context(), as("ann", ""), raw(`{"target":"daily","content":"x"}`)); err == nil {
		t.Error("a failure was not told by the preview")
	}
}
