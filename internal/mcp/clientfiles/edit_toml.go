package clientfiles

import (
	"bytes"
	"errors"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/tomltext"
)

// editTOML sets or removes the table at path. It knows the two ways in which
// people write one: under a header of its own, with tables below it, and as an
// inline table under the header of all.
func editTOML(src []byte, path []string, v *value) ([]byte, error) {
	_, statements, err := parseTOML(src)
	if err != nil {
		return nil, err
	}
	eol := eolOf(src)
	var headed, inline []int
	for i, s := range statements {
		full := slices.Concat(s.Table, s.Key)
		switch {
		case len(full) < len(path) || !slices.Equal(full[:len(path)], path):
		case len(s.Table) >= len(path):
			headed = append(headed, i)
		case len(full) == len(path) && s.Value.Kind == tomltext.Table:
			inline = append(inline, i)
		default:
			return nil, errors.New("the server is written with dotted keys, which are not changed here: do it by hand")
		}
	}
	switch {
	case len(inline) == 1 && len(headed) == 0:
		s := statements[inline[0]]
		if v == nil {
			from, to := wholeLines(src, s.Start, s.End)
			return splice(src, from, to, ""), nil
		}
		return splice(src, s.ValueStart, s.End, tomlText(*v)), nil
	case len(inline) > 0:
		return nil, errors.New("the server is written in two ways at once: do it by hand")
	case len(headed) == 0:
		if v == nil {
			return nil, errors.New("the server stands inside another value, which is not changed here: do it by hand")
		}
		return appendTOML(src, tomlTableText(path, *v, eol), eol), nil
	}
	return replaceTOML(src, statements, headed, path, v, eol), nil
}

// replaceTOML takes the statements out, from the last to the first so that the
// positions stay right, and puts the new table where the first one stood.
func replaceTOML(src []byte, statements []tomltext.Statement, which []int, path []string, v *value, eol string) []byte {
	out := slices.Clone(src)
	for n := len(which) - 1; n >= 0; {
		// Statements that follow each other go together, with what is between.
		last, first := which[n], which[n]
		for n--; n >= 0 && which[n] == first-1; n-- {
			first = which[n]
		}
		from, to := wholeLines(src, statements[first].Start, statements[last].End)
		text := ""
		if n < 0 && v != nil {
			text = tomlTableText(path, *v, eol) + eol
		}
		if text == "" {
			// The blank line that set the table apart goes with it.
			for _, gap := range [...]string{"\n\n", "\n\r\n"} {
				if bytes.HasSuffix(out[:from], []byte(gap)) {
					from -= len(gap) - 1
					break
				}
			}
		}
		out = splice(out, from, to, text)
	}
	return out
}

// wholeLines widens a range to whole lines: comments behind a statement go with it.
func wholeLines(src []byte, from, to int) (int, int) {
	from = bytes.LastIndexByte(src[:from], '\n') + 1
	if bytes.HasPrefix(src, []byte(byteOrderMark)) {
		from = max(from, len(byteOrderMark))
	}
	if end := bytes.IndexByte(src[to:], '\n'); end >= 0 {
		return from, to + end + 1
	}
	return from, len(src)
}

func appendTOML(src []byte, table, eol string) []byte {
	var gap string
	switch text := strings.TrimPrefix(string(src), byteOrderMark); {
	case text == "":
	case !strings.HasSuffix(text, "\n"):
		gap = eol + eol
	default:
		gap = eol
	}
	return slices.Concat(src, []byte(gap+table+eol))
}
