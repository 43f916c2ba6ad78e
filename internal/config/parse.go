package config

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// parseYAML reads the one document of a file and gives its root, or nil if the file is empty or broken. The tree still
// holds its aliases unexpanded, so its size is bounded by the size of the file.
func parseYAML(data []byte, ps *problems) *yaml.Node {
	data = bytes.TrimPrefix(data, []byte("\uFEFF")) // editors on Windows put it there
	if at, what := badCharacter(data); what != "" {
		ps.add(at, "", "%s", what)
		return nil
	}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var document, second yaml.Node
	err := decoder.Decode(&document)
	if errors.Is(err, io.EOF) {
		return nil
	}
	if err == nil {
		if err = decoder.Decode(&second); err == nil {
			ps.add(mark{line: second.Line, column: second.Column}, "", "a second document starts here: settings are one document")
			return nil
		}
	}
	if !errors.Is(err, io.EOF) {
		at, what := explain(err, data)
		ps.add(at, "", "%s", what)
		return nil
	}
	if document.Kind != yaml.DocumentNode || len(document.Content) != 1 {
		return nil
	}
	return document.Content[0]
}

// badCharacter finds the first thing that YAML does not allow in a text. The parser would find it too, but cannot say
// where.
func badCharacter(data []byte) (mark, string) {
	at := mark{line: 1, column: 1}
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			return at, "the file is not valid UTF-8"
		case r == '\n':
			at = mark{line: at.line + 1, column: 0}
		case r == '\t', r == '\r', r == '\u0085':
		case r < ' ', r >= '\u007f' && r <= '\u009f', r == '\ufffe', r == '\uffff':
			return at, "control character " + strconv.QuoteRuneToASCII(r) + " is not allowed"
		}
		at.column++
		i += size
	}
	return mark{}, ""
}

// explain turns an error of the parser into a place and a plain message. The parser gives its line as text, counts from
// zero in one half of its errors, and leaves the line out where it is the first.
func explain(err error, data []byte) (mark, string) {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	line := 0
	if rest, ok := strings.CutPrefix(text, "line "); ok {
		if digits, after, ok := strings.Cut(rest, ": "); ok {
			if n, err := strconv.Atoi(digits); err == nil {
				line, text = n, after
			}
		}
	}
	lines := strings.Split(string(data), "\n")
	if name, ok := strings.CutPrefix(text, "unknown anchor '"); ok {
		name, _, _ = strings.Cut(name, "'")
		at := find(lines, "*"+name)
		return at, "alias " + clip("*"+name) + " has no anchor before it"
	}
	if fromGrammar(text) {
		line++
	}
	line = min(max(line, 1), len(lines))
	// Where a tab breaks the indentation the parser may give the line of the block it breaks.
	last := line
	if strings.Contains(text, "tab character") {
		last = len(lines)
	} else if !strings.Contains(text, "cannot start any token") {
		last = 0
	}
	for i := line; i <= last; i++ {
		if column := tabIn(lines[i-1]); column > 0 {
			return mark{line: i, column: column}, "a tab is used for indentation: YAML allows only spaces there"
		}
	}
	return mark{line: line}, "this is not valid YAML: " + text
}

// fromGrammar reports whether a message comes from the half of the parser that counts lines from zero.
func fromGrammar(text string) bool {
	switch text {
	case "did not find expected <document start>", "did not find expected node content",
		"did not find expected '-' indicator", "did not find expected key", "did not find expected ',' or ']'",
		"did not find expected ',' or '}'", "found undefined tag handle", "found duplicate %YAML directive",
		"found incompatible YAML document", "found duplicate %TAG directive":
		return true
	}
	return false
}

// tabIn gives the column of a tab in the white space a line starts with, 0 if there is none.
func tabIn(line string) int {
	for i, r := range line {
		if r == '\t' {
			return i + 1
		}
		if r != ' ' {
			return 0
		}
	}
	return 0
}

// find gives the place of the first occurrence of a word.
func find(lines []string, word string) mark {
	for i, line := range lines {
		if before, _, ok := strings.Cut(line, word); ok {
			return mark{line: i + 1, column: utf8.RuneCountInString(before) + 1}
		}
	}
	return mark{line: 1}
}
