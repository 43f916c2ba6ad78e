package lineage

import (
	"slices"
	"testing"
)

func TestLineage(t *testing.T) {
	for _, tt := range []struct {
		agent    string
		names    []string
		delegate bool
		root     string
	}{
		{"", []string{""}, false, ""},
		{"lead", []string{"lead"}, false, "lead"},
		{"lead/helper", []string{"lead", "helper"}, true, "lead"},
		{"/helper", []string{"", "helper"}, true, ""},
		{"/", []string{"", ""}, true, ""},
		{"a/b/c", []string{"a", "b", "c"}, true, "a"},
	} {
		if got := Names(tt.agent); !slices.Equal(got, tt.names) || Delegate(tt.agent) != tt.delegate || Root(tt.agent) != tt.root {
			t.Errorf("%q: %q, %v, %q", tt.agent, got, Delegate(tt.agent), Root(tt.agent))
		}
	}
	if Under("lead", "helper") != "lead/helper" || Under("", "helper") != "/helper" {
		t.Error("Under")
	}
}
