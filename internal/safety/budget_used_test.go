package safety

import (
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
)

func TestBudgetUsed(t *testing.T) {
	clock := &cribtest.Clock{}
	b := newBudget(t, clock, []BudgetLimit{{Name: "all", Per: time.Hour, Calls: 10}, {Name: "each", Each: []string{"subject"}, Per: time.Hour, Calls: 4}, {Name: "rate", Rate: 60, Burst: 100}})
	fits(t, b, toolcrib.Caller{Subject: "ann"}, toolcrib.Entry{}, 2)
	fits(t, b, toolcrib.Caller{Subject: "bob"}, toolcrib.Entry{}, 3)
	used := b.Used()
	if used["all"] != 0.5 || used["each"] != 0.75 || used["rate"] != 0 || len(used) != 3 {
		t.Errorf("%v", used)
	}
	clock.Advance(2 * time.Hour)
	if used = b.Used(); used["all"] != 0 || used["each"] != 0 {
		t.Errorf("what is over still counts: %v", used)
	}
}
