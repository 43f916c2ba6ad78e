package desk_test

import (
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib/internal/desk"
)

// A long text is shown in one place at least: in the change, or, where that
// leaves something out, among the arguments.
func TestWhatIsWrittenIsShown(t *testing.T) {
	long := strings.Repeat("# filling\\n", 40) + "touch MARK"
	shown := func(q desk.Question) string {
		q.Tool, q.Input = "write_file", []byte(`{"path":"a","content":"`+long+`"}`)
		var b strings.Builder
		for _, part := range q.Describe() {
			b.WriteString(strings.Join(part.Lines, "\n") + "\n")
		}
		return b.String()
	}
	whole := "--- a\n+++ a\n@@ -1 +1 @@\n-old\n" + strings.Repeat("+# filling\n", 40) + "+touch MARK\n\\ No newline at end of file\n"
	if text := shown(desk.Question{Preview: whole}); !strings.Contains(text, "see below") || strings.Count(text, "touch MARK") != 1 {
		t.Error(text)
	}
	for name, q := range map[string]desk.Question{
		"binary":    {Preview: "--- a\n+++ a\n(the difference is not shown: the file is binary)\n"},
		"too large": {Preview: "--- a\n+++ a\n(the difference is not shown: the file is too large)\n"},
		"the rest":  {Preview: "--- a\n+++ a\n@@ -1 +1 @@\n-old\n+# filling\n(the rest of the difference is not shown)\n"},
		"cut":       {Preview: "--- a\n+++ a\n@@ -1 +1 @@\n-old\n+# filling\n", Cut: true},
		"none":      {},
	} {
		if text := shown(q); strings.Contains(text, "see below") || !strings.Contains(text, "touch MARK") {
			t.Errorf("%s: %s", name, text)
		}
	}
}

// Whoever has a model ask for a password gets a warning above the question, as a
// server's form does.
func TestQuestionsForSecretsWarn(t *testing.T) {
	title := func(text string, options ...string) string {
		q := desk.Question{Tool: "ask_user", Text: text, Options: options}
		return q.Describe()[0].Title
	}
	const warning = "give it no password"
	for _, got := range []string{title("Toolcrib: your vault is locked. Enter its\npassphrase to go on."), title("Which one?", "my API key is …")} {
		if !strings.Contains(got, warning) {
			t.Errorf("no warning: %s", got)
		}
	}
	if got := title("Which colour?", "red"); strings.Contains(got, warning) || !strings.HasPrefix(got, "ask_user asks, for") {
		t.Error(got)
	}
}
