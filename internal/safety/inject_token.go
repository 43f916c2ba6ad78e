package safety

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxToken bounds how far a control token is looked for.
const maxToken = 48

// opens reports whether a control token of a model, or a tag of our own,
// begins with the bracket that stands before rest. Letters that look like
// others count as those: what a person takes for a token, a model may too.
//
// Blanks behind the bracket are looked past, however many. What follows must
// then be closed as well, since programs and formulas have blanks there too.
func opens(bracket byte, rest string) bool {
	rest, apart := unblanked(rest)
	first, size := folded(rest)
	if bracket == '<' && first == '|' {
		next, _ := folded(rest[size:])
		return (tokenChar(next) || next == '/') && (!apart || piped(rest[size:]))
	}
	if first == '/' {
		var more bool
		rest, more = unblanked(rest[size:])
		apart = apart || more
	}
	var name [maxToken]byte
	n, end := 0, byte(0)
	for n < maxToken {
		c, size := folded(rest)
		if !tokenChar(c) {
			end = c
			break
		}
		name[n] = c
		n, rest = n+1, rest[size:]
	}
	if n == 0 {
		return false
	}
	closed := end
	if end == ' ' {
		rest, _ := unblanked(rest)
		closed, _ = folded(rest)
	}
	if bracket == '[' {
		return strings.HasPrefix(string(name[:n]), "untrusted:") || closed == ']' && bracketToken(string(name[:n]))
	}
	switch word := string(name[:n]); {
	case strings.HasPrefix(word, "untrusted"), strings.HasPrefix(word, "antml:"), closed == '>' && !apart && shortToken(word):
		return true
	case apart && closed != '>':
		return false
	case end != '>' && end != '/' && end != ' ' && rest != "":
		return false
	default:
		return tagToken(word)
	}
}

// unblanked gives a text without the blanks it begins with.
func unblanked(text string) (rest string, apart bool) {
	for {
		c, size := folded(text)
		if c != ' ' {
			return text, apart
		}
		text, apart = text[size:], true
	}
}

// piped reports whether a name is closed by a pipe and a bracket.
func piped(rest string) bool {
	for range maxToken {
		c, size := folded(rest)
		rest = rest[size:]
		switch {
		case c == '|':
			rest, _ = unblanked(rest)
			c, _ = folded(rest)
			return c == '>'
		case !tokenChar(c) && c != '/':
			return false
		}
	}
	return false
}

func tokenChar(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c == ':' || c == '.'
}

// shortToken: names that are also variables in programs count as tokens only
// with their closing bracket.
func shortToken(name string) bool {
	return slices.Contains([]string{"s", "bos", "eos", "eot", "unk", "pad", "mask", "sep", "cls", "sys"}, name)
}

func tagToken(name string) bool {
	return slices.Contains([]string{"start_of_turn", "end_of_turn", "begin_of_text", "end_of_text", "start_of_image", "end_of_utterance",
		"system", "assistant", "human", "think", "thinking", "system-reminder", "system_prompt", "system-prompt", "system_instruction", "system_instructions",
		"tool_call", "tool_calls", "tool_result", "tool_results", "tool_response", "tool_responses", "tool_output", "tool_outputs", "tool_use", "tools",
		"function_call", "function_calls", "function_result", "function_results", "function_response", "function_output", "invoke",
		"external_content"}, name)
}

func bracketToken(name string) bool {
	return slices.Contains([]string{"inst", "tool_calls", "tool_call", "tool_results", "tool_result", "tool_content", "available_tools", "system_prompt", "system_message", "think", "args", "call_id"}, name)
}

// turn looks for the marker of another's turn at the beginning of a line, such
// as "Human:", and gives the place of its colon, -1 for none. The words that
// also name fields count only where they are written with a capital.
func turn(line string) int {
	at := marks(line, " >#*_-")
	heading := strings.IndexByte(line[:at], '#') >= 0
	capital, n := false, 0
	var name [12]byte
	for n < len(name) {
		c, size := folded(line[at:])
		if c < 'a' || c > 'z' {
			break
		}
		if n == 0 {
			r, _ := utf8.DecodeRuneInString(line[at:])
			capital = unicode.IsUpper(r)
		}
		name[n] = c
		n, at = n+1, at+size
	}
	switch string(name[:n]) {
	case "human", "assistant":
	case "system", "user", "developer", "tool":
		if !capital {
			return -1
		}
	case "instruction", "instructions", "response":
		if !heading {
			return -1
		}
	default:
		return -1
	}
	at += marks(line[at:], " *_")
	if c, _ := folded(line[at:]); c != ':' {
		return -1
	}
	return at
}

// marks gives the length of the signs a text begins with. A line end is none.
func marks(text, signs string) int {
	at := 0
	for at < len(text) && text[at] != '\n' && text[at] != '\r' {
		c, size := folded(text[at:])
		if strings.IndexByte(signs, c) < 0 {
			break
		}
		at += size
	}
	return at
}

// folded reads one character the way it looks: lower case, and plain ASCII for
// what a reader takes for it. A character that looks like none is 0.
func folded(text string) (c byte, size int) {
	if text == "" {
		return 0, 0
	}
	if c := text[0]; c < utf8.RuneSelf {
		switch {
		case c >= 'A' && c <= 'Z':
			return c + 'a' - 'A', 1
		case c == '\t', c == '\n', c == '\r':
			return ' ', 1
		}
		return c, 1
	}
	r, size := utf8.DecodeRuneInString(text)
	return lookalike(r), size
}

// lookalike is the ASCII character, in lower case, that another is taken for.
func lookalike(r rune) byte {
	switch {
	case r >= 0xff01 && r <= 0xff5e: // full width
		c := byte(r - 0xff01 + '!')
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		return c
	case r >= 0x1d400 && r <= 0x1d6a3: // letters of formulas, alphabet after alphabet
		return 'a' + byte((r-0x1d400)%26)
	case r >= 0x24b6 && r <= 0x24cf:
		return 'a' + byte(r-0x24b6)
	case r >= 0x24d0 && r <= 0x24e9:
		return 'a' + byte(r-0x24d0)
	}
	if c := bracketLike(r); c != 0 {
		return c
	}
	switch r {
	case '∣', '│', 'ǀ', '❘', '⏐', '丨', '¦':
		return '|'
	case '∶', '꞉', '﹕', '։', '׃', 'ː':
		return ':'
	case '⁄', '∕', '╱', '⧸':
		return '/'
	case '▁', 'ˍ', '﹍', '﹏':
		return '_'
	case '‐', '‑', '‒', '–', '—', '−', '﹣':
		return '-'
	case '›', '〉', '⟩', '˃', 'ᐳ', '❯', '﹥', '≻', '⋗', '»', '》', '⟫', '≫', '❭', '❱', '⟭', '⧽', '⪼', '⪢', '\u232a', '⦊':
		return '>'
	case '⟧', '】', '〛':
		return ']'
	case '\u00a0', '\u1680', '\u2000', '\u2001', '\u2002', '\u2003', '\u2004', '\u2005', '\u2006', '\u2007', '\u2008', '\u2009', '\u200a', '\u202f', '\u205f', '\u3000':
		return ' '
	}
	return letterLike(r)
}

// bracketLike knows what is taken for an opening bracket of a token.
func bracketLike(r rune) byte {
	switch r {
	case '＜', '‹', '〈', '⟨', '˂', 'ᐸ', '❮', '﹤', '≺', '⋖', '«', '《', '⟪', '≪', '❬', '❰', '⟬', '⧼', '⪻', '⪡', '\u2329', '⦉':
		return '<'
	case '［', '⟦', '【', '〚':
		return '['
	}
	return 0
}

func letterLike(r rune) byte {
	switch r {
	case 'а', 'А', 'Α', 'α', 'ɑ':
		return 'a'
	case 'В', 'Β', 'Ь':
		return 'b'
	case 'с', 'С', 'ϲ', 'Ϲ':
		return 'c'
	case 'ԁ', 'ⅾ':
		return 'd'
	case 'е', 'Е', 'Ε', 'ҽ', '℮':
		return 'e'
	case 'ɡ', 'ց':
		return 'g'
	case 'һ', 'Н', 'Η', 'Һ', 'հ':
		return 'h'
	case 'і', 'І', 'Ι', 'ι', 'ı', 'ӏ', 'Ӏ':
		return 'i'
	case 'ј', 'Ј':
		return 'j'
	case 'К', 'Κ', 'κ', 'к', '\u212a':
		return 'k'
	case 'ⅼ', 'ℓ':
		return 'l'
	case 'М', 'Μ', 'ⅿ', 'м':
		return 'm'
	case 'Ν', 'ո', 'п':
		return 'n'
	case 'о', 'О', 'Ο', 'ο', 'σ', 'օ':
		return 'o'
	case 'р', 'Р', 'Ρ', 'ρ':
		return 'p'
	case 'ԛ':
		return 'q'
	case 'г':
		return 'r'
	case 'ѕ', 'Ѕ', 'ſ', 'ꜱ':
		return 's'
	case 'Т', 'Τ', 'τ', 'т':
		return 't'
	case 'υ', 'ս', 'μ', 'µ':
		return 'u'
	case 'ν', 'ѵ':
		return 'v'
	case 'ԝ', 'ѡ':
		return 'w'
	case 'х', 'Х', 'Χ', 'χ':
		return 'x'
	case 'у', 'У', 'Υ', 'γ', 'ү':
		return 'y'
	case 'Ζ':
		return 'z'
	}
	return 0
}
