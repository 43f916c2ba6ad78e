package text

import (
	"strings"
	"testing"
)

func TestCountBlanks(t *testing.T) {
	for s, want := range map[string]string{
		"": "", "a b": "a b", "a" + strings.Repeat(" ", 8) + "b": "a        b", "a" + strings.Repeat(" ", 9) + "b": "a[U+0020*9]b", strings.Repeat(" ", 3000): "[U+0020*3000]", "ä  " + strings.Repeat("é", 3): "ä  ééé",
	} {
		if got := CountBlanks(s); got != want {
			t.Errorf("%q: %q, want %q", s, got, want)
		}
	}
}
