package saved

import (
	"slices"
	"strings"
)

// reads is what can be read out of a script about the tools that it calls.
type reads struct {
	names    []string // in order, each once
	computed bool     // it takes tools by names that are not written there, or hands all of them on
}

// readCalls looks for tools.NAME and tools["NAME"] in a script. It need not find everything: what it misses cannot be called.
func readCalls(code string) reads {
	var out reads
	add := func(name string) {
		if !slices.Contains(out.names, name) {
			out.names = append(out.names, name)
		}
	}
	var templates []int // how many braces are open in each ${} that we are in
	for i := 0; i < len(code); {
		inside := len(templates) - 1
		switch c := code[i]; {
		case c == '`':
			n, more := templateEnd(code[i+1:])
			if i += 1 + n; more {
				templates = append(templates, 0)
			}
		case c == '{' && inside >= 0:
			templates[inside]++
			i++
		case c == '}' && inside >= 0 && templates[inside] > 0:
			templates[inside]--
			i++
		case c == '}' && inside >= 0:
			n, more := templateEnd(code[i+1:])
			if i += 1 + n; !more {
				templates = templates[:inside]
			}
		case strings.HasPrefix(code[i:], "//"):
			i += lineEnd(code[i:])
		case strings.HasPrefix(code[i:], "/*"):
			i += blockEnd(code[i:])
		case c == '"' || c == '\'':
			_, n := stringAt(code[i:])
			i += n
		case isWord(c):
			word := wordAt(code[i:])
			before := strings.TrimRight(code[:i], " \t\r\n")
			i += len(word)
			if word != "tools" || strings.HasSuffix(before, ".") && !strings.HasSuffix(before, "...") || strings.HasSuffix(before, "#") {
				continue
			}
			name, n := member(code[i:])
			if name == "" {
				out.computed = true
				continue
			}
			add(name)
			i += n
		default:
			i++
		}
	}
	slices.Sort(out.names)
	return out
}

// member reads .NAME, ?.NAME or ["NAME"] behind the word tools; empty: something else stands there.
func member(s string) (name string, size int) {
	i := space(s, 0)
	if strings.HasPrefix(s[i:], "?.") && !strings.HasPrefix(s[i:], "?.[") {
		i++
	} else if strings.HasPrefix(s[i:], "?.[") {
		i += 2
	}
	switch {
	case i < len(s) && s[i] == '.':
		i = space(s, i+1)
		name = wordAt(s[i:])
		return name, i + len(name)
	case i < len(s) && s[i] == '[':
		i = space(s, i+1)
		name, n := stringAt(s[i:])
		i = space(s, i+n)
		if n == 0 || i >= len(s) || s[i] != ']' || strings.ContainsRune(name, '\\') {
			return "", 0
		}
		return name, i + 1
	}
	return "", 0
}

func isWord(c byte) bool {
	return c == '_' || c == '$' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c >= 0x80
}

func wordAt(s string) string {
	i := 0
	for i < len(s) && isWord(s[i]) {
		i++
	}
	return s[:i]
}

// stringAt reads a string of one line, with its quotes; n is 0 if none stands there.
func stringAt(s string) (body string, n int) {
	if s == "" || s[0] != '"' && s[0] != '\'' {
		return "", 0
	}
	for i := 1; i < len(s) && s[i] != '\n'; i++ {
		switch s[i] {
		case '\\':
			i++
		case s[0]:
			return s[1:i], i + 1
		}
	}
	return "", 1 // no string: a quote inside of something else
}

func space(s string, i int) int {
	for i < len(s) {
		switch {
		case strings.ContainsRune(" \t\r\n", rune(s[i])):
			i++
		case strings.HasPrefix(s[i:], "/*"):
			i += blockEnd(s[i:])
		case strings.HasPrefix(s[i:], "//"):
			i += lineEnd(s[i:])
		default:
			return i
		}
	}
	return i
}

func lineEnd(s string) int {
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		return i
	}
	return len(s)
}

func blockEnd(s string) int {
	if i := strings.Index(s[2:], "*/"); i >= 0 {
		return i + 4
	}
	return len(s)
}

// templateEnd gives the place behind the text of a template: behind its end, or, if more, behind the ${ of a part that is code.
func templateEnd(s string) (n int, more bool) {
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\':
			i++
		case s[i] == '`':
			return i + 1, false
		case strings.HasPrefix(s[i:], "${"):
			return i + 2, true
		}
	}
	return len(s), false
}
