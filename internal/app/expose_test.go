package app

import (
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/exposed"
	"github.com/toolcrib/toolcrib/internal/settings"
)

// TestCostOf: every tool that is shown has its cost in every form, and names its box.
func TestCostOf(t *testing.T) {
	a := openWith(t, settings.Defaults(), t.TempDir())
	shown := a.Shown(toolcrib.Caller{})
	for _, format := range exposed.CostFormats() {
		costs, err := exposed.CostOf(format, shown)
		if err != nil || len(costs) != len(shown) || len(costs) == 0 {
			t.Fatalf("%s: %d tools, %d costs, %v", format, len(shown), len(costs), err)
		}
		for _, c := range costs {
			if c.Tool == "" || c.Box == "" || c.Tokens <= 0 {
				t.Errorf("%s: %+v", format, c)
			}
		}
	}
	if _, err := exposed.CostOf("cobol", shown); err == nil {
		t.Error("a form that nobody knows has a cost")
	}
}
