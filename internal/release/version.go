package release

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

// A Version is one of Semantic Versioning with a v before it, as Go has them.
type Version struct {
	text string
	core [3]uint64
	pre  []string // empty: a release
}

// String is the version as it was written.
func (v Version) String() string { return v.text }

// ParseVersion reads a version such as v1.2.3, v1.2.3-rc.1 or one that Go made
// from a commit. What stands behind a plus says how it was built and counts for
// nothing.
func ParseVersion(text string) (Version, error) {
	bad := fmt.Errorf("%.80q is not a version such as v1.2.3", text)
	rest, ok := strings.CutPrefix(text, "v")
	if !ok || len(text) > 120 || !plainName(text) || strings.Contains(text, "~") || strings.Contains(text, "_") {
		return Version{}, bad
	}
	v := Version{text: text}
	rest, _, _ = strings.Cut(rest, "+")
	rest, pre, isPre := strings.Cut(rest, "-")
	numbers := strings.Split(rest, ".")
	if len(numbers) != 3 {
		return Version{}, bad
	}
	for i, n := range numbers {
		if !isNumber(n) {
			return Version{}, bad
		}
		var err error
		if v.core[i], err = strconv.ParseUint(n, 10, 64); err != nil {
			return Version{}, bad
		}
	}
	if isPre {
		v.pre = strings.Split(pre, ".")
		for _, part := range v.pre {
			if part == "" || part[0] == '0' && len(part) > 1 && isDigits(part) {
				return Version{}, bad
			}
		}
	}
	return v, nil
}

// Compare is negative where v is older than other, and positive where it is newer.
func (v Version) Compare(other Version) int {
	for i := range v.core {
		if c := cmp.Compare(v.core[i], other.core[i]); c != 0 {
			return c
		}
	}
	switch {
	case len(v.pre) == 0 && len(other.pre) == 0:
		return 0
	case len(v.pre) == 0:
		return 1
	case len(other.pre) == 0:
		return -1
	}
	for i := range min(len(v.pre), len(other.pre)) {
		if c := comparePart(v.pre[i], other.pre[i]); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(v.pre), len(other.pre))
}

// comparePart: numbers by their value, before words, which go by their letters.
func comparePart(a, b string) int {
	switch x, y := isDigits(a), isDigits(b); {
	case x && y:
		return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) // no zeros in front
	case x:
		return -1
	case y:
		return 1
	}
	return cmp.Compare(a, b)
}

func isNumber(s string) bool { return isDigits(s) && (s == "0" || s[0] != '0') }

func isDigits(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool { return r < '0' || r > '9' })
}
