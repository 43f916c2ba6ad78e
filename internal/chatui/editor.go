package chatui

import (
	"strings"
	"time"
	"unicode"
)

// editor is the text that a person types: several lines, a cursor, and what was typed
// before.
type editor struct {
	text []rune
	at   int // the cursor is before this character

	history []string
	back    int    // how far back in it; 0: at what is typed now
	draft   string // what was typed before going back

	known   Kind // what choices are of
	choices []Choice
	asked   time.Time // when they were asked for
}

func (e *editor) String() string { return string(e.text) }
func (e *editor) empty() bool    { return len(e.text) == 0 }

func (e *editor) set(s string) {
	e.text = []rune(s)
	e.at = len(e.text)
}

// take gives what was typed, and begins anew.
func (e *editor) take() string {
	s := e.String()
	e.set("")
	e.back, e.draft = 0, ""
	return s
}

// remember adds to the history, unless it was the last one already.
func (e *editor) remember(s string) bool {
	if strings.TrimSpace(s) == "" || len(e.history) > 0 && e.history[len(e.history)-1] == s {
		return false
	}
	e.history = append(e.history, s)
	return true
}

func (e *editor) insert(s string) {
	add := []rune(s)
	text := make([]rune, 0, len(e.text)+len(add))
	text = append(append(append(text, e.text[:e.at]...), add...), e.text[e.at:]...)
	e.text, e.at = text, e.at+len(add)
}

func (e *editor) remove(from, to int) {
	e.text = append(e.text[:from:from], e.text[to:]...)
	e.at = from
}

// press takes in a key; false: it means nothing to an editor.
func (e *editor) press(k key) bool {
	switch k.name {
	case "":
		e.insert(k.text)
	case keyNewline:
		e.insert("\n")
	case keyBack:
		e.remove(e.before(e.at), e.at)
	case keyDelete:
		e.remove(e.at, e.after(e.at))
	case keyLeft, "ctrl-b":
		e.at = e.before(e.at)
	case keyRight, "ctrl-f":
		e.at = e.after(e.at)
	case keyHome, "ctrl-a":
		e.at = e.lineStart()
	case keyEnd, "ctrl-e":
		e.at = e.lineEnd()
	case keyWordBack:
		e.at = e.wordStart()
	case keyWordOn:
		e.at = e.wordEnd()
	case keyCutWord:
		e.remove(e.wordStart(), e.at)
	case "ctrl-u":
		e.remove(e.lineStart(), e.at)
	case "ctrl-k":
		e.remove(e.at, e.lineEnd())
	case keyUp, "ctrl-p":
		return e.up()
	case keyDown, "ctrl-n":
		return e.down()
	default:
		return false
	}
	return true
}

// before is where the character before a place begins: with its marks it is one.
func (e *editor) before(at int) int {
	for at > 0 {
		if at--; runeWidth(e.text[at]) > 0 {
			break
		}
	}
	return at
}

func (e *editor) after(at int) int {
	for at < len(e.text) {
		if at++; at == len(e.text) || runeWidth(e.text[at]) > 0 {
			break
		}
	}
	return at
}

func (e *editor) lineStart() int {
	at := e.at
	for at > 0 && e.text[at-1] != '\n' {
		at--
	}
	return at
}

func (e *editor) lineEnd() int {
	at := e.at
	for at < len(e.text) && e.text[at] != '\n' {
		at++
	}
	return at
}

func (e *editor) wordStart() int {
	at := e.at
	for at > 0 && unicode.IsSpace(e.text[at-1]) {
		at--
	}
	for at > 0 && !unicode.IsSpace(e.text[at-1]) {
		at--
	}
	return at
}

func (e *editor) wordEnd() int {
	at := e.at
	for at < len(e.text) && unicode.IsSpace(e.text[at]) {
		at++
	}
	for at < len(e.text) && !unicode.IsSpace(e.text[at]) {
		at++
	}
	return at
}

// up goes a line up, and from the first line back in the history.
func (e *editor) up() bool {
	if start := e.lineStart(); start > 0 {
		column := e.at - start
		e.at = start - 1
		e.at = min(e.lineStart()+column, start-1)
		return true
	}
	if e.back == len(e.history) {
		return true
	}
	if e.back == 0 {
		e.draft = e.String()
	}
	e.back++
	e.set(e.history[len(e.history)-e.back])
	return true
}

// down goes a line down, and from the last line forth in the history.
func (e *editor) down() bool {
	if end := e.lineEnd(); end < len(e.text) {
		column := e.at - e.lineStart()
		e.at = end + 1
		e.at = min(e.at+column, e.lineEnd())
		return true
	}
	switch e.back {
	case 0:
	case 1:
		e.back = 0
		e.set(e.draft)
	default:
		e.back--
		e.set(e.history[len(e.history)-e.back])
	}
	return true
}

// rows shows the text with a prompt before it, parted to a width, and says where the
// cursor is. Characters are parted one by one: a word that jumps to the next row while
// it is typed is hard to follow.
func (e *editor) rows(prompt line, most int) (rows []line, at place) {
	indent := strings.Repeat(" ", prompt.width())
	room := max(most-prompt.width(), 4)
	var row strings.Builder
	used := 0
	end := func() {
		head := line{{plain, indent}}
		if len(rows) == 0 {
			head = prompt
		}
		rows = append(rows, head.and(line{{plain, row.String()}}))
		row.Reset()
		used = 0
	}
	for i, r := range e.text {
		shown := string(r)
		if r != '\n' {
			shown = untab(exact(plain, shown).String())
		}
		if r != '\n' && used+width(shown) > room && used > 0 {
			end()
		}
		if i == e.at {
			at = place{len(rows), prompt.width() + used}
		}
		if r == '\n' {
			end()
			continue
		}
		row.WriteString(shown)
		used += width(shown)
	}
	if used >= room && e.at == len(e.text) { // the cursor stands where the next character will
		end()
	}
	if e.at == len(e.text) {
		at = place{len(rows), prompt.width() + used}
	}
	if used > 0 || e.at == len(e.text) || len(rows) == 0 || e.text[len(e.text)-1] == '\n' {
		end()
	}
	return rows, at
}
