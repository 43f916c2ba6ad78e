package guard

import (
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
)

// at is a clock that has stopped at an hour.
func at(hour int) func() time.Time {
	return func() time.Time { return time.Date(2026, time.March, 1, hour, 59, 0, 0, time.UTC) }
}

func review(effects toolcrib.Effects) toolcrib.Review {
	return toolcrib.Review{
		Call:  toolcrib.Call{Tool: "order", Caller: toolcrib.Caller{Subject: "ann"}},
		Spec:  toolcrib.Entry{Spec: toolcrib.Spec{Name: "order", Effects: effects}},
		Input: []byte(`{"loaves":2}`),
	}
}

func TestGuard(t *testing.T) {
	cribtest.Guard(t, func(testing.TB) toolcrib.Guard {
		return Hours{From: 8, To: 18, Now: at(22)}
	}, review(toolcrib.Writes), review(0))
}

func TestHours(t *testing.T) {
	for _, c := range []struct {
		hour    int
		effects toolcrib.Effects
		asked   bool
	}{
		{7, toolcrib.Writes, true},
		{8, toolcrib.Writes, false},
		{17, toolcrib.Reads | toolcrib.Network, false},
		{18, toolcrib.Reads | toolcrib.Network, true},
		{22, toolcrib.Reads, false},
		{22, toolcrib.Pure, false},
		{22, 0, true}, // undeclared counts as everything
	} {
		v, err := Hours{From: 8, To: 18, Now: at(c.hour)}.Judge(t.Context(), review(c.effects))
		if err != nil || (v != nil) != c.asked || v != nil && v.Decision != toolcrib.Ask {
			t.Errorf("%s at %d: %+v, %v", c.effects, c.hour, v, err)
		}
	}
	if v, err := (Hours{}).Judge(t.Context(), review(toolcrib.Writes)); err != nil || v == nil {
		t.Errorf("the zero value says %v, %v", v, err)
	}
}
