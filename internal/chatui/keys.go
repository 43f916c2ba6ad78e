package chatui

import (
	"strings"
	"unicode/utf8"
)

// key is one press: a character, or a name for what has none. Pasted text is one key,
// however many lines it has.
type key struct {
	name  string // see below; empty: text was typed or pasted
	text  string
	paste bool
	among bool // others came with it at once, as they do from a paste that says nothing of it
}

// The names of keys, as they are told to people.
const (
	keyEnter    = "enter"
	keyNewline  = "newline" // alt-enter, shift-enter or ctrl-j
	keyTab      = "tab"
	keyBack     = "backspace"
	keyDelete   = "delete"
	keyLeft     = "left"
	keyRight    = "right"
	keyUp       = "up"
	keyDown     = "down"
	keyHome     = "home"
	keyEnd      = "end"
	keyWordBack = "word-left"
	keyWordOn   = "word-right"
	keyEscape   = "escape"
	keyCutWord  = "ctrl-w"
	keyUnknown  = "unknown" // a sequence that means nothing here
)

// keyReader makes keys of bytes. A sequence may come in pieces.
type keyReader struct {
	rest   []byte
	pasted []byte // what was pasted so far
	paste  bool   // within a paste
}

// pasteMost bounds what one paste can be: a terminal that never says that it ends must
// not fill the memory.
const pasteMost = 1 << 20

const (
	pasteBegin = "\x1b[200~"
	pasteEnd   = "\x1b[201~"
)

// read takes bytes as they come and gives the keys that are whole.
func (r *keyReader) read(p []byte) (keys []key) {
	r.rest = append(r.rest, p...)
	for len(r.rest) > 0 {
		if r.paste {
			k, done := r.pasting()
			if !done {
				break
			}
			keys = append(keys, k)
			continue
		}
		k, n := r.next()
		if n == 0 {
			break
		}
		r.rest = r.rest[n:]
		if k.name == pasteBegin {
			r.paste = true
		} else if k.name != keyUnknown {
			keys = append(keys, k)
		}
	}
	return merge(keys)
}

// pasting looks for the end of a paste.
func (r *keyReader) pasting() (key, bool) {
	at := strings.Index(string(r.rest), pasteEnd)
	if at < 0 && len(r.pasted)+len(r.rest) < pasteMost {
		keep := min(len(r.rest), len(pasteEnd)-1) // which may be the beginning of its end
		r.pasted = append(r.pasted, r.rest[:len(r.rest)-keep]...)
		r.rest = r.rest[len(r.rest)-keep:]
		return key{}, false
	}
	if at < 0 {
		at = len(r.rest)
	}
	given := string(append(r.pasted, r.rest[:at]...))
	r.rest, r.pasted, r.paste = r.rest[min(at+len(pasteEnd), len(r.rest)):], nil, false
	return key{text: strings.ToValidUTF8(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(given), "\ufffd"), paste: true}, true
}

// waiting reports whether a sequence has begun that may be a key by itself.
func (r *keyReader) waiting() bool { return len(r.rest) > 0 && !r.paste }

// flush gives what has waited too long for the rest of it.
func (r *keyReader) flush() (keys []key) {
	for len(r.rest) > 0 && !r.paste {
		b := r.rest[0]
		r.rest = r.rest[1:]
		if b == 0x1b {
			keys = append(keys, key{name: keyEscape})
			if len(r.rest) > 0 && (r.rest[0] == '[' || r.rest[0] == 'O') { // a broken sequence is no text
				r.rest = nil
			}
		}
	}
	return keys
}

// next reads one key and says how long it is; 0: the rest is not there yet.
func (r *keyReader) next() (key, int) {
	b := r.rest
	switch c := b[0]; {
	case c == 0x1b:
		return sequence(b)
	case c < ' ' || c == 0x7f:
		return key{name: control(c)}, 1
	}
	if !utf8.FullRune(b) {
		return key{}, 0
	}
	c, n := utf8.DecodeRune(b)
	if c == utf8.RuneError && n == 1 {
		return key{name: keyUnknown}, 1
	}
	return key{text: string(c)}, n
}

func control(c byte) string {
	switch c {
	case '\r':
		return keyEnter
	case '\n':
		return keyNewline
	case '\t':
		return keyTab
	case 0x7f, 8:
		return keyBack
	case 0:
		return keyUnknown
	}
	if c < 27 {
		return "ctrl-" + string(rune('a'+c-1))
	}
	return keyUnknown
}

// sequence reads a key that begins with Escape.
func sequence(b []byte) (key, int) {
	if len(b) == 1 {
		return key{}, 0
	}
	switch b[1] {
	case '\r', '\n':
		return key{name: keyNewline}, 2
	case 0x7f, 8:
		return key{name: keyCutWord}, 2
	case 'b':
		return key{name: keyWordBack}, 2
	case 'f':
		return key{name: keyWordOn}, 2
	case 0x1b:
		return key{name: keyEscape}, 1
	case 'O':
		if len(b) < 3 {
			return key{}, 0
		}
		return key{name: cursorKey(b[2], "")}, 3
	case '[':
		return csiKey(b)
	case ']', 'P', '_', '^', 'X': // what a terminal answers to what nobody asked
		return answer(b)
	}
	return key{name: keyUnknown}, 2
}

// csiKey reads what begins with Escape [.
func csiKey(b []byte) (key, int) {
	for i := 2; i < len(b); i++ {
		if b[i] < 0x20 || b[i] > 0x3f {
			if b[i] < 0x40 || b[i] > 0x7e {
				return key{name: keyUnknown}, i // it was cut off; what follows is read by itself
			}
			args := string(b[2:i])
			if b[i] == '~' || b[i] == 'u' {
				return key{name: numberedKey(b[i], args)}, i + 1
			}
			return key{name: cursorKey(b[i], args)}, i + 1
		}
		if i > 64 {
			return key{name: keyUnknown}, i
		}
	}
	return key{}, 0
}

func cursorKey(letter byte, args string) string {
	word := strings.HasSuffix(args, ";5") || strings.HasSuffix(args, ";3")
	switch letter {
	case 'A':
		return keyUp
	case 'B':
		return keyDown
	case 'C':
		if word {
			return keyWordOn
		}
		return keyRight
	case 'D':
		if word {
			return keyWordBack
		}
		return keyLeft
	case 'H':
		return keyHome
	case 'F':
		return keyEnd
	case 'M':
		return keyEnter // of the number pad
	}
	return keyUnknown
}

func numberedKey(letter byte, args string) string {
	if letter == 'u' { // terminals that tell more: Enter with Shift, Alt or Ctrl
		if code, with, ok := strings.Cut(args, ";"); ok && code == "13" && with != "1" {
			return keyNewline
		}
		return keyUnknown
	}
	switch args {
	case "1", "7":
		return keyHome
	case "4", "8":
		return keyEnd
	case "3":
		return keyDelete
	case "200":
		return pasteBegin
	case "27;2;13", "27;3;13", "27;5;13":
		return keyNewline
	}
	return keyUnknown
}

// answer skips a text that a terminal sends, up to its end.
func answer(b []byte) (key, int) {
	for i := 2; i < len(b); i++ {
		if b[i] == 7 {
			return key{name: keyUnknown}, i + 1
		}
		if b[i] == 0x1b {
			if i+1 == len(b) {
				return key{}, 0
			}
			if b[i+1] == '\\' {
				return key{name: keyUnknown}, i + 2
			}
			return key{name: keyUnknown}, i
		}
		if i > 4096 {
			return key{name: keyUnknown}, i
		}
	}
	return key{}, 0
}

// merge makes one key of characters that came at once: typing ahead is one change.
func merge(keys []key) []key {
	out := keys[:0]
	for _, k := range keys {
		if n := len(out); k.name == "" && !k.paste && n > 0 && out[n-1].name == "" && !out[n-1].paste {
			out[n-1].text += k.text
			continue
		}
		out = append(out, k)
	}
	return out
}
