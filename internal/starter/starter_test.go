package starter_test

import (
	"testing"

	"github.com/toolcrib/toolcrib/internal/starter"
)

func TestOf(t *testing.T) {
	for name, want := range map[string]starter.Starter{"timeout": {Letters: "ks", Operands: 1}, "nice": {Letters: "n"}, "exec": {Letters: "a"}} {
		if got, ok := starter.Of(name); !ok || got != want {
			t.Errorf("%s: %+v, %v", name, got, ok)
		}
	}
	for _, name := range []string{"", "make", "git", "cat"} {
		if got, ok := starter.Of(name); ok {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
