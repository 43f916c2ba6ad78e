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
