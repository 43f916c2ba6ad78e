package text

// IsData reports whether a run of base64 is one that nobody reads: a picture, a page,
// a file. It is long, and has most of the letters.
func IsData(run string) bool {
	if len(run) < dataLeast {
		return false
	}
	var seen [256]bool
	letters := 0
	for i := range len(run) {
		if !seen[run[i]] {
			if seen[run[i]], letters = true, letters+1; letters == variedLeast {
				return true
			}
		}
	}
	return false
}

const (
	dataLeast   = 512
	variedLeast = 45 // of 64
)

// Base64Run gives the run of letters of base64, plain or for addresses, that a place
// in a text lies in. It is empty where there is none.
func Base64Run(s string, at int) (from, to int) {
	from, to = at, at
	for from > 0 && inBase64(s[from-1]) {
		from--
	}
	for to < len(s) && inBase64(s[to]) {
		to++
	}
	for i := 0; i < 2 && to > from && to < len(s) && s[to] == '='; i++ { // only at its end: before it stands a name
		to++
	}
	return from, to
}

func inBase64(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '+' || c == '/' || c == '_' || c == '-'
}

// HasData reports whether there is such a run in a text.
func HasData(s string) bool {
	for at := 0; at < len(s); {
		from, to := Base64Run(s, at)
		if IsData(s[from:to]) {
			return true
		}
		at = max(to, at) + 1
	}
	return false
}
