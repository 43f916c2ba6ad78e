// Package meet says what two grants have in common: names and times. The core imports
// it. Its invariant: what it gives is in both.
package meet

import (
	"slices"
	"time"
)

// Times is the smaller of two times, zero being none.
func Times(a, b time.Duration) time.Duration {
	if a == 0 || (b != 0 && b < a) {
		return b
	}
	return a
}

// Both has every entry of two lists once.
func Both(a, b []string) []string {
	out := slices.Concat(a, b)
	slices.Sort(out)
	return slices.Compact(out)
}

// Names meets two sets of patterns pair by pair.
func Names(a, b []string, meet func(a, b string) (string, bool)) []string {
	var out []string
	for _, x := range a {
		for _, y := range b {
			if m, ok := meet(x, y); ok {
				out = append(out, m)
			}
		}
	}
	slices.Sort(out)
	out = slices.Compact(out)
	// A pattern already given by a wider one in the set adds nothing.
	return slices.DeleteFunc(slices.Clone(out), func(x string) bool {
		return slices.ContainsFunc(out, func(y string) bool {
			m, ok := meet(x, y)
			return x != y && ok && m == x
		})
	})
}

// Word meets two names, of which * is any.
func Word(a, b string) (string, bool) {
	switch {
	case a == b, b == "*":
		return a, true
	case a == "*":
		return b, true
	}
	return "", false
}
