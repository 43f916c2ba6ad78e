package server

import "testing"

func TestMatchesName(t *testing.T) {
	for _, c := range []struct {
		name     string
		patterns []string
		want     bool
	}{
		{"claude-code", textOnly(), true},
		{"Claude-Code/2", textOnly(), true},
		{"codex-mcp-client", textOnly(), true},
		{"my-agent", textOnly(), false},
		{"my-agent", []string{"my-*"}, true},
		{"@org/agent", []string{"*"}, true},
		{"agent", []string{"my-*", "["}, true}, // what cannot be read
		{"", nil, false},
	} {
		if got := matchesName(c.patterns, c.name); got != c.want {
			t.Errorf("%q, %q: %v", c.name, c.patterns, got)
		}
	}
}
