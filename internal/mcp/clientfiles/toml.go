package clientfiles

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
)

// toml reads TOML 1.0, strictly: a program's settings hold far more than its
// servers, and only who reads all of it knows where the servers end. Tables,
// arrays of tables, dotted keys, all four kinds of text, numbers, dates, lists
// and inline tables are read; what the language forbids is refused with its line.
type toml struct {
	src        string
	at         int
	nodes      int
	root       *tomlNode
	here       *tomlNode // the table that pairs go to
	statements []tomlStatement
	lineAt     int // how far lines were counted, and how many there were
	lines      int
}

// tomlStatement is one header or one pair, and the bytes it stands on.
type tomlStatement struct {
	path       []string // full path of the table or the key
	header     bool
	array      bool // [[…]]
	under      int  // of a pair: how many parts of path came from the header
	start, end int  // from the first byte to behind the last, without the line's end
	value      value
}

// tomlNode is a table while it is being put together, or a finished value.
type tomlNode struct {
	leaf  *value // a scalar, list or inline table: closed
	names []string
	subs  map[string]*tomlNode
	list  []*tomlNode // an array of tables
	how   tomlHow
	line  int
}

type tomlHow byte

const (
	tomlImplied tomlHow = iota // named in the path of another
	tomlHeader                 // has its own [header]
	tomlDotted                 // made by a dotted key: no header may open it again
)

func parseTOML(src []byte) (value, []tomlStatement, error) {
	if err := checkText(src); err != nil {
		return value{}, nil, err
	}
	t := &toml{src: string(src), root: &tomlNode{how: tomlHeader}}
	t.here = t.root
	t.at = len(src) - len(bytes.TrimPrefix(src, []byte(byteOrderMark)))
	if err := t.document(); err != nil {
		return value{}, nil, fmt.Errorf("line %d: %w", t.line(), err)
	}
	return t.root.value(), t.statements, nil
}

func (t *toml) line() int {
	at := min(t.at, len(t.src))
	if at < t.lineAt {
		t.lineAt, t.lines = 0, 0
	}
	t.lines += strings.Count(t.src[t.lineAt:at], "\n")
	t.lineAt = at
	return 1 + t.lines
}

func (t *toml) document() error {
	var under []string
	for {
		if err := t.space(true); err != nil {
			return err
		}
		if t.at >= len(t.src) {
			return nil
		}
		if t.nodes++; t.nodes > maxNodes {
			return errors.New("the file has too many entries")
		}
		s := tomlStatement{start: t.at}
		var err error
		if t.src[t.at] == '[' {
			s.header = true
			if s.path, s.array, err = t.header(); err != nil {
				return err
			}
			under = s.path
		} else {
			var path []string
			if path, s.value, err = t.pair(t.here, 0); err != nil {
				return err
			}
			s.under = len(under)
			s.path = append(append([]string{}, under...), path...)
		}
		s.end = t.at
		t.statements = append(t.statements, s)
		if err := t.space(false); err != nil {
			return err
		}
		if t.at < len(t.src) && t.src[t.at] != '\n' {
			return errors.New("something follows on the line")
		}
	}
}

func (t *toml) peek() byte {
	if t.at < len(t.src) {
		return t.src[t.at]
	}
	return 0
}

// space skips blanks and comments, and the ends of lines where these mean
// nothing.
func (t *toml) space(lines bool) error {
	for t.at < len(t.src) {
		switch c := t.src[t.at]; {
		case c == ' ' || c == '\t':
		case c == '\n' || c == '\r':
			if c == '\r' && !strings.HasPrefix(t.src[t.at:], "\r\n") {
				return errors.New("a carriage return stands alone")
			}
			if !lines && c == '\n' {
				return nil
			}
		case c == '#':
			end := strings.IndexByte(t.src[t.at:], '\n')
			comment := t.src[t.at:]
			if end < 0 {
				end = len(comment)
			} else {
				comment = strings.TrimSuffix(comment[:end], "\r")
			}
			if strings.IndexFunc(comment, tomlControl) >= 0 {
				return errors.New("a comment has control characters")
			}
			t.at += end
			continue
		default:
			return nil
		}
		t.at++
	}
	return nil
}

func tomlControl(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }

func (t *toml) header() ([]string, bool, error) {
	line := t.line()
	open := "["
	if strings.HasPrefix(t.src[t.at:], "[[") {
		open = "[["
	}
	t.at += len(open)
	t.blanks()
	path, err := t.key()
	if err != nil {
		return nil, false, err
	}
	shut := strings.Repeat("]", len(open))
	if !strings.HasPrefix(t.src[t.at:], shut) {
		return nil, false, errors.New("the bracket of a table is not closed")
	}
	t.at += len(shut)
	t.here, err = t.root.open(path, len(open) == 2, line)
	return path, len(open) == 2, err
}

func (t *toml) blanks() {
	for t.peek() == ' ' || t.peek() == '\t' {
		t.at++
	}
}

// key reads a dotted key and the blanks behind it.
func (t *toml) key() ([]string, error) {
	var path []string
	for {
		part, err := t.keyPart()
		if err != nil {
			return nil, err
		}
		if path = append(path, part); len(path) > maxDepth {
			return nil, errors.New("a key has too many parts")
		}
		t.blanks()
		if t.peek() != '.' {
			return path, nil
		}
		t.at++
		t.blanks()
	}
}

func (t *toml) keyPart() (string, error) {
	if c := t.peek(); c == '"' || c == '\'' {
		if strings.HasPrefix(t.src[t.at:], strings.Repeat(string(c), 3)) {
			return "", errors.New("a key cannot go over several lines")
		}
		return t.quoted()
	}
	begin := t.at
	for t.at < len(t.src) && bareKeyByte(t.src[t.at]) {
		t.at++
	}
	if t.at == begin {
		return "", errors.New("want a key")
	}
	return t.src[begin:t.at], nil
}

func bareKeyByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}

// pair reads key = value into a table.
func (t *toml) pair(into *tomlNode, depth int) ([]string, value, error) {
	line := t.line()
	path, err := t.key()
	if err != nil {
		return nil, value{}, err
	}
	if t.peek() != '=' {
		return nil, value{}, errors.New("want = behind the key")
	}
	t.at++
	t.blanks()
	v, err := t.value(depth)
	if err != nil {
		return nil, v, err
	}
	v.line = line
	return path, v, into.set(path, v, line)
}
