package server

import (
	"fmt"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib/internal/desk"
)

// TestFormShowsAll: blanks push nothing out of sight, and what is too long to be
// shown says so first and is not whole: a change also, whose end may be what counts.
func TestFormShowsAll(t *testing.T) {
	command := func(text string) *desk.Question {
		return &desk.Question{ID: "q-1", Tool: "run_command", Input: []byte(`{"command":"` + text + `"}`), Parts: []string{"mkdir a", "touch x"}}
	}
	for _, blank := range []string{" ", "\u00a0", "\u2003", `\t`} {
		text, whole := formText(command("mkdir a" + strings.Repeat(blank, 50_000) + "; touch x"))
		if !whole || len(text) > 2000 || !strings.Contains(text, "; touch x") || !strings.Contains(text, "blanks]") {
			t.Errorf("%q: %v, %d: %.300s", blank, whole, len(text), text)
		}
	}
	text, whole := formText(command(strings.Repeat("echo a; ", 10_000) + "touch x"))
	if whole || !strings.HasPrefix(text, "It is too long to be answered here") {
		t.Errorf("%v: %.300s", whole, text)
	}
	for _, row := range []string{`\n`, `\n#`, `\n\u00a0`, `\n` + strings.Repeat(" ", 63), `\\\n`} {
		text, whole := formText(command("mkdir a" + strings.Repeat(row, 5000) + `\ntouch x`))
		if before, _, found := strings.Cut(text, "    touch x"); !whole || !found || strings.Count(before, "\n") > 20 {
			t.Errorf("rows of %q: %v: %.300s", row, whole, text)
		}
	}
	var b strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&b, `\n# %d`, i)
	}
	text, whole = formText(command("mkdir a" + b.String() + `\ntouch x`))
	if whole || strings.Index(text, "It would start") > strings.Index(text, "# 1") {
		t.Errorf("a thousand lines: %v: %.300s", whole, text)
	}
	long := &desk.Question{ID: "q-1", Tool: "write_file", Input: []byte(`{"path":"a"}`), Preview: strings.Repeat("+line\n+another\n", 10_000)}
	if text, whole = formText(long); whole || !strings.HasPrefix(text, "It is too long to be answered here") {
		t.Errorf("a long change: %v: %.300s", whole, text)
	}
}
