package server

import (
	"fmt"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/desk"
)

// TestAnswersAreLimited: a client that may allow things once is shown nothing
// else, and what it sends all the same does not count.
func TestAnswersAreLimited(t *testing.T) {
	h := build(t, modernVersion, nil)
	s := New(Config{Crib: h.server.cfg.Crib, Log: quiet(), Desk: h.desk, Answers: []desk.Choice{desk.AllowOnce, desk.Deny}}, toolcrib.Caller{Subject: "ann", Frontend: "mcp-http", Session: "s2"})
	t.Cleanup(s.Close)
	r := newRaw(t, s)
	call := `,"name":"touch","arguments":{"n":7}`
	granted := func() []desk.Grant {
		list, err := h.desk.Grants(t.Context(), desk.GrantFilter{})
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	for _, answer := range []string{"allow it everywhere, until it is revoked", "allow it in this session, for 24 h", "allow it in /srv/p, for 90 days", "allow touch(x *) everywhere, until it is revoked", "always", "change the arguments, and allow that once"} {
		a, got := r.ask("tools/call", canAll, call)
		shown := string(got.Requests[inputName].Params)
		for _, no := range []string{"everywhere", "in this session", "for 90 days", "change the arguments", "allow touch"} {
			if strings.Contains(shown, no) {
				t.Errorf("it offers %q:\n%s", no, shown)
			}
		}
		if !strings.Contains(shown, "allow it once") || !strings.Contains(shown, "toolcrib approvals show q-") {
			t.Errorf("%s", a.text)
		}
		for range maxTries {
			_, got = r.ask("tools/call", canAll, call+back(got.State, fmt.Sprintf(`{"approval":{"action":"accept","content":{"answer":%q,"arguments":"{\"n\":8}","by_rule":true}}}`, answer)))
		}
		if list := granted(); h.ran.Load() != 0 || len(list) != 0 {
			t.Fatalf("%q counts: ran %d times, remembered %+v", answer, h.ran.Load(), list)
		}
	}
	_, got := r.ask("tools/call", canAll, call)
	a, _ := r.ask("tools/call", canAll, call+back(got.State, `{"approval":{"action":"accept","content":{"answer":"allow it once","by_rule":true}}}`))
	if h.ran.Load() != 1 || len(granted()) != 0 {
		t.Errorf("ran %d times: %s", h.ran.Load(), a.text)
	}
}
