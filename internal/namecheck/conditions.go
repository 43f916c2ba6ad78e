package namecheck

import (
	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/policy"
)

// unfit lists the conditions that fit no tool they are for.
func unfit(mentions []policy.Mention, specs []toolcrib.Entry) (out []Unmatched) {
	for _, m := range mentions {
		if !m.Conditional() {
			continue
		}
		var first error
		fits := 0
		for i := range specs {
			if !m.Means(&specs[i]) {
				continue
			}
			if err := m.CheckCondition(&specs[i]); err == nil {
				fits++
			} else if first == nil {
				first = err
			}
		}
		if fits == 0 && first != nil {
			out = append(out, Unmatched{Where: m.Where, Text: m.Text, Why: first.Error()})
		}
	}
	return out
}
