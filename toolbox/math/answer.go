package math

import (
	"cmp"
	"math"
	"slices"
)

// answer is what is known about the solutions of an equation.
type answer struct {
	identity bool  // every x is one
	roots    []num // exact solutions
	floats   []float64
	numeric  bool // floats were used on the way, if only to undo a function
	scanned  bool // there was a search; what lies outside it is not known
	notes    []string
}

// join adds the solutions of another equation.
func (a *answer) join(b answer) {
	a.identity = a.identity || b.identity
	a.roots = append(a.roots, b.roots...)
	a.floats = append(a.floats, b.floats...)
	a.numeric = a.numeric || b.numeric
	a.scanned = a.scanned || b.scanned
	for _, n := range b.notes {
		if !slices.Contains(a.notes, n) {
			a.notes = append(a.notes, n)
		}
	}
}

// list gives the solutions of an answer in ascending order, with closed
// forms where they are known, and whether one was out of range.
func (a *answer) list() (xs []float64, forms []string, huge bool) {
	type entry struct {
		x    float64
		form string
	}
	var all []entry
	for _, r := range a.roots {
		x := r.v.hi
		if !finite(x) {
			huge = true
			continue
		}
		e := entry{x + 0, r.form.text}
		if a.numeric {
			// Digits that were not searched for are not claimed, but small
			// and large numbers keep all of theirs.
			if m := math.Abs(x); m >= 1e-3 && m <= scanTo {
				if y, err := pyRound(x, 10); err == nil {
					e.x = y + 0
				}
			}
		}
		all = append(all, e)
	}
	for _, x := range a.floats {
		all = append(all, entry{x, ""})
	}
	slices.SortStableFunc(all, func(p, q entry) int { return cmp.Compare(p.x, q.x) })
	for i, e := range all {
		if i > 0 && same(all[i-1].x, e.x, a.numeric) {
			continue
		}
		xs, forms = append(xs, e.x), append(forms, e.form)
	}
	return xs, forms, huge
}

// same says whether two solutions are one: exactly, or nearly if they were
// found by searching.
func same(a, b float64, numeric bool) bool {
	return a == b || numeric && math.Abs(a-b) < sameRoot && math.Abs(a) > 1e-3
}

func nextUp(x float64) float64   { return math.Nextafter(x, math.Inf(1)) }
func nextDown(x float64) float64 { return math.Nextafter(x, math.Inf(-1)) }
