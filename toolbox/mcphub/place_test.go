package mcphub

import "testing"

// TestDrop: a conversation's place is given up with its server, and not with one
// that came before it.
func TestDrop(t *testing.T) {
	b := &Box{instances: map[string]*instance{}}
	before, now := &instance{box: b, key: "a"}, &instance{box: b, key: "a"}
	b.instances["a"] = now
	b.drop(before)
	b.drop(&instance{box: b}) // the one that all share has no place
	if b.instances["a"] != now {
		t.Error("the place was taken from another server")
	}
	b.drop(now)
	if len(b.instances) != 0 {
		t.Error("the place is still taken")
	}
}
