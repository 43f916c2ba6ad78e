package shellguard

import "strings"

// The plain reading allows lines with expansions, so that both readers have to
// agree about them too: where each begins and ends, and which words the commands
// have that stand in it. A few forms are known, and the others are not understood.

// deepMark says what a token of a deep cut is beside a word or an operator.
type deepMark uint8

const (
	deepNone  deepMark = iota
	deepOpen           // a command begins within a word
	deepClose          // and ends
)

// expansion steps over the expansion at a $ or a backquote. Commands in it are cut
// like any others, between two marks.
func (t *tokenizer) expansion(quoted bool) {
	rest := t.s[t.i:]
	switch {
	case rest[0] == '`':
		t.backquotes(quoted)
	case strings.HasPrefix(rest, "$(("):
		t.arithmetic()
	case strings.HasPrefix(rest, "$("):
		t.nested(2)
	case strings.HasPrefix(rest, "${"):
		end := strings.IndexByte(rest, '}')
		if end < 3 || strings.ContainsAny(rest[2:end], "$`\"'\\{ \t\n()&|;<>") {
			t.result = cutOdd
			return
		}
		t.i += end + 1
	case len(rest) > 1 && (rest[1] == '_' || rest[1] >= 'a' && rest[1] <= 'z' || rest[1] >= 'A' && rest[1] <= 'Z'):
		for t.i++; t.i < len(t.s) && isNameByte(t.s[t.i]); t.i++ {
		}
	case len(rest) > 1 && strings.IndexByte("?#$!123456789", rest[1]) >= 0:
		t.i += 2
	default:
		t.result = cutOdd
	}
}

// nested cuts the commands up to the parenthesis that closes the one which stands
// after so many bytes.
func (t *tokenizer) nested(opening int) {
	t.tokens = append(t.tokens, token{at: t.i, mark: deepOpen})
	t.i += opening
	docs := t.docs
	t.docs = nil
	if t.level++; t.level > maxWrapping {
		t.result = cutOdd
	}
	for open := 1; t.result == cutWhole; {
		if t.i >= len(t.s) {
			t.result = cutOdd
			return
		}
		switch t.s[t.i] {
		case '(':
			open++
		case ')':
			if open--; open == 0 {
				t.tokens = append(t.tokens, token{at: t.i, mark: deepClose})
				t.i++
				t.level--
				if len(t.docs) > 0 {
					t.result = cutOdd
				}
				t.docs = docs
				return
			}
		case '#': // where a comment ends in there, shells differ
			t.result = cutOdd
			return
		}
		before := len(t.tokens)
		t.next()
		for _, k := range t.tokens[before:] {
			if k.word && k.bare && (k.text == "case" || k.text == "esac") {
				t.result = cutOdd // its patterns have parentheses of their own
			}
		}
		if len(t.docs) > 0 {
			t.result = cutOdd
		}
	}
}

// backquotes cuts the commands between two of them, if there is nothing in between
// that they read otherwise.
func (t *tokenizer) backquotes(quoted bool) {
	end := strings.IndexByte(t.s[t.i+1:], '`')
	if end < 0 || t.level >= maxWrapping {
		t.result = cutOdd
		return
	}
	body := t.s[t.i+1 : t.i+1+end]
	if strings.ContainsAny(body, "\\#") || strings.Contains(body, "<<") || quoted && strings.ContainsAny(body, "\"") {
		t.result = cutOdd
		return
	}
	at := t.i + 1
	inner := tokenizer{s: t.s[:at+end], i: at, deep: true, level: t.level + 1}
	for inner.i < len(inner.s) && inner.result == cutWhole {
		inner.next()
	}
	if inner.result != cutWhole || len(inner.docs) > 0 {
		t.result = cutOdd
		return
	}
	t.tokens = append(t.tokens, token{at: t.i, mark: deepOpen})
	t.tokens = append(t.tokens, inner.tokens...)
	t.tokens = append(t.tokens, token{at: at + end, mark: deepClose})
	t.i = at + end + 1
}

// arithmetic steps over $((…)) of names and numbers.
func (t *tokenizer) arithmetic() {
	end := strings.Index(t.s[t.i:], "))")
	if end < 0 {
		t.result = cutOdd
		return
	}
	body := t.s[t.i+3 : t.i+end]
	if strings.Count(body, "(") != strings.Count(body, ")") || strings.Trim(body, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_ +-*/%<>=!()${}#") != "" || strings.Contains(body, "$(") {
		t.result = cutOdd
		return
	}
	t.i += end + 2
}

// bashInput cuts what only bash knows: <(…), which is a word to it, and <<<. A plain
// shell finds both to be mistakes, and runs nothing of the line.
func (t *tokenizer) bashInput(rest string) {
	if strings.HasPrefix(rest, "<<<") {
		t.op(3)
		return
	}
	if t.i > 0 && strings.IndexByte(" \t(", t.s[t.i-1]) < 0 {
		t.result = cutOdd
		return
	}
	w := token{at: t.i, word: true, dynamic: true}
	t.nested(2)
	if t.i < len(t.s) && strings.IndexByte(" \t\n&|;)", t.s[t.i]) < 0 {
		t.result = cutOdd
	}
	w.end = t.i
	t.tokens = append(t.tokens, w)
}

// documentCommands cuts the expansions in a line of a here-document; each has to end
// in its line.
func (t *tokenizer) documentCommands(line string) {
	at := t.i - len(line)
	if t.i > 0 && t.i <= len(t.s) && t.s[t.i-1] == '\n' {
		at--
	}
	inner := tokenizer{s: t.s[:at+len(line)], i: at, deep: true, level: t.level}
	for inner.i < len(inner.s) && inner.result == cutWhole {
		switch c := inner.s[inner.i]; {
		case c == '\\':
			inner.i += 2
		case c == '`', c == '$' && inner.expands(true):
			inner.expansion(true)
		default:
			inner.i++
		}
	}
	if inner.result != cutWhole || inner.i > len(inner.s) || len(inner.docs) > 0 {
		t.result = cutOdd
		return
	}
	t.tokens = append(t.tokens, inner.tokens...)
}
