package bus

import (
	"bytes"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib/internal/jsontext"
)

// scanner reads a JSON text once, without building anything, and finds what
// encoding/json would let pass: it replaces half surrogate pairs and broken
// UTF-8 silently and leaves numbers alone.
type scanner struct {
	text  []byte
	pos   int
	depth int
	ints  bool // refuse integers beyond 64 bits
	mend  bool // replace half surrogate pairs by U+FFFD instead of refusing them
	own   bool // text is a copy, made to be mended
}

// envelope is where the three parts of a frame stand in the text; a part that
// is absent, or that Python takes for absent, is empty.
type envelope struct {
	typ, data, context span
}

type span struct{ from, to int }

func (s *scanner) cut(p span) []byte { return s.text[p.from:p.to] }

func (s *scanner) fail(reason string) error {
	return &PoisonError{Reason: reason, Offset: s.pos}
}

// envelope reads a whole frame. Of a key that comes twice the last one counts,
// as it does for Python, but each one has to be harmless: other readers take
// the first.
func (s *scanner) envelope(session bool) (envelope, error) {
	var env envelope
	if err := s.utf8(); err != nil {
		return env, err
	}
	s.space()
	if s.peek() != '{' {
		return env, s.fail("not a JSON object")
	}
	if err := s.enter(); err != nil {
		return env, err
	}
	for first := true; ; first = false {
		key, more, err := s.key(first)
		if err != nil {
			return env, err
		}
		if !more {
			break
		}
		switch string(key) {
		case "type":
			env.typ, err = s.value1()
		case "data":
			env.data, err = s.part("data", false)
		case "context":
			env.context, err = s.part("context", session)
		default:
			err = s.value()
		}
		if err != nil {
			return env, err
		}
	}
	return env, s.end()
}

// part reads data or context: an object, or something Python counts as false,
// which its readers replace by an empty object.
func (s *scanner) part(name string, session bool) (span, error) {
	if s.peek() == '{' {
		from := s.pos
		err := s.object(session)
		return span{from, s.pos}, err
	}
	from := s.pos
	p, err := s.value1()
	if err != nil {
		return span{}, err
	}
	if !falsy(s.cut(p)) {
		s.pos = from
		return span{}, s.fail(name + " is not an object")
	}
	return span{}, nil
}

func (s *scanner) value1() (span, error) {
	from := s.pos
	err := s.value()
	return span{from, s.pos}, err
}

// value reads any JSON value; the space before it has been read.
func (s *scanner) value() error {
	switch c := s.peek(); c {
	case '{':
		return s.object(false)
	case '[':
		return s.array()
	case '"':
		return s.str()
	case 't':
		return s.word("true")
	case 'f':
		return s.word("false")
	case 'n':
		return s.word("null")
	default:
		if c == '-' || isDigit(c) {
			return s.number()
		}
		return s.fail("not JSON")
	}
}

// object reads an object; with session it is a context, whose session must be
// an object if it is there.
func (s *scanner) object(session bool) error {
	if err := s.enter(); err != nil {
		return err
	}
	for first := true; ; first = false {
		key, more, err := s.key(first)
		if err != nil || !more {
			return err
		}
		if session && string(key) == "session" && s.peek() != '{' {
			return s.fail("the session is not an object")
		}
		if err := s.value(); err != nil {
			return err
		}
	}
}

// key reads up to the value of the next member of an object, or its end.
func (s *scanner) key(first bool) (key []byte, more bool, err error) {
	s.space()
	if s.peek() == '}' {
		s.pos++
		s.depth--
		return nil, false, nil
	}
	if !first {
		if s.peek() != ',' {
			return nil, false, s.fail("not JSON: a comma is missing")
		}
		s.pos++
		s.space()
	}
	if s.peek() != '"' {
		return nil, false, s.fail("not JSON: a key is missing")
	}
	from := s.pos
	if err := s.str(); err != nil {
		return nil, false, err
	}
	said, _ := jsontext.Unquote(s.text[from:s.pos])
	key = []byte(said)
	s.space()
	if s.peek() != ':' {
		return nil, false, s.fail("not JSON: a colon is missing")
	}
	s.pos++
	s.space()
	return key, true, nil
}

func (s *scanner) array() error {
	if err := s.enter(); err != nil {
		return err
	}
	s.space()
	if s.peek() == ']' {
		s.pos++
		s.depth--
		return nil
	}
	for {
		s.space()
		if err := s.value(); err != nil {
			return err
		}
		s.space()
		switch s.peek() {
		case ',':
			s.pos++
		case ']':
			s.pos++
			s.depth--
			return nil
		default:
			return s.fail("not JSON: a comma is missing")
		}
	}
}

// enter steps into an object or array.
func (s *scanner) enter() error {
	s.depth++
	if s.depth > maxDepth {
		return s.fail("nested too deeply")
	}
	s.pos++
	return nil
}

// end makes sure that nothing but space follows.
func (s *scanner) end() error {
	s.space()
	if s.pos < len(s.text) {
		return s.fail("not JSON: text after the end")
	}
	return nil
}

func (s *scanner) space() { s.pos = jsontext.SkipSpace(s.text, s.pos) }

// peek is the next byte, or 0, which begins nothing in JSON, at the end.
func (s *scanner) peek() byte {
	if s.pos < len(s.text) {
		return s.text[s.pos]
	}
	return 0
}

func (s *scanner) word(w string) error {
	if !bytes.HasPrefix(s.text[s.pos:], []byte(w)) {
		return s.fail("not JSON")
	}
	s.pos += len(w)
	return nil
}

func (s *scanner) utf8() error {
	if !utf8.Valid(s.text) {
		return s.fail("not UTF-8")
	}
	return nil
}
