// Package gitconfig reads git's settings to find what git is pointed at: the
// files of a work tree that git runs or obeys because its settings say so. The
// guards and the sandbox both protect those. It imports nothing of ours, starts
// no git, and reads files only by the function that it is given.
//
// It reads leniently: a file that git would refuse may still name places, and
// protecting one too many costs less than one too few. The guard of command
// lines has a strict check of its own for the other question, whether a setting
// starts a program.
package gitconfig

import "strings"

// Setting is one line of a configuration.
type Setting struct {
	Section, Sub string // the section in lower case, the subsection as it stands
	Key          string // in lower case
	Value        string
}

// maxSettings bounds what is read out of one file.
const maxSettings = 10_000

// Parse reads the settings of a text. What it does not understand it skips.
func Parse(text string) []Setting {
	var out []Setting
	p := &reader{text: strings.TrimPrefix(text, "\ufeff")}
	section, sub := "", ""
	for len(out) < maxSettings {
		p.blank()
		switch c, ok := p.peek(); {
		case !ok:
			return out
		case c == '#' || c == ';':
			p.line()
		case c == '[':
			section, sub = p.section()
		default:
			key := strings.ToLower(p.word())
			if key == "" {
				p.line()
				continue
			}
			out = append(out, Setting{Section: section, Sub: sub, Key: key, Value: p.value()})
		}
	}
	return out
}

type reader struct {
	text string
	at   int
}

func (r *reader) peek() (byte, bool) {
	if r.at >= len(r.text) {
		return 0, false
	}
	return r.text[r.at], true
}

func (r *reader) blank() {
	for r.at < len(r.text) && strings.IndexByte(" \t\r\n", r.text[r.at]) >= 0 {
		r.at++
	}
}

// line skips the rest of a line.
func (r *reader) line() {
	if i := strings.IndexByte(r.text[r.at:], '\n'); i >= 0 {
		r.at += i + 1
		return
	}
	r.at = len(r.text)
}

// section reads [name], [name "sub"] and the old [name.sub].
func (r *reader) section() (name, sub string) {
	r.at++
	from := r.at
	for r.at < len(r.text) && strings.IndexByte("]\" \t\n", r.text[r.at]) < 0 {
		r.at++
	}
	name, sub, _ = strings.Cut(strings.ToLower(r.text[from:r.at]), ".")
	for r.at < len(r.text) && (r.text[r.at] == ' ' || r.text[r.at] == '\t') {
		r.at++
	}
	if c, ok := r.peek(); ok && c == '"' {
		var b strings.Builder
		for r.at++; r.at < len(r.text) && r.text[r.at] != '"' && r.text[r.at] != '\n'; r.at++ {
			if r.text[r.at] == '\\' && r.at+1 < len(r.text) {
				r.at++
			}
			b.WriteByte(r.text[r.at])
		}
		sub = b.String()
		r.at++
	}
	for r.at < len(r.text) && r.text[r.at] != '\n' {
		r.at++
		if r.text[r.at-1] == ']' {
			break
		}
	}
	r.at = min(r.at, len(r.text))
	return name, sub
}

// word reads the name of a setting.
func (r *reader) word() string {
	from := r.at
	for r.at < len(r.text) {
		c := r.text[r.at]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' {
			break
		}
		r.at++
	}
	return r.text[from:r.at]
}

// value reads what follows a name, to the end of its line: quotes, escapes,
// remarks, and lines that go on after a backslash. Without a = it is true.
func (r *reader) value() string {
	for r.at < len(r.text) && (r.text[r.at] == ' ' || r.text[r.at] == '\t') {
		r.at++
	}
	if c, ok := r.peek(); !ok || c != '=' {
		r.line()
		return "true"
	}
	var b strings.Builder
	quoted := false
	end := 0 // how much stays when blanks at the end go
	for r.at++; r.at < len(r.text); r.at++ {
		c := r.text[r.at]
		switch {
		case c == '\n':
			r.at++
			return b.String()[:end]
		case c == '"':
			quoted = !quoted
			end = b.Len()
			continue
		case !quoted && (c == '#' || c == ';'):
			r.line()
			return b.String()[:end]
		case c == '\\' && r.at+1 < len(r.text):
			r.at++
			switch c = r.text[r.at]; c {
			case '\n':
				continue
			case 'n':
				c = '\n'
			case 't':
				c = '\t'
			case 'b':
				c = '\b'
			case '\r':
				if r.at+1 < len(r.text) && r.text[r.at+1] == '\n' {
					r.at++
				}
				continue
			}
			b.WriteByte(c)
			end = b.Len()
			continue
		case c == '\\':
			continue // at the very end
		case c == '\r' && r.at+1 < len(r.text) && r.text[r.at+1] == '\n':
			continue
		case !quoted && b.Len() == 0 && (c == ' ' || c == '\t'):
			continue
		}
		b.WriteByte(c)
		if quoted || c != ' ' && c != '\t' {
			end = b.Len()
		}
	}
	return b.String()[:end]
}
