package shellguard

import (
	"strings"
)

// token is a word or an operator of a line, as POSIX tells a shell to cut it.
type token struct {
	at   int    // where it begins
	text string // of a word: without its quotes
	word bool
	bare bool // nothing of the word was quoted

	end     int      // behind it, of a word
	dynamic bool     // it has an expansion, so that text is not all of it
	mark    deepMark // of a deep cut
}

// Why a line could not be cut.
type cutting uint8

const (
	cutWhole   cutting = iota
	cutDynamic         // it has an expansion
	cutOdd             // it has something that shells read differently
	cutJoined          // a here-document of it has joined lines, which the parser does not join
)

// tokenizer cuts a line by the rules of POSIX and nothing else. It shares no
// code with the parser: what the two read differently is not understood.
type tokenizer struct {
	s      string
	i      int
	tokens []token
	docs   []hereDoc // here-documents whose text begins after this line
	result cutting
	joined bool
	deep   bool // step into expansions, see deep.go
	level  int  // of commands in words
}

type hereDoc struct {
	end          string
	quoted, tabs bool
}

func tokenize(s string) ([]token, cutting) {
	t := tokenizer{s: s, tokens: make([]token, 0, 16)}
	for t.i < len(s) && t.result == cutWhole {
		t.next()
	}
	if len(t.docs) > 0 && t.result == cutWhole {
		t.result = cutOdd // a here-document without its end
	}
	if t.joined && t.result == cutWhole {
		t.result = cutJoined
	}
	return t.tokens, t.result
}

func (t *tokenizer) next() {
	switch c := t.s[t.i]; c {
	case ' ', '\t':
		t.i++
	case '\n':
		t.op(1)
		t.hereDocs()
	case '#':
		for t.i < len(t.s) && t.s[t.i] != '\n' {
			t.i++
		}
	case '&', '|', ';', '(', ')', '<', '>':
		t.operator(c)
	default:
		if strings.HasPrefix(t.s[t.i:], "\\\n") {
			t.i += 2 // a continued line, between words
			return
		}
		t.word()
	}
}

func (t *tokenizer) op(n int) {
	t.tokens = append(t.tokens, token{at: t.i, text: t.s[t.i : t.i+n]})
	t.i += n
}

func (t *tokenizer) operator(c byte) {
	rest := t.s[t.i:]
	n := 1
	if t.deep && (strings.HasPrefix(rest, "<(") || strings.HasPrefix(rest, "<<<")) {
		t.bashInput(rest)
		return
	}
	switch {
	case strings.HasPrefix(rest, "<<-"):
		n = 3
	case len(rest) > 1 && strings.Contains("&& || ;; << >> <& >& <> >|", rest[:2]) && rest[1] != ' ':
		n = 2
	}
	if len(rest) > n && rest[n] == '\\' && strings.HasPrefix(rest[n:], "\\\n") {
		t.result = cutOdd // an operator cut in two by a continued line
		return
	}
	t.op(n)
	if c == '<' && n > 1 && rest[1] == '<' {
		t.hereStart(n == 3)
	}
}

// hereStart reads the delimiter of a here-document.
func (t *tokenizer) hereStart(tabs bool) {
	for t.i < len(t.s) && (t.s[t.i] == ' ' || t.s[t.i] == '\t') {
		t.i++
	}
	if t.i == len(t.s) || strings.IndexByte("\n#&|;()<>", t.s[t.i]) >= 0 {
		t.result = cutOdd
		return
	}
	t.word()
	if t.result != cutWhole {
		return
	}
	w := t.tokens[len(t.tokens)-1]
	if w.text == "" || strings.Contains(w.text, "\n") {
		t.result = cutOdd
		return
	}
	t.docs = append(t.docs, hereDoc{end: w.text, quoted: !w.bare, tabs: tabs})
}

// hereDocs steps over the texts that begin at this line.
func (t *tokenizer) hereDocs() {
	for _, d := range t.docs {
		joined := false // the line before ended in a backslash
		for {
			if t.i >= len(t.s) {
				t.result = cutOdd
				return
			}
			line, _, more := strings.Cut(t.s[t.i:], "\n")
			t.i += len(line)
			if more {
				t.i++
			}
			if d.tabs {
				line = strings.TrimLeft(line, "\t")
			}
			if line == d.end && !joined {
				break
			}
			if d.quoted {
				continue
			}
			var dynamic bool
			if dynamic, joined = documentLine(line); dynamic && t.deep {
				t.documentCommands(line)
				continue
			} else if dynamic {
				t.result = cutDynamic
				return
			}
			t.joined = t.joined || joined
		}
	}
	t.docs = nil
}

// documentLine looks at a line of a here-document without quotes: whether it has
// an expansion, and whether a backslash joins the next line to it.
func documentLine(line string) (dynamic, joined bool) {
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case '\\':
			if i++; i == len(line) {
				return false, true
			}
		case '`':
			return true, false
		case '$':
			if at := (&tokenizer{s: line, i: i}); at.expands(true) {
				return true, false
			}
		}
	}
	return false, false
}

// word reads one word and takes its quotes off.
func (t *tokenizer) word() {
	w := token{at: t.i, word: true, bare: true}
	from := t.i
	for t.i < len(t.s) && isWordByte(t.s[t.i]) {
		t.i++
	}
	if t.i == len(t.s) || strings.IndexByte(" \t\n&|;()<>", t.s[t.i]) >= 0 {
		w.text, w.end = t.s[from:t.i], t.i // nothing in it needs a second look
		t.tokens = append(t.tokens, w)
		return
	}
	var b strings.Builder
	b.WriteString(t.s[from:t.i])
	for t.i < len(t.s) && t.result == cutWhole {
		switch c := t.s[t.i]; c {
		case ' ', '\t', '\n', '&', '|', ';', '(', ')', '<', '>':
			w.text, w.end = b.String(), t.i
			t.tokens = append(t.tokens, w)
			return
		case '\\':
			t.i++
			switch {
			case t.i == len(t.s):
				t.result = cutOdd
			case t.s[t.i] != '\n':
				w.bare = false
				b.WriteByte(t.s[t.i])
			}
			t.i++
		case '\'':
			end := strings.IndexByte(t.s[t.i+1:], '\'')
			if end < 0 {
				t.result = cutOdd
				return
			}
			b.WriteString(t.s[t.i+1 : t.i+1+end])
			t.i += end + 2
			w.bare = false
		case '"':
			w.bare = false
			t.i++
			w.dynamic = t.double(&b) || w.dynamic
		case '`':
			if !t.deep {
				t.result = cutDynamic
				return
			}
			w.dynamic = true
			t.expansion(false)
		case '$':
			if t.expands(false) && t.deep {
				w.dynamic = true
				t.expansion(false)
				continue
			} else if t.expands(false) {
				t.result = cutDynamic
				return
			}
			b.WriteByte(c)
			t.i++
		default:
			b.WriteByte(c)
			t.i++
		}
	}
	if t.result == cutWhole {
		w.text, w.end = b.String(), t.i
		t.tokens = append(t.tokens, w)
	}
}

// double reads to the closing double quote. Dynamic: there are expansions in it.
func (t *tokenizer) double(b *strings.Builder) (dynamic bool) {
	for t.i < len(t.s) && t.result == cutWhole {
		switch c := t.s[t.i]; c {
		case '"':
			t.i++
			return dynamic
		case '`':
			if t.deep {
				dynamic = true
				t.expansion(true)
				continue
			}
			t.result = cutDynamic
			return true
		case '$':
			if t.expands(true) && t.deep {
				dynamic = true
				t.expansion(true)
				continue
			} else if t.expands(true) {
				t.result = cutDynamic
				return true
			}
			b.WriteByte(c)
		case '\\':
			if t.i+1 == len(t.s) {
				t.result = cutOdd
				return dynamic
			}
			switch next := t.s[t.i+1]; {
			case next == '\n':
				t.i++
			case strings.IndexByte("$`\"\\", next) >= 0:
				b.WriteByte(next)
				t.i++
			default:
				b.WriteByte(c)
			}
		default:
			b.WriteByte(c)
		}
		t.i++
	}
	if t.result == cutWhole {
		t.result = cutOdd
	}
	return dynamic
}

// expands: a $ is only itself if nothing that it could introduce follows.
func (t *tokenizer) expands(quoted bool) bool {
	if t.i+1 == len(t.s) {
		return false
	}
	c := t.s[t.i+1]
	return isNameByte(c) || strings.IndexByte("{([*@#?$!-\\", c) >= 0 || !quoted && (c == '\'' || c == '"')
}

func isWordByte(c byte) bool {
	return isNameByte(c) || strings.IndexByte("-./,:=@%+^~*?[]{}!", c) >= 0 || c >= 0x80
}
