package glob

import (
	"strings"
	"unicode/utf8"
)

// segment is a pattern for one element of a path.
type segment struct {
	deep  bool // **: any number of elements
	bytes bool // a character is a byte
	kind  segmentKind
	text  string
	toks  []token
}

type segmentKind uint8

const (
	exactly segmentKind = iota // text
	anything
	startsWith // text*
	endsWith   // *text
	general
)

// token is a part of a general segment.
type token struct {
	kind tokenKind
	char rune
	not  bool
	set  [][2]rune
}

type tokenKind uint8

const (
	oneChar tokenKind = iota
	anyChar
	anyText
	oneOf
)

// compileSegment reads one element of a pattern. With git the rules are those
// of .gitignore, where a character is a byte.
func compileSegment(text string, git bool) (segment, bool) {
	if len(text) >= 2 && strings.Trim(text, "*") == "" {
		return segment{deep: true}, true
	}
	var toks []token
	for i := 0; i < len(text); {
		switch text[i] {
		case '*':
			i++
			if len(toks) == 0 || toks[len(toks)-1].kind != anyText {
				toks = append(toks, token{kind: anyText})
			}
		case '?':
			i++
			toks = append(toks, token{kind: anyChar})
		case '[':
			t, n, ok := class(text[i:], git)
			if !ok {
				return segment{}, false
			}
			toks = append(toks, t)
			i += n
		case '\\':
			if i++; i == len(text) {
				return segment{}, false
			}
			fallthrough
		default:
			r, n := char(text[i:], git)
			toks = append(toks, token{char: r})
			i += n
		}
	}
	return simplest(toks, git), true
}

// char is the first character of a text.
func char(text string, git bool) (rune, int) {
	if git {
		return rune(text[0]), 1
	}
	return utf8.DecodeRuneInString(text)
}

// simplest finds the forms that need no search: most patterns have one.
func simplest(toks []token, git bool) segment {
	all := segment{kind: general, toks: toks, bytes: git}
	var fixed []byte
	stars := 0
	for _, t := range toks {
		switch {
		case t.kind == anyText:
			stars++
		case t.kind == oneChar && git:
			fixed = append(fixed, byte(t.char))
		case t.kind == oneChar:
			fixed = utf8.AppendRune(fixed, t.char)
		default:
			return all
		}
	}
	text := string(fixed)
	switch {
	case stars == 0:
		return segment{kind: exactly, text: text}
	case len(toks) == 1:
		return segment{kind: anything}
	case stars == 1 && toks[0].kind == anyText:
		return segment{kind: endsWith, text: text}
	case stars == 1 && toks[len(toks)-1].kind == anyText:
		return segment{kind: startsWith, text: text}
	}
	return all
}

func (s *segment) match(elem string) bool {
	switch s.kind {
	case exactly:
		return elem == s.text
	case anything:
		return true
	case startsWith:
		return strings.HasPrefix(elem, s.text)
	case endsWith:
		return strings.HasSuffix(elem, s.text)
	}
	return s.search(elem)
}

// search matches with one place to go back to: the last star.
func (s *segment) search(elem string) bool {
	back, backElem := -1, ""
	for i := 0; ; {
		switch {
		case i < len(s.toks) && s.toks[i].kind == anyText:
			i++
			back, backElem = i, elem
			continue
		case i == len(s.toks) && elem == "":
			return true
		case i < len(s.toks) && elem != "":
			if r, n := char(elem, s.bytes); s.toks[i].takes(r) {
				i, elem = i+1, elem[n:]
				continue
			}
		}
		if back < 0 || backElem == "" {
			return false
		}
		_, n := char(backElem, s.bytes)
		backElem = backElem[n:]
		i, elem = back, backElem
	}
}

func (t *token) takes(r rune) bool {
	switch t.kind {
	case oneChar:
		return r == t.char
	case anyChar:
		return true
	case oneOf:
		for _, c := range t.set {
			if c[0] <= r && r <= c[1] {
				return !t.not
			}
		}
		return t.not
	}
	return false
}

// class reads [a-z], [!a], [[:digit:]_].
func class(text string, git bool) (t token, n int, ok bool) {
	t.kind = oneOf
	i := 1
	if i < len(text) && (text[i] == '!' || text[i] == '^') {
		t.not = true
		i++
	}
	for first := true; ; first = false {
		if i >= len(text) {
			return t, 0, false
		}
		if text[i] == ']' && !first {
			return t, i + 1, true
		}
		if strings.HasPrefix(text[i:], "[:") {
			name, _, closed := strings.Cut(text[i+2:], ":]")
			if set := named(name); closed && set != nil {
				t.set = append(t.set, set...)
				i += len(name) + 4
				continue
			}
		}
		lo, k, ok := classChar(text[i:], git)
		if !ok {
			return t, 0, false
		}
		i += k
		hi := lo
		if i+1 < len(text) && text[i] == '-' && text[i+1] != ']' {
			if hi, k, ok = classChar(text[i+1:], git); !ok {
				return t, 0, false
			}
			i += 1 + k
			if git {
				t.set = append(t.set, [2]rune{lo, lo}) // also where the range is empty
			}
		}
		t.set = append(t.set, [2]rune{lo, hi})
	}
}

func classChar(text string, git bool) (rune, int, bool) {
	if text[0] != '\\' {
		r, n := char(text, git)
		return r, n, true
	}
	if len(text) == 1 {
		return 0, 0, false
	}
	r, n := char(text[1:], git)
	return r, n + 1, true
}

// named are the classes of POSIX, for ASCII.
func named(name string) [][2]rune {
	switch name {
	case "alnum":
		return [][2]rune{{'0', '9'}, {'A', 'Z'}, {'a', 'z'}}
	case "alpha":
		return [][2]rune{{'A', 'Z'}, {'a', 'z'}}
	case "blank":
		return [][2]rune{{' ', ' '}, {'\t', '\t'}}
	case "cntrl":
		return [][2]rune{{0, 31}, {127, 127}}
	case "digit":
		return [][2]rune{{'0', '9'}}
	case "graph":
		return [][2]rune{{33, 126}}
	case "lower":
		return [][2]rune{{'a', 'z'}}
	case "print":
		return [][2]rune{{32, 126}}
	case "punct":
		return [][2]rune{{33, 47}, {58, 64}, {91, 96}, {123, 126}}
	case "space":
		return [][2]rune{{' ', ' '}, {'\t', '\r'}}
	case "upper":
		return [][2]rune{{'A', 'Z'}}
	case "xdigit":
		return [][2]rune{{'0', '9'}, {'A', 'F'}, {'a', 'f'}}
	}
	return nil
}
