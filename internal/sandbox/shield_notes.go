package sandbox

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/sensitive"
)

// madeNote is what there is to say about a file that a program made.
type madeNote struct {
	text   string
	danger sensitive.Danger
	stays  bool   // it was not set aside, so it takes effect unless somebody looks at it
	kind   string // what such files are called, for the count of those that are left out
}

const (
	maxMade  = 10 // notes of one kind of finding
	maxAlike = 3  // of them, on files of one name while others wait
	maxKinds = 12 // names in the count of the rest
)

// listNotes puts the most dangerous first, counts the ones that there is no room for,
// and names them by kind. A program decides how many files it makes, and under which
// names, so none of them may push another out of sight.
func listNotes(notes []madeNote, rest string) []string {
	slices.SortStableFunc(notes, func(a, b madeNote) int {
		return cmp.Or(cmp.Compare(b.danger, a.danger), boolFirst(a.stays, b.stays))
	})
	var list []string
	var left []madeNote
	alike := map[string]int{}
	for _, n := range notes {
		if alike[n.kind]++; len(list) < maxMade && (n.kind == "" || alike[n.kind] <= maxAlike) {
			list = append(list, n.text)
		} else {
			left = append(left, n)
		}
	}
	for len(list) < maxMade && len(left) > 0 {
		list, left = append(list, left[0].text), left[1:]
	}
	if len(left) > 0 {
		list = append(list, fmt.Sprintf("%d more %s%s", len(left), rest, kinds(left)))
	}
	return list
}

// boolFirst puts what is true before what is not.
func boolFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// kinds counts notes by kind, the most dangerous first.
func kinds(notes []madeNote) string {
	count, named := map[string]int{}, []string{}
	for _, n := range notes {
		if n.kind == "" {
			return ""
		}
		if count[n.kind]++; count[n.kind] == 1 {
			named = append(named, n.kind)
		}
	}
	var parts []string
	others := 0
	for i, kind := range named {
		if i >= maxKinds {
			others += count[kind]
			continue
		}
		parts = append(parts, fmt.Sprintf("%d %s", count[kind], kind))
	}
	if others > 0 {
		parts = append(parts, fmt.Sprintf("%d others", others))
	}
	return " (" + strings.Join(parts, ", ") + ")"
}
