package find

import (
	"slices"
	"testing"
)

func TestTerms(t *testing.T) {
	for text, want := range map[string][]string{
		"Builds the Cafés builders": {"build", "the", "caf", "build"},
		"用户喜欢":                      {"用户", "户喜", "喜欢"},
		"v1.26":                     {"v", "1", "26"},
		"":                          nil,
	} {
		if got := Terms(text); !slices.Equal(got, want) {
			t.Errorf("%q: %q", text, got)
		}
	}
}
