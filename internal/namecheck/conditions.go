package namecheck

import (
	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/policy"
)

// maxLooked bounds how often conditions are held against schemas: a project's file may
// have many, and nobody waits for a warning.
const maxLooked = 2000

// unfit lists the conditions that fit no tool they are for.
func unfit(mentions []policy.Mention, specs []toolcrib.Entry) (out []Unmatched) {
	looked := 0
	for _, m := range mentions {
		if !m.Conditional() {
			continue
		}
		var first error
		fits := false
		for i := range specs {
			if !m.Means(&specs[i]) {
				continue
			}
			if looked++; looked > maxLooked {
				return out
			}
			err := m.CheckCondition(&specs[i])
			if fits = err == nil; fits {
				break
			}
			if first == nil {
				first = err
			}
		}
		if !fits && first != nil {
			out = append(out, Unmatched{Where: m.Where, Text: m.Text, Why: first.Error()})
		}
	}
	return out
}
