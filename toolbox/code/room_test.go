package code

import (
	"context"
	"testing"
	"time"
)

// TestRoomOfOneself: who begins many sessions ends the own ones, and not those of others.
func TestRoomOfOneself(t *testing.T) {
	b := &Box{cfg: Config{Sessions: 3}, list: map[key]*session{}}
	begun := time.Now()
	add := func(subject, agent, name string) key {
		k := key{subject: subject, agent: agent, name: name}
		if err := b.makeRoom(k); err != nil {
			t.Fatal(err)
		}
		_, stop := context.WithCancel(t.Context())
		t.Cleanup(stop)
		begun = begun.Add(time.Second)
		b.list[k] = &session{used: begun, busy: make(chan struct{}, 1), stop: stop}
		return k
	}
	first := add("bob", "", "main")
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		add("ann", name, name)
	}
	if b.list[first] == nil || len(b.list) != 3 || b.list[key{subject: "ann", agent: "e", name: "e"}] == nil || b.list[key{subject: "ann", agent: "d", name: "d"}] == nil {
		t.Errorf("%v", b.list)
	}
	// Who has none gets the place of the one that was not used for the longest time.
	add("eve", "", "x")
	if b.list[first] != nil || len(b.list) != 3 {
		t.Errorf("%v", b.list)
	}
	for _, s := range b.list {
		s.busy <- struct{}{}
	}
	if err := b.makeRoom(key{subject: "ann"}); err == nil {
		t.Error("one that runs was ended")
	}
}
