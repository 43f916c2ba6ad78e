package agents

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/settings"
)

// TestWhatWasReadGoesAlong: who goes on with a conversation reads again what it read from
// outside. So that counts for a session that is resumed or branched, in another process
// too, and for none that is branched off before.
func TestWhatWasReadGoesAlong(t *testing.T) {
	p := open(t, settings.Config{Mode: "yolo", Agents: map[string]settings.Agent{"one": {Model: "small"}}})
	p.script("small", say("hello"), use("1", "look", none{}), say("seen"))
	var carried []string
	p.needs.Read = func(toolcrib.Caller) (private, untrusted string) {
		if len(p.calls()) > 0 {
			return "files/read_file", "web/fetch_page"
		}
		return "", ""
	}
	p.needs.Carry = func(c toolcrib.Caller, private, untrusted string) {
		carried = append(carried, c.Session+" "+private+" "+untrusted)
	}
	s := p.session(t, Options{Caller: as("one")})
	turn(t, s, "hello")
	turn(t, s, "look at it")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if len(carried) > 0 {
		t.Errorf("a new session has read %v", carried)
	}
	reopen := func(id string) {
		t.Helper()
		again := p.session(t, Options{Caller: ann, Resume: id})
		if err := again.Close(); err != nil {
			t.Fatal(err)
		}
	}
	reopen(s.ID())
	branch := func(turns int) string {
		t.Helper()
		info, err := p.store.Branch(Owner(ann), s.ID(), turns)
		if err != nil {
			t.Fatal(err)
		}
		return info.ID
	}
	whole, early := branch(-1), branch(1)
	reopen(whole)
	reopen(early)
	const read = " files/read_file web/fetch_page"
	if diff := cmp.Diff([]string{s.ID() + read, whole + read}, carried); diff != "" {
		t.Error(diff)
	}
}
