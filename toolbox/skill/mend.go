package skill

import (
	"bytes"
	"strconv"
	"strings"
)

// fields decodes a front matter. How tells what had to be done for that: nothing, or a
// word for the person who looks after the skill.
func (b *Box) fields(front []byte) (fields map[string]any, how string) {
	if b.needs.YAML == nil {
		return loose(string(front)), ""
	}
	if fields := b.decode(front); fields != nil {
		return fields, ""
	}
	if mended, what := mend(string(front)); what != "" {
		if fields := b.decode([]byte(mended)); fields != nil {
			return fields, what
		}
	}
	return loose(string(front)), looseNote
}

// looseNote tells that a front matter was read line by line.
const looseNote = "its front matter is no YAML, and was read line by line"

func (b *Box) decode(front []byte) map[string]any {
	var fields map[string]any
	if err := b.needs.YAML(front, &fields); err != nil {
		return nil
	}
	return fields
}

// mend mends what people get wrong in YAML: a text with a colon in it, or one that
// begins with a sign of the language, which nobody quoted, and tabs that indent. What
// says what was wrong; empty: there was nothing of that.
func mend(front string) (mended, what string) {
	var out bytes.Buffer
	var notes []string
	note := func(text string) {
		if len(notes) == 0 || notes[len(notes)-1] != text {
			notes = append(notes, text)
		}
	}
	lines := strings.Split(front, "\n")
	for i := 0; i < len(lines); i++ {
		text := lines[i]
		if indent := len(text) - len(strings.TrimLeft(text, " \t")); strings.Contains(text[:indent], "\t") {
			text = strings.ReplaceAll(text[:indent], "\t", "  ") + text[indent:]
			note("tabs indent a line, where YAML wants spaces")
		}
		key, rest, ok := keyOf(text)
		if !ok || !needsQuotes(rest) {
			out.WriteString(text + "\n")
			continue
		}
		// A text may go on below; all of it is one text then.
		for i+1 < len(lines) && goesOn(lines[i+1]) {
			i++
			rest += " " + strings.TrimSpace(lines[i])
		}
		note(key + " wants quotes, because of the signs in it")
		out.WriteString(key + ": " + strconv.Quote(rest) + "\n")
	}
	return out.String(), strings.Join(notes, "; ")
}

// needsQuotes reports whether a value is a text that YAML reads as something else.
func needsQuotes(value string) bool {
	if value == "" || value == "|" || value == ">" || blockMark(value) || unquoted(value) != value {
		return false
	}
	if strings.Contains(value, ": ") || strings.HasSuffix(value, ":") {
		return true
	}
	switch value[0] {
	case '[':
		return !strings.HasSuffix(value, "]")
	case '{':
		return !strings.HasSuffix(value, "}")
	}
	return strings.ContainsRune("@`%&*!|>\"'", rune(value[0]))
}

// goesOn reports whether a line goes on with the text above it.
func goesOn(text string) bool {
	trimmed := strings.TrimSpace(text)
	return trimmed != "" && (text[0] == ' ' || text[0] == '\t') && !strings.HasPrefix(trimmed, "- ")
}
