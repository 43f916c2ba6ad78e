// Package callid makes and checks the IDs of calls.
package callid

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib/internal/text"
)

// Longest bounds an ID.
const Longest = 256

// New makes a call ID: a UUID version 7, so that IDs sort by time.
func New(now time.Time) string {
	var b [16]byte
	// Read never fails: since Go 1.24 it ends the process instead.
	_, _ = rand.Read(b[6:])
	ms := uint64(now.UnixMilli())
	for i := range 6 {
		b[i] = byte(ms >> (40 - 8*i))
	}
	b[6] = b[6]&0x0f | 0x70
	b[8] = b[8]&0x3f | 0x80
	var s [36]byte
	hex.Encode(s[0:8], b[0:4])
	hex.Encode(s[9:13], b[4:6])
	hex.Encode(s[14:18], b[6:8])
	hex.Encode(s[19:23], b[8:10])
	hex.Encode(s[24:36], b[10:16])
	s[8], s[13], s[18], s[23] = '-', '-', '-', '-'
	return string(s[:])
}

// Check refuses IDs that cannot be shown and compared safely.
func Check(id string) error {
	if len(id) > Longest {
		return fmt.Errorf("the call ID has %d bytes; at most %d are taken", len(id), Longest)
	}
	if !utf8.ValidString(id) || strings.ContainsFunc(id, unshown) {
		return errors.New("the call ID has characters that cannot be shown; use letters, digits and signs")
	}
	return nil
}

// unshown reports whether a letter has no shape of its own: two IDs that differ in
// it look the same. Spaces other than the plain one are among them.
func unshown(r rune) bool {
	return !unicode.IsPrint(r) || text.Invisible(r)
}
