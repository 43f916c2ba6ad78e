package desk

import (
	"encoding/json"
	"strings"
)

// What is hidden in a question is meant to be keys and passwords. A password
// may be anything, though, and so what is hidden may be a command that somebody
// put in the place of one. Where it could be, the answer must not last.

// hidesMore reports whether arguments as they are shown lack anything but plain
// words.
func hidesMore(whole, shown json.RawMessage, mark string) bool {
	var a, b any
	if json.Unmarshal(whole, &a) != nil || json.Unmarshal(shown, &b) != nil {
		return string(whole) != string(shown)
	}
	return valueHidesMore(a, b, mark)
}

func valueHidesMore(whole, shown any, mark string) bool {
	switch w := whole.(type) {
	case string:
		s, ok := shown.(string)
		return !ok || textHidesMore(w, s, mark)
	case []any:
		s, ok := shown.([]any)
		if !ok || len(s) != len(w) {
			return true
		}
		hidden := 0
		for i := range w {
			if valueHidesMore(w[i], s[i], mark) {
				return true
			}
			if s[i] == any(mark) && w[i] != s[i] {
				hidden++
			}
		}
		return hidden > 1 // a command is a list of plain words too
	case map[string]any:
		s, ok := shown.(map[string]any)
		if !ok || len(s) != len(w) {
			return true
		}
		for name, value := range w {
			other, ok := s[name]
			if !ok || valueHidesMore(value, other, mark) {
				return true
			}
		}
	}
	return false // a number or a word of JSON is as plain as can be
}

// textHidesMore does the same with a text. What is shown is the text with marks
// in the place of what is hidden. The pieces between the marks may fit in more
// than one place, so each is looked for from both ends, and what may be hidden
// between two is taken as large as it can be.
func textHidesMore(whole, shown, mark string) bool {
	if whole == shown {
		return false
	}
	if mark == "" || !strings.Contains(shown, mark) {
		return true
	}
	pieces := strings.Split(shown, mark)
	starts := make([]int, len(pieces)) // as far to the right as they fit
	end := len(whole)
	for i := len(pieces) - 1; i >= 0; i-- {
		at := strings.LastIndex(whole[:end], pieces[i])
		if at < 0 {
			return true // it was changed otherwise
		}
		starts[i], end = at, at
	}
	at := 0
	for i, piece := range pieces {
		if i == 0 {
			if !strings.HasPrefix(whole, piece) {
				return true
			}
			at = len(piece)
			continue
		}
		from := at
		n := strings.Index(whole[at:], piece)
		if n < 0 {
			return true
		}
		at += n + len(piece)
		if starts[i] > from && !plainWord(whole[from:starts[i]]) {
			return true
		}
	}
	return false
}

// plainWord reports whether a text is of letters that keys are written in, and
// has neither blanks nor anything that a shell goes by.
func plainWord(text string) bool {
	for i := range len(text) {
		c := text[i]
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("_-.+/=~%:@", c) >= 0) {
			return false
		}
	}
	return true
}
