package secrets

// byteSet is a set of bytes.
type byteSet [4]uint64

func (b *byteSet) add(c byte)      { b[c>>6] |= 1 << (c & 63) }
func (b *byteSet) has(c byte) bool { return b[c>>6]&(1<<(c&63)) != 0 }

// setOf makes a set of bytes and of ranges of them, such as "a-z_".
func setOf(text string) *byteSet {
	set := &byteSet{}
	for i := 0; i < len(text); i++ {
		if i+2 < len(text) && text[i+1] == '-' {
			for c := int(text[i]); c <= int(text[i+2]); c++ {
				set.add(byte(c))
			}
			i += 2
			continue
		}
		set.add(text[i])
	}
	return set
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

func letter(c byte) bool   { return lower(c) >= 'a' && lower(c) <= 'z' }
func upper(c byte) bool    { return c >= 'A' && c <= 'Z' }
func digit(c byte) bool    { return c >= '0' && c <= '9' }
func wordByte(c byte) bool { return c == '_' || digit(c) || letter(c) }

// kebabByte: a byte of a name with dashes between its words.
func kebabByte(c byte) bool { return wordByte(c) || c == '-' }

func hexDigit(c byte) bool {
	return digit(c) || lower(c) >= 'a' && lower(c) <= 'f'
}

// endOf gives where those bytes end that begin at a place and that a test takes, at
// most so many.
func endOf(t string, from, most int, in func(c byte) bool) int {
	to := from
	for to < len(t) && to-from < most && in(t[to]) {
		to++
	}
	return to
}

// beginOf is endOf for the bytes before a place.
func beginOf(t string, to, most int, in func(c byte) bool) int {
	from := to
	for from > 0 && to-from < most && in(t[from-1]) {
		from--
	}
	return from
}

// hasFold is strings.HasPrefix for ASCII letters of any case; word is in lower
// case.
func hasFold(text, word string) bool {
	if len(text) < len(word) {
		return false
	}
	for i := range len(word) {
		if lower(text[i]) != word[i] {
			return false
		}
	}
	return true
}

// hasAnyFold is hasFold for several words.
func hasAnyFold(text string, words ...string) bool {
	for _, word := range words {
		if hasFold(text, word) {
			return true
		}
	}
	return false
}

// containsAnyFold is containsFold for several words.
func containsAnyFold(text string, words ...string) bool {
	for _, word := range words {
		if containsFold(text, word) {
			return true
		}
	}
	return false
}
