package config

import (
	"strings"
)

// maxCompared bounds the cost of a comparison: no key worth suggesting is longer.
const maxCompared = 80

// Nearest gives the known word that the given one was most likely meant to be, or "". The first of equals wins.
func Nearest(word string, known []string) string {
	if len(word) > maxCompared {
		return ""
	}
	plain := fold(word)
	best, bestDistance := "", tolerance(plain)+1
	for _, candidate := range known {
		if len(candidate) > maxCompared {
			continue
		}
		if d := distance(plain, fold(candidate)); d < bestDistance {
			best, bestDistance = candidate, d
		}
	}
	return best
}

// fold removes the differences people do not notice: case, and the choice between - and _.
func fold(word string) []rune {
	return []rune(strings.ReplaceAll(strings.ToLower(word), "-", "_"))
}

// tolerance is the number of slips forgiven: about one in three letters, so that short words do not match everything.
func tolerance(word []rune) int {
	switch n := len(word); {
	case n <= 2:
		return 0
	case n <= 4:
		return 1
	case n <= 8:
		return 2
	default:
		return 3
	}
}

// distance counts the insertions, deletions, replacements and swaps of neighbours that turn a into b.
func distance(a, b []rune) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(row[j-1]+1, last[j]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}

// suggest names the key that an unknown one was most likely meant to be, or "". The same level is tried first; then the
// whole key among all keys, for a slip in an outer name; then the last name alone, for a key in the wrong block.
func suggest(root, level *field, parent, name string) string {
	if near := Nearest(name, level.names()); near != "" {
		return joinKey(parent, near)
	}
	all := root.keys()
	if near := Nearest(joinKey(parent, name), all); near != "" {
		return near
	}
	if names, err := splitKey(joinKey(parent, name)); err == nil && len(names) > 0 {
		last := make([]string, len(all))
		for i, key := range all {
			last[i] = key[strings.LastIndexByte(key, '.')+1:]
		}
		if near := Nearest(names[len(names)-1], last); near != "" {
			for i := range all {
				if last[i] == near {
					return all[i]
				}
			}
		}
	}
	return ""
}
