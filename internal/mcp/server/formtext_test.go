package server

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
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

// Where the arguments cannot be filled in, the second form shows them above the field:
// nobody types all of what they do not see.
func TestFormShowsWhatIsChanged(t *testing.T) {
	long := strings.Repeat("x", maxPrefill) + "end"
	for name, c := range map[string]struct {
		q     desk.Question
		shows string
	}{
		"filled in": {desk.Question{Input: []byte(`{"n":1}`)}, `{"n":1}`},
		"hidden":    {desk.Question{Input: []byte(`{"path":"a","key":"[hidden]"}`), Redacted: true}, "path: a\n"},
		"long":      {desk.Question{Input: []byte(`{"n":"` + long + `"}`)}, "n: " + long + "\n"},
		"a change":  {desk.Question{Input: []byte(`{"text":"` + long + `"}`), Preview: "+" + long + "\n"}, "+" + long + "\n"},
	} {
		c.q.ID, c.q.Tool = "q-1", "touch"
		f := &form{question: &c.q}
		shown := f.typedText(fieldArguments)
		if !strings.Contains(shown, "It would be given:") || !strings.Contains(shown, c.shows) || strings.Contains(shown, "would run") {
			t.Errorf("%s: %.300s", name, shown)
		}
		if strings.Contains(shown, "typed anew") != c.q.Redacted {
			t.Errorf("%s: what is hidden: %.300s", name, shown)
		}
	}
}

// Every answer that a tool offers can be chosen, once, and an answer of one's own beside
// them, whatever words the tool uses.
func TestFormOffersAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		options, offers []string
		given, message  string
		types           bool
	}{
		"blanks":         {[]string{" red ", "blue"}, []string{"red", "blue", "something else"}, "red", " red ", false},
		"blanks come":    {[]string{" red "}, []string{"red", "something else"}, " red ", " red ", false},
		"equal":          {[]string{"red", "red ", "red"}, []string{"red", "something else"}, "red", "red", false},
		"our words":      {[]string{"something else"}, []string{"something else", "something else, in your own words"}, "something else", "something else", false},
		"in place of it": {[]string{"something else"}, []string{"something else", "something else, in your own words"}, "something else, in your own words", "", true},
		"nothing":        {[]string{" ", ""}, nil, "green", "green", false},
	} {
		f := &form{question: &desk.Question{ID: "q-1", Tool: "consult", Text: "Which?", Options: c.options}, field: fieldAnswer}
		f.offerAnswers()
		if got := f.schema().Properties["answer"].Enum; !slices.Equal(got, c.offers) {
			t.Errorf("%s: offers %q", name, got)
		}
		reply, next, err := f.read(map[string]any{"answer": c.given})
		if err != nil || reply.Message != c.message || (next != nil) != c.types {
			t.Errorf("%s: %+v, %v, %v", name, reply, next, err)
		}
	}
}

// TestFormScript: a script that makes the call is shown behind what the call would do.
func TestFormScript(t *testing.T) {
	var script strings.Builder
	for i := range 60 {
		fmt.Fprintf(&script, "%3d | // words\n", i+1)
	}
	q := &desk.Question{
		ID: "q-1", Tool: "delete_file", Input: []byte(`{"path":"b.md"}`), Preview: "would remove b.md",
		Reasons: []toolcrib.Verdict{
			{Decision: toolcrib.Ask, Guard: "mode", Reason: "it destroys"},
			{Decision: toolcrib.Allow, Guard: "script", Note: true, Reason: script.String()},
		},
	}
	text, whole := formText(q)
	at := -1
	for _, part := range []string{"it destroys", "path: b.md", "would remove b.md", " 1 | // words"} {
		next := strings.Index(text, part)
		if next <= at || !whole {
			t.Fatalf("%q is at %d, %v:\n%s", part, next, whole, text)
		}
		at = next
	}
}
