package secrets

import (
	"io"
	"strings"
)

// packedReader reads the bytes of a stream from the letters that they are written in, one by one,
// so that no more of the text is looked at than is unpacked.
type packedReader struct {
	text string
	at   int // the next letter
	to   int // the end of the last byte
	most int // where reading ends, whatever follows
	how  packing

	bits, have uint // of base64
	second     byte // of a word of two bytes
	waiting    bool // it is the next byte
	over       bool // the last number was the last one
}

// ReadByte gives the next byte.
func (r *packedReader) ReadByte() (byte, error) {
	var c byte
	ok := false
	switch r.how {
	case packedRaw:
		if ok = r.more(); ok {
			c = r.text[r.at]
			r.at++
			r.to = r.at
		}
	case packed64:
		c, ok = r.sextets()
	case packedHex:
		c, ok = r.digits()
	default:
		c, ok = r.word()
	}
	if !ok {
		return 0, io.EOF
	}
	return c, nil
}

// Read gives the next bytes.
func (r *packedReader) Read(b []byte) (int, error) {
	for i := range b {
		c, err := r.ReadByte()
		if err != nil {
			return i, err
		}
		b[i] = c
	}
	return len(b), nil
}

// fill reads so many bytes, or reports that there are fewer.
func (r *packedReader) fill(b []byte) bool {
	n, _ := r.Read(b)
	return n == len(b)
}

func (r *packedReader) more() bool { return r.at < len(r.text) && r.at < r.most }

// end gives where a stream that holds a value ends: with the letters that may belong to it, also
// behind a byte that is wrong. Bytes as they are end with the stream, if that has an end.
func (r *packedReader) end(whole bool) int {
	r.most = len(r.text)
	if whole && r.how == packedRaw {
		const sum = 8 // of gzip, with the size
		r.to = min(len(r.text), r.to+sum)
		return r.to
	}
	for _, err := r.ReadByte(); err == nil; _, err = r.ReadByte() {
	}
	for r.how == packed64 && r.to < len(r.text) && r.text[r.to] == '=' {
		r.to++
	}
	return r.to
}

// sextets reads base64, also that for addresses and in strings of several lines.
func (r *packedReader) sextets() (byte, bool) {
	for ; r.more(); r.at++ {
		c := r.text[r.at]
		var six byte
		switch {
		case upper(c):
			six = c - 'A'
		case letter(c):
			six = c - 'a' + 26
		case digit(c):
			six = c - '0' + 52
		case c == '+' || c == '-':
			six = 62
		case c == '/' || c == '_':
			six = 63
		case c == '\\' && r.at+1 < len(r.text) && (r.text[r.at+1] == 'n' || r.text[r.at+1] == 'r'):
			r.at++
			continue
		case space(c) || c == '"' || c == '\'' || c == ',' || c == '\\':
			continue
		default:
			return 0, false
		}
		r.bits, r.have = r.bits<<6|uint(six), r.have+6
		r.to = r.at + 1
		if r.have >= 8 {
			r.have -= 8
			r.at++
			return byte(r.bits >> r.have), true
		}
	}
	return 0, false
}

// digits reads two hex digits a byte, with or without signs between them.
func (r *packedReader) digits() (byte, bool) {
	half, high := false, byte(0)
	for ; r.more(); r.at++ {
		c := r.text[r.at]
		switch {
		case hexDigit(c) && half:
			r.at++
			r.to = r.at
			return high | nibble(c), true
		case c == '0' && r.at+1 < len(r.text) && r.text[r.at+1] == 'x':
			r.at++
		case hexDigit(c):
			half, high = true, nibble(c)<<4
		case !bytesSign(c):
			return 0, false
		}
	}
	return 0, false
}

// word reads numbers with space between them.
func (r *packedReader) word() (byte, bool) {
	if r.waiting {
		r.waiting = false
		return r.second, true
	}
	base, most, size := 16, 4, 2
	switch r.how {
	case packedOctal:
		base, most = 8, 6
	case packedOct:
		base, most, size = 8, 3, 1
	case packedDec:
		base, most, size = 10, 3, 1
	}
	for !r.over && r.more() && gapOfNumbers(r.text[r.at]) {
		r.at++
	}
	n, digits := 0, 0
	for !r.over && r.more() && digits < most && hexDigit(r.text[r.at]) && int(nibble(r.text[r.at])) < base {
		n, digits = n*base+int(nibble(r.text[r.at])), digits+1
		r.at++
	}
	if digits == 0 {
		return 0, false
	}
	r.to = r.at
	r.over = r.more() && !gapOfNumbers(r.text[r.at])
	r.second, r.waiting = byte(n>>8), size == 2
	return byte(n), true
}

func gapOfNumbers(c byte) bool { return space(c) || c == ',' }

// bytesSign: it may stand between the digits of two bytes.
func bytesSign(c byte) bool { return space(c) || strings.IndexByte(`:,"'\x-`, c) >= 0 }

func nibble(c byte) byte {
	if digit(c) {
		return c - '0'
	}
	return lower(c) - 'a' + 10
}
