package secrets

import (
	"compress/flate"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// A value that was compressed has no form to look for: what gzip writes depends on all that
// stands before it. So streams are found by how they begin, in the letters that programs
// write bytes in, and unpacked. A stream that holds a value is taken out as a whole.

// packing is a way in which a stream is written.
type packing uint8

const (
	notPacked   packing = iota
	packedRaw           // the bytes themselves
	packed64            // base64
	packedHex           // two hex digits a byte
	packedWords         // od -x: four digits, the last byte first
	packedOctal         // od: six octal digits, the last byte first
	packedOct           // od -b: three octal digits a byte
	packedDec           // od -tu1: numbers
)

// packedHeads are how streams begin: the first bytes of gzip, and of zlib with each of its
// levels, in each of the ways. Base64 of zlib has one letter more, of which two bits are known.
func packedHeads() map[packing][]string {
	heads := map[packing][]string{
		packed64:    {"H4sI"},
		packedHex:   {"1f8b08", "7801", "785e", "789c", "78da"},
		packedWords: {"8b1f", "0178", "5e78", "9c78", "da78"},
		packedOctal: {"105437", "000570", "057170", "116170", "155170"},
		packedOct:   {"037213010", "170001", "170136", "170234", "170332"},
		packedDec:   {"311398", "1201", "12094", "120156", "120218"},
	}
	for begin, thirds := range map[string]string{"eA": "EFGH", "eF": "4567", "eJ": "wxyz", "eN": "opqr"} {
		for _, third := range thirds {
			heads[packed64] = append(heads[packed64], begin+string(third))
		}
	}
	return heads
}

// packedKeys gives the keys under which the beginnings are found in a pass over a text.
func packedKeys() map[uint32]packing {
	keys := map[uint32]packing{}
	for how, heads := range packedHeads() {
		for _, h := range heads {
			if len(h) >= head {
				key, _ := headOf(h)
				keys[key] = how
				continue
			}
			for _, last := range "abcdefghijklmnopqrstuvwxyz0123456789" {
				key, _ := headOf(h + string(last))
				keys[key] = how
			}
		}
	}
	return keys
}

// The bounds of the work on one text. They count for all of its streams together: each of many
// beginnings may be one of a stream that goes on to the end of the text.
const (
	packedTries  = 1024
	packedLeast  = 20      // letters that a stream has at least
	packedTimes  = 4       // how often the letters of a text are read
	packedIn     = 4 << 20 // letters that are read
	packedOut    = 4 << 20 // bytes that are unpacked
	packedTry    = 32      // letters that a try counts for at least
	packedFields = 4 << 10 // bytes of the name, the comment or the other fields of gzip
)

// unpacking is what is left of the work on one text.
type unpacking struct {
	in, out, tries int
	flated         io.ReadCloser
}

func unpackingOf(text string) unpacking {
	return unpacking{in: min(packedTimes*len(text), packedIn), out: packedOut, tries: packedTries}
}

// packedPlace is where a stream may begin.
type packedPlace struct {
	at  int
	how packing
}

// rawStreams adds the places where streams are written as they are, and sorts all of them. No
// stream is UTF-8.
func rawStreams(places []packedPlace, text string) []packedPlace {
	if utf8.ValidString(text) {
		return places
	}
	for _, begin := range [...]string{"\x1f\x8b\x08", "x\x9c", "x\xda", "x\x01"} {
		for from := 0; len(places) < packedTries; {
			n := strings.Index(text[from:], begin)
			if n < 0 {
				break
			}
			if packedRaw.opens(text, from+n) {
				places = append(places, packedPlace{from + n, packedRaw})
			}
			from += n + 1
		}
	}
	slices.SortFunc(places, func(a, b packedPlace) int { return a.at - b.at })
	return places
}

// unpacked adds the streams of a text that hold a value. A try that fails leaves the next ones
// their chance: a false beginning before a stream must not hide it.
func (k *Known) unpacked(found []Finding, text string, places []packedPlace, left *unpacking) []Finding {
	done := 0
	for _, p := range places {
		if p.at < done {
			continue
		}
		if left.in <= 0 || left.out <= 0 || left.tries <= 0 {
			break
		}
		r := packedReader{text: text, at: p.at, how: p.how, most: p.at + left.in}
		plain, whole := r.unpack(left)
		left.in -= max(r.at-p.at, packedTry)
		left.out -= len(plain)
		left.tries--
		if len(plain) >= head && len(k.parts.find(k.match(nil, plain, nil), plain)) > 0 {
			found = append(found, Finding{Start: p.at, End: r.end(whole), Rule: RuleKnown})
			done = r.to
		} else if whole {
			done = r.to
		}
	}
	return found
}

// unpack gives what a stream holds, and whether it was read to its end. Of one that is cut off it
// is what there is.
func (r *packedReader) unpack(left *unpacking) (plain string, whole bool) {
	if !r.header() {
		return "", false
	}
	if left.flated == nil {
		left.flated = flate.NewReader(r)
	} else if err := left.flated.(flate.Resetter).Reset(r, nil); err != nil {
		return "", false
	}
	var out strings.Builder
	n, err := io.Copy(&out, io.LimitReader(left.flated, int64(left.out)))
	return out.String(), err == nil && int(n) < left.out
}

// header goes past the head of gzip or zlib.
func (r *packedReader) header() bool {
	var b [10]byte
	if !r.fill(b[:2]) {
		return false
	}
	if b[0] == 0x78 {
		return (int(b[0])<<8|int(b[1]))%31 == 0
	}
	if b[0] != 0x1f || b[1] != 0x8b || !r.fill(b[2:]) || b[2] != 8 || b[3]&0xe0 != 0 {
		return false
	}
	flags := b[3]
	if flags&4 != 0 { // extra fields
		if !r.fill(b[:2]) {
			return false
		}
		size := int(b[0]) + int(b[1])<<8
		if size > packedFields || !r.fill(make([]byte, size)) {
			return false
		}
	}
	for _, flag := range [...]byte{8, 16} { // a name, a comment
		for n := 0; flags&flag != 0; n++ {
			if !r.fill(b[:1]) || n > packedFields {
				return false
			}
			if b[0] == 0 {
				break
			}
		}
	}
	return flags&2 == 0 || r.fill(b[:2])
}

// block reports whether the first block of what is compressed may be one.
func (r *packedReader) block() bool {
	var b [5]byte
	if !r.fill(b[:2]) {
		return false
	}
	switch b[0] >> 1 & 3 {
	case 0: // as it is: its size, and the same with every bit turned
		return r.fill(b[2:]) && b[1] == ^b[3] && b[2] == ^b[4]
	case 1: // with the usual codes
		return true
	case 2: // with codes of its own, of which there are 286 and 30 at most
		return b[0]>>3 <= 29 && b[1]&31 <= 29
	}
	return false
}

// begins reports whether a stream in this way may begin at a place. In base64 the letters count as
// they are; a number begins where no other one ends.
func (p packing) begins(text string, at int) bool {
	if p == packed64 {
		rest := text[at:]
		if !strings.HasPrefix(rest, "H4sI") && (len(rest) <= head || rest[0] != 'e' || !strings.Contains("AE AF AG AH F4 F5 F6 F7 Jw Jx Jy Jz No Np Nq Nr", rest[1:3])) {
			return false
		}
	} else if at > 0 && hexDigit(text[at-1]) || endOf(text, at, packedLeast, func(c byte) bool { return hexDigit(c) || bytesSign(c) })-at < packedLeast {
		return false // no stream is as short as the numbers of a text
	}
	return p.opens(text, at)
}

// opens looks at the first bytes, as far as they are within reach: most of what looks like the
// beginning of a stream is none by them, and is not unpacked.
func (p packing) opens(text string, at int) bool {
	const reach = 256
	r := packedReader{text: text, at: at, how: p, most: at + reach}
	return r.header() && r.block() || r.at >= r.most
}
