package codemode

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Exception is what a worker says of an exception: the body of Failed.
type Exception struct {
	Name    string `json:"name"`
	Code    string `json:"code,omitempty"`
	Message string `json:"message"`
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
}

// failed reads why a script ended. The lines around it are those that we have.
func (v *session) failed(m Message) error {
	var x Exception
	if err := json.Unmarshal(m.Body, &x); err != nil {
		return fmt.Errorf("%w: %w", errFrame, err)
	}
	v.mu.Lock()
	v.outcome.Lost += int(m.ID)
	v.mu.Unlock()
	return &ScriptError{
		Name: clip(x.Name, 100), Code: clip(x.Code, 100), Message: clip(x.Message, 4000),
		Line: x.Line, Column: x.Column, Around: around(v.code, x.Line, x.Column),
	}
}

// around shows the line and two before and after it, with a mark below the column.
func around(code string, line, column int) string {
	lines := strings.Split(code, "\n")
	if line < 1 || line > len(lines) {
		return ""
	}
	var b strings.Builder
	for i := max(1, line-2); i <= min(len(lines), line+2); i++ {
		text, mark := window(lines[i-1], column)
		fmt.Fprintf(&b, "%4d | %s\n", i, text)
		if i == line && column > 0 {
			fmt.Fprintf(&b, "     | %s^\n", strings.Repeat(" ", mark))
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

// window is the part of a long line that has the column in it, and where in it that is.
func window(line string, column int) (string, int) {
	const width = 120
	letters := []rune(strings.TrimRight(strings.ReplaceAll(line, "\t", " "), "\r"))
	from := 0
	if len(letters) > width {
		from = max(0, min(column-width/2, len(letters)-width))
	}
	part := letters[from:min(len(letters), from+width)]
	return string(part), min(max(0, column-1-from), len(part))
}
