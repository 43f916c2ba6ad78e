package app

import (
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/settings"
)

// TestCostOf: every tool that is shown has its cost, and names its box.
func TestCostOf(t *testing.T) {
	a := openWith(t, settings.Defaults(), t.TempDir())
	shown := a.Shown(toolcrib.Caller{})
	costs, err := CostOf(shown)
	if err != nil || len(costs) != len(shown) || len(costs) == 0 {
		t.Fatalf("%d tools, %d costs, %v", len(shown), len(costs), err)
	}
	for _, c := range costs {
		if c.Tool == "" || c.Box == "" || c.Tokens <= 0 {
			t.Errorf("%+v", c)
		}
	}
}
