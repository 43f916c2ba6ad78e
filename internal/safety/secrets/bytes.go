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

func hexDigit(c byte) bool {
	return digit(c) || lower(c) >= 'a' && lower(c) <= 'f'
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
