package desk

import (
	"testing"
	"time"
)

// TestCurrent: a question that was left open is one of now again once a call waits for it.
func TestCurrent(t *testing.T) {
	now := time.Now()
	for name, c := range map[string]struct {
		q    Question
		want bool
	}{
		"a draft":            {Question{State: Open}, true},
		"asked now":          {Question{State: Open, Asked: now}, true},
		"left open":          {Question{State: Open, Asked: now.Add(-time.Hour)}, false},
		"asked again":        {Question{State: Open, Asked: now.Add(-time.Hour), Waiting: 1}, true},
		"settled meanwhile":  {Question{State: Denied, Asked: now.Add(-time.Hour)}, true},
		"settled, and fresh": {Question{State: Allowed, Asked: now.Add(time.Second)}, true},
	} {
		if got := c.q.Current(now); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
