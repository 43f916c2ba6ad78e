package server

import (
	"encoding/json"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/mcp"
)

// TestWhoHears: a change that is for one caller reaches the listeners of that caller
// only, in a session as in a request that listens; one for all reaches all.
func TestWhoHears(t *testing.T) {
	p := newPantry()
	s := New(Config{Crib: &toolcrib.Crib{Catalog: &toolcrib.Catalog{}}, Log: quiet(), Shelf: p}, toolcrib.Caller{Subject: "ann"})
	defer s.Close()
	all := func(string, string) bool { return true }
	one, two := newListener(toolcrib.Caller{Subject: "ann", Session: "1"}, all), newListener(toolcrib.Caller{Subject: "ann", Session: "2"}, all)
	defer s.listen(one)()
	defer s.listen(two)()
	sess := s.newSession(t.Context(), "1")
	defer sess.end()
	if sess.heard.caller.Session != "1" || sess.heard.caller.Subject != "ann" {
		t.Errorf("the session hears as %+v", sess.heard.caller)
	}
	params := json.RawMessage(`{"uri":"diary:///private"}`)
	s.announce(mcp.NotifyResource, params, func(c toolcrib.Caller) bool { return c.Session == "1" })
	s.announce(mcp.NotifyResources, nil, func(toolcrib.Caller) bool { return false })
	if got := one.drain(); len(got) != 1 || got[0].about != "diary:///private" {
		t.Errorf("the one it is for hears %v", got)
	}
	if got := two.drain(); len(got) != 0 {
		t.Errorf("another hears %v", got)
	}
	s.announce(mcp.NotifyTools, nil, nil)
	if len(one.drain()) != 1 || len(two.drain()) != 1 {
		t.Error("what is for all does not reach all")
	}
}
