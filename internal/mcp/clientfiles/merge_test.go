package clientfiles

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestNarrowed: of two entries for one server, what both allow is left.
func TestNarrowed(t *testing.T) {
	tests := []struct {
		a, b Server
		want string
		off  bool
	}{
		{Server{}, Server{}, "", false},
		{Server{}, Server{DisabledTools: []string{"x"}, Timeout: time.Second}, "disabled_tools timeout", false},
		{Server{DisabledTools: []string{"x"}}, Server{DisabledTools: []string{"x"}}, "", false},
		{Server{EnabledTools: []string{"x", "y"}}, Server{EnabledTools: []string{"y", "z"}}, "enabled_tools", false},
		{Server{EnabledTools: []string{"x"}}, Server{EnabledTools: []string{"y"}}, "enabled_tools", true},
		{Server{Agents: []string{"a"}}, Server{Agents: []string{"b"}}, "assign_to_agents", true},
		{Server{}, Server{Agents: []string{"b"}}, "assign_to_agents", false},
		{Server{}, Server{Disabled: true}, "disabled", true},
		{Server{Disabled: true}, Server{}, "", true},
		{Server{Timeout: time.Second}, Server{Timeout: time.Minute}, "", false},
	}
	for _, tt := range tests {
		got, keys := tt.a.Narrowed(tt.b)
		if strings.Join(keys, " ") != tt.want || got.Disabled != tt.off {
			t.Errorf("%+v by %+v: %+v, %q", tt.a, tt.b, got, keys)
		}
	}
	names := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c"}), 0, 3)
	server := rapid.Custom(func(t *rapid.T) Server {
		return Server{EnabledTools: names.Draw(t, "enabled"), DisabledTools: names.Draw(t, "disabled"), Disabled: rapid.Bool().Draw(t, "off")}
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := server.Draw(t, "a"), server.Draw(t, "b")
		before := slices.Clone(a.DisabledTools)
		got, _ := a.Narrowed(b)
		for _, tool := range []string{"a", "b", "c", "d"} {
			if got.offers(tool) != (a.offers(tool) && b.offers(tool)) && !got.Disabled || got.offers(tool) && !b.offers(tool) {
				t.Fatalf("%s: %+v and %+v became %+v", tool, a, b, got)
			}
		}
		if !slices.Equal(before, a.DisabledTools) {
			t.Fatal("the server itself was changed")
		}
	})
}
