package files

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Which places an edit means, beside a number from 1 on.
const (
	everywhere = 0
	unique     = -1
)

// replace puts a text in place of another in the bytes of a file and leaves
// every other byte as it is.
func replace(data []byte, oldText, newText string, which int) ([]byte, int, error) {
	places, size, to, err := locate(data, oldText, newText, which)
	if err != nil {
		return nil, 0, err
	}
	return splice(data, places, size, to), len(places), nil
}

// locate finds where a text stands that is to be replaced, how many bytes it
// has there, and what is to stand there instead. Both texts take the form that
// text has in the file: its encoding, and its line ends where the caller writes
// plain newlines.
func locate(data []byte, oldText, newText string, which int) (places []int, size int, to []byte, err error) {
	for _, f := range forms(data, oldText) {
		from, err := f.bytes(oldText)
		if err != nil {
			continue
		}
		places := f.find(data, from)
		if len(places) == 0 {
			continue
		}
		to, err := f.bytes(newText)
		if err != nil {
			return nil, 0, nil, fmt.Errorf("new_text cannot be written: %w", err)
		}
		line := func(at int) int { return 1 + strings.Count(decode(data[:at], f.encoding), "\n") }
		if places, err = pick(places, len(from), which, line); err != nil {
			return nil, 0, nil, err
		}
		return places, len(from), to, nil
	}
	return nil, 0, nil, errors.New("old_text is not in the file; read the file again and copy the text exactly")
}

// form is how text stands in a file.
type form struct {
	encoding string
	crlf     bool // a newline of the caller is a CRLF here
}

// forms lists the forms to try, the likeliest first.
func forms(data []byte, text string) []form {
	encodings := []string{encUTF8}
	switch guess(data[:min(len(data), 2)]) {
	case encUTF16LE:
		encodings = []string{encUTF16LE}
	case encUTF16BE:
		encodings = []string{encUTF16BE}
	default:
		if !utf8.Valid(data) && strings.ContainsFunc(text, func(r rune) bool { return r >= utf8.RuneSelf }) {
			encodings = append(encodings, encLatin1)
		}
	}
	var list []form
	for _, e := range encodings {
		switch some, all := crlf(data, e); {
		case all:
			list = append(list, form{e, true})
		case some: // mixed: what the caller writes is meant as it is, if it is there
			list = append(list, form{e, false}, form{e, true})
		default:
			list = append(list, form{e, false})
		}
	}
	return list
}

// crlf tells whether some, and all, line ends of a file are CRLF.
func crlf(data []byte, encoding string) (some, all bool) {
	if encoding == encUTF16LE || encoding == encUTF16BE {
		data = []byte(decode(data, encoding))
	}
	n := bytes.Count(data, []byte("\r\n"))
	return n > 0, n > 0 && n == bytes.Count(data, []byte{'\n'})
}

// bytes is a text in this form. A text with carriage returns of its own is
// taken as it is.
func (f form) bytes(text string) ([]byte, error) {
	if f.crlf && !strings.Contains(text, "\r") {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	return encode(text, f.encoding)
}

// find gives all places of a text, those that overlap too.
func (f form) find(data, text []byte) []int {
	step := 1
	if f.encoding == encUTF16LE || f.encoding == encUTF16BE {
		step = 2
	}
	var places []int
	for at := 0; ; at++ {
		n := bytes.Index(data[at:], text)
		if n < 0 {
			return places
		}
		if at += n; at%step == 0 {
			places = append(places, at)
		}
	}
}

// pick chooses among the places of a text. Where one is meant and there are
// several, the caller learns the lines.
func pick(places []int, size, which int, line func(int) int) ([]int, error) {
	if which != unique { // a number counts the places that would all be replaced
		apart := []int{places[0]}
		for _, p := range places[1:] {
			if p >= apart[len(apart)-1]+size {
				apart = append(apart, p)
			}
		}
		places = apart
	}
	switch {
	case which == everywhere, which == unique && len(places) == 1:
		return places, nil
	case which != unique && which <= len(places):
		return places[which-1 : which], nil
	}
	const most = 20
	var lines []string
	for _, p := range places[:min(len(places), most)] {
		lines = append(lines, fmt.Sprint(line(p)))
	}
	if len(places) > most {
		lines = append(lines, "…")
	}
	at := strings.Join(lines, ", ")
	if which == unique {
		return nil, fmt.Errorf("old_text is in the file %d times, in lines %s; add text around it to make it the only one, or set occurrence", len(places), at)
	}
	return nil, fmt.Errorf("occurrence %d not found: old_text is in the file %d times, in lines %s", which, len(places), at)
}

// splice puts the new text at the places.
func splice(data []byte, places []int, size int, to []byte) []byte {
	out := make([]byte, 0, len(data)+len(places)*(len(to)-size))
	from := 0
	for _, p := range places {
		out = append(append(out, data[from:p]...), to...)
		from = p + size
	}
	return append(out, data[from:]...)
}
