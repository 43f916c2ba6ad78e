package mcpserve

import (
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
		text, whole := formText(command("mkdir a"+strings.Repeat(blank, 50_000)+"; touch x"), nil)
		if !whole || len(text) > 2000 || !strings.Contains(text, "; touch x") || !strings.Contains(text, "blanks]") {
			t.Errorf("%q: %v, %d: %.300s", blank, whole, len(text), text)
		}
	}
	text, whole := formText(command(strings.Repeat("echo a; ", 10_000)+"touch x"), nil)
	if whole || !strings.HasPrefix(text, "There is more of it than can be shown here") {
		t.Errorf("%v: %.300s", whole, text)
	}
	long := &desk.Question{ID: "q-1", Tool: "write_file", Input: []byte(`{"path":"a"}`), Preview: strings.Repeat("+line\n", 20_000)}
	if text, whole = formText(long, nil); whole || !strings.HasPrefix(text, "There is more of it") {
		t.Errorf("a long change: %v: %.300s", whole, text)
	}
}
