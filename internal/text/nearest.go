package text

import "strings"

// Comparing two words costs the product of their lengths, and the words come
// from people, models and strangers: longer ones are not worth a suggestion, and
// with too many candidates none is looked for.
const (
	longestWord   = 80
	maxCandidates = 4096
)

// Nearest gives the known word that a mistyped one was most likely meant to be,
// or nothing. Case and separators do not count. The beginning or the end of a
// known word is near it as well: expr for expression, path for file_path. Of
// equals the one that is spelled more alike wins, then the first.
func Nearest(word string, known []string) string {
	if len(word) > longestWord || len(known) > maxCandidates {
		return ""
	}
	given := foldWord(word)
	best, least, slips := "", tolerance(len(given))+1, 0
	for _, candidate := range known {
		if len(candidate) > longestWord || candidate == "" {
			continue
		}
		d := wordDistance(given, foldWord(candidate))
		if d > least || d == least && best == "" {
			continue
		}
		if exact := distance([]rune(word), []rune(candidate)); d < least || exact < slips {
			best, least, slips = candidate, d, exact
		}
	}
	return best
}

// foldWord drops what writers of names disagree on.
func foldWord(word string) []rune {
	return []rune(strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == '.' || r == ' ' {
			return -1
		}
		return r
	}, strings.ToLower(word)))
}

// tolerance is the number of slips forgiven: about one in three letters, so that
// short words do not match everything, and never more than three, so that of two
// long ones more than the beginning must be alike.
func tolerance(letters int) int {
	switch {
	case letters <= 2:
		return 0
	case letters <= 4:
		return 1
	case letters <= 8:
		return 2
	}
	return 3
}

// wordDistance counts slips, and takes a part of a known word for little more
// than one slip. Not the other way round: of journal.network, journal is no slip.
func wordDistance(given, known []rune) int {
	d := distance(given, known)
	if d > 1 && len(given) >= 3 && (strings.HasPrefix(string(known), string(given)) || strings.HasSuffix(string(known), string(given))) {
		return 1 + (len(known)-len(given))/16
	}
	return d
}

// distance counts the insertions, deletions, replacements and swaps of
// neighbours that turn a into b.
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
