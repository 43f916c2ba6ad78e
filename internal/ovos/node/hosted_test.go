package node

import (
	"slices"
	"testing"
)

// TestHostedFollowsWhatThereIs: what is ours on the bus is what is there now.
func TestHostedFollowsWhatThereIs(t *testing.T) {
	boxes := []string{"files"}
	var h Hosted
	if h.Has("ovos-filesystem-tools", "") {
		t.Error("it does not host yet")
	}
	h.begin("us", func() []string { return boxes }, map[string]bool{"web": true})
	for range 2 {
		for id, want := range map[string]bool{
			"ovos-filesystem-tools": true, "ovos-math-tools": slices.Contains(boxes, "math"), "files": false,
			"ovos-web-search-tools": false, // it is off here, and may be somebody else's
		} {
			if h.Has(id, "another") != want {
				t.Errorf("%s with %q: %v", id, boxes, !want)
			}
		}
		if h.Has("ovos-web-search-tools", "us") != slices.Contains(boxes, "web") {
			t.Error("what stands in for a box of ours is taken for another's")
		}
		boxes = append(boxes, "math", "web")
	}
	h.end()
	if h.Has("ovos-filesystem-tools", "us") {
		t.Error("it hosts no more")
	}
}
