package tomltext

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"github.com/toolcrib/toolcrib/internal/text"
)

// Statement is one header or one pair, and the bytes it stands on.
type Statement struct {
	Table      []string // the header that it is, or that it stands under
	Key        []string // of a pair; empty: it is a header
	Array      bool     // a header of the form [[…]]
	Value      *Value   // of a pair
	Line       int
	Start, End int // from the first byte to behind the last, without what follows on the line
	ValueStart int // of a pair; its value ends where the pair ends
}

// Header reports whether it opens a table.
func (s Statement) Header() bool { return len(s.Key) == 0 }

// maxDepth bounds how deeply values nest and how many parts a key has, maxValues
// how many values and headers there are.
const (
	maxDepth  = 100
	maxValues = 1 << 20
)

const byteOrderMark = "\ufeff"

// Parse reads a file. What TOML forbids is refused with its line.
func Parse(src []byte) ([]Statement, error) {
	mark := len(src) - len(bytes.TrimPrefix(src, []byte(byteOrderMark)))
	r := &reader{at: mark}
	r.parser.Reset(src[mark:])
	for i, c := range src[mark:] {
		if c == '\n' {
			r.lines = append(r.lines, i)
		}
	}
	statements, err := r.statements()
	if err != nil {
		return nil, err
	}
	// The parser knows the grammar. What is given twice or contradicts itself,
	// the decoder knows.
	var all map[string]any
	var wrong *toml.DecodeError
	if err := toml.Unmarshal(src[mark:], &all); errors.As(err, &wrong) {
		line, _ := wrong.Position()
		return nil, fail(line, wrong.Error())
	} else if err != nil {
		return nil, fail(1, err.Error())
	}
	return statements, nil
}

// fail words an error of the library. It names keys, which may be of any length
// and any characters, and never a text.
func fail(line int, message string) error {
	message = strings.TrimPrefix(message, "toml: ")
	return fmt.Errorf("line %d: %s", line, text.Clip(text.ShowLine(message), 200))
}

type reader struct {
	parser unstable.Parser
	at     int   // where the parser's text begins in the file
	lines  []int // where lines end
	values int
}

func (r *reader) line(offset int) int {
	n, _ := slices.BinarySearch(r.lines, offset)
	return n + 1
}

func (r *reader) statements() ([]Statement, error) {
	var list []Statement
	var table []string
	for r.parser.NextExpression() {
		n := r.parser.Expression()
		key, first, last, err := r.key(n)
		if err != nil {
			return nil, err
		}
		s := Statement{Line: r.line(first)}
		if n.Kind == unstable.KeyValue {
			s.Key = key
			s.Start, s.End = int(n.Raw.Offset), int(n.Raw.Offset+n.Raw.Length)
			// Between the key and its value stand blanks and one =.
			s.ValueStart = last + len(r.source(last, s.End)) - len(bytes.TrimLeft(r.source(last, s.End), " \t="))
			if s.Value, err = r.value(n.Value(), s.Line, 0); err != nil {
				return nil, err
			}
		} else {
			r.values++
			table = key
			s.Array = n.Kind == unstable.ArrayTable
			// Between the brackets and the key stand blanks, before them too.
			before := bytes.TrimRight(r.source(0, first), " \t[")
			s.Start = len(before) + bytes.IndexByte(r.source(len(before), first), '[')
			s.End = last + bytes.IndexByte(r.source(last, len(r.parser.Data())), ']') + 1
			if s.Array {
				s.End++
			}
		}
		s.Table = table
		s.Start, s.End, s.ValueStart = s.Start+r.at, s.End+r.at, s.ValueStart+r.at
		list = append(list, s)
	}
	var wrong *unstable.ParserError
	if err := r.parser.Error(); errors.As(err, &wrong) {
		return nil, fail(r.line(int(r.parser.Range(wrong.Highlight).Offset)), wrong.Message)
	} else if err != nil {
		return nil, fail(1, err.Error())
	}
	return list, nil
}

func (r *reader) source(from, to int) []byte { return r.parser.Data()[from:to] }

// key gives the parts of a key and the bytes it stands on.
func (r *reader) key(n *unstable.Node) (parts []string, first, last int, err error) {
	for it := n.Key(); it.Next(); {
		raw := it.Node().Raw
		if len(parts) == 0 {
			first = int(raw.Offset)
		}
		last = int(raw.Offset + raw.Length)
		if parts = append(parts, string(it.Node().Data)); len(parts) > maxDepth {
			return nil, 0, 0, fail(r.line(first), "a key has too many parts")
		}
	}
	return parts, first, last, nil
}

func (r *reader) value(n *unstable.Node, line, depth int) (*Value, error) {
	if r.values++; depth > maxDepth || r.values > maxValues {
		return nil, fail(line, "it is too large or nests too deeply")
	}
	if n.Raw.Length > 0 {
		line = r.line(int(n.Raw.Offset))
	}
	v := &Value{Text: string(n.Data), Line: line}
	switch n.Kind {
	case unstable.String:
		v.Kind = Text
	case unstable.Bool:
		v.Kind = Bool
	case unstable.Integer, unstable.Float:
		v.Kind = Number
	case unstable.Array:
		v.Kind = List
		for it := n.Children(); it.Next(); {
			e, err := r.value(it.Node(), line, depth+1)
			if err != nil {
				return nil, err
			}
			v.List = append(v.List, e)
		}
	case unstable.InlineTable:
		v.Kind = Table
		for it := n.Children(); it.Next(); {
			pair := it.Node()
			key, first, _, err := r.key(pair)
			if err != nil {
				return nil, err
			}
			e, err := r.value(pair.Value(), r.line(first), depth+1)
			if err != nil {
				return nil, err
			}
			v.put(key, e)
		}
	default:
		v.Kind = Date
	}
	return v, nil
}
