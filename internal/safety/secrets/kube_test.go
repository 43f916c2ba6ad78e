package secrets

import (
	"strings"
	"testing"
)

// TestKubeDocuments: objects of the kind Secret that stand close together, with
// and without a line between them, are looked through without a slip, and the
// data of each is struck.
func TestKubeDocuments(t *testing.T) {
	s := testScanner(t)
	one, two := "aHVudGVyMi1vZi10aGUtZmlyc3Q=", "czNjcjN0LW9mLXRoZS1zZWNvbmQh"
	for _, between := range []string{"", "\n", "---\n", "\n---\n", "\n---", "--- # next\n", strings.Repeat("#\n", 3000)} {
		text := "kind: Secret\ndata:\n  a: " + one + "\n" + between + "kind: Secret\ndata:\n  b: " + two + "\n"
		if got := s.Strike(text, nil); strings.Contains(got, one) || strings.Contains(got, two) {
			t.Errorf("with %.20q between them: %.300q", between, got)
		}
	}
	// These only have to end.
	for _, text := range []string{
		"kind: Secret\n---kind: Secret\n", "kind: Secret kind: Secret\n---\n", "\n---kind: Secret\n---", `"kind":"Secret""kind":"Secret"`, "kind: Secret\nkind: Secret", "kind: 'Secret'\n---\n---\nkind: Secret",
	} {
		s.Find(text, nil)
		s.Find(strings.Repeat(text, 400), nil)
	}
}

// TestKubeLines: a comment ends no data, and what is not encoded is data, too.
func TestKubeLines(t *testing.T) {
	s := testScanner(t)
	const coded, plain = "aHVudGVyMi1TZWNyZXQ5OQ==", "hunter2-Secret99"
	for _, text := range []string{
		"kind: Secret\ndata:\n# mid\n  a: " + coded + "\n",
		"kind: Secret\ndata:\n  b: eHl6eHl6eHl6\n# mid\n#\n  a: " + coded + "\n",
		"data:\n  a: " + coded + "\n# mid\nstringData:\n# mid\n  b: " + plain + "\nkind: Secret\n",
		"kind: Secret\nstringData:\n  a: \"" + plain + "\"\n  b: '" + plain + "' # ours\n",
		"{\n  \"kind\": \"Secret\",\n  \"stringData\": {\n    \"a\": \"" + plain + "\"\n  }\n}\n",
	} {
		if got := s.Strike(text, nil); strings.Contains(got, coded) || strings.Contains(got, plain) {
			t.Errorf("%q is shown as %q", text, got)
		}
	}
	for _, text := range []string{
		"kind: Secret\nstringData:\n  host: db.example.com\n  user: postgres\n  url: http://h2:8080/x\n  pass: ${PASS_1234}\n  file.ini: |\n    level: 12345678-ab\n",
		"kind: ConfigMap\nstringData:\n  a: " + plain + "\n",
	} {
		if got := s.Strike(text, nil); got != text {
			t.Errorf("%q is shown as %q", text, got)
		}
	}
}
