package main

import (
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
)

// TestToolbox holds the contract and the behaviour to the common suite;
// testdata/specs/text.json is what models will read.
func TestToolbox(t *testing.T) {
	cribtest.Toolbox(t, func(testing.TB) toolcrib.Toolbox { return box() })
}

func TestCount(t *testing.T) {
	for _, c := range []struct {
		text, unit string
		want       int
	}{
		{"to be or not to be", "words", 6},
		{"  to\tbe\n\nor ", "words", 3},
		{"", "words", 0},
		{"one\ntwo\n", "lines", 2},
		{"one\n\ntwo", "lines", 3},
		{"", "lines", 1},
		{"ärger, 2 × Ωmega", "letters", 10},
	} {
		if got := count(c.text, c.unit); got != c.want {
			t.Errorf("count(%q, %q) = %d, want %d", c.text, c.unit, got, c.want)
		}
	}
}

func TestRun(t *testing.T) {
	var out strings.Builder
	if err := run(t.Context(), []string{"to be or", "not to be"}, &out); err != nil {
		t.Fatal(err)
	}
	if got, want := out.String(), "6 words\n"; got != want {
		t.Errorf("it printed %q, want %q", got, want)
	}
	err := run(t.Context(), []string{strings.Repeat("a", 100_001)}, &out)
	if toolcrib.CodeOf(err) != toolcrib.CodeInvalid {
		t.Errorf("a text that is too long gave %v, want invalid", err)
	}
}
