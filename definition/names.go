package definition

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
)

// maxName is the longest name that every API takes.
const maxName = 64

// naming is what an API allows as a name: always letters, digits, underscores and dashes.
type naming struct {
	dots  bool // dots as well
	start bool // the first one is a letter or an underscore
}

func (n naming) allows(i int, c byte) bool {
	switch {
	case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '_':
		return true
	case c >= '0' && c <= '9', c == '-', c == '.' && n.dots:
		return i > 0 || !n.start
	}
	return false
}

func (n naming) fits(name string) bool {
	if name == "" || len(name) > maxName {
		return false
	}
	for i := range len(name) {
		if !n.allows(i, name[i]) {
			return false
		}
	}
	return true
}

// assign gives every name one that the API takes: itself where it fits, otherwise a likeness with a part of its hash, so
// that it stays the same whatever else is there. The outcome does not depend on the order of names.
func (n naming) assign(names []string) map[string]string {
	shown := make(map[string]string, len(names))
	taken := make(map[string]bool, len(names))
	var odd []string
	for _, name := range names {
		if n.fits(name) {
			shown[name] = name
			taken[name] = true
		} else {
			odd = append(odd, name)
		}
	}
	slices.Sort(odd)
	for _, name := range slices.Compact(odd) {
		sum := sha256.Sum256([]byte(name))
		hash := hex.EncodeToString(sum[:])
		// A longer part of the hash is for names made to collide. The whole of it leaves no room for a collision that
		// anyone could find.
		for _, digits := range []int{8, 16, 32, maxName - 1} {
			s := n.like(name, maxName-1-digits) + "_" + hash[:digits]
			if !taken[s] || digits == maxName-1 {
				shown[name] = s
				taken[s] = true
				break
			}
		}
	}
	return shown
}

// like keeps what it can of a name, at most so many bytes.
func (n naming) like(name string, room int) string {
	var b strings.Builder
	for i := 0; i < len(name) && b.Len() < room; i++ {
		switch c := name[i]; {
		case n.allows(b.Len(), c):
			b.WriteByte(c)
		case n.allows(1, c): // good, but not at the start
			b.WriteByte('_')
			if b.Len() < room {
				b.WriteByte(c)
			}
		case c < 0x80 || c >= 0xC0: // one mark a character, not one a byte
			b.WriteByte('_')
		}
	}
	return b.String()
}
