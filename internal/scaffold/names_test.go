package scaffold_test

import (
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib/internal/scaffold"
)

// FuzzSlug: a name that is made from a description is one that works, and has no sign of a path.
func FuzzSlug(f *testing.F) {
	for _, seed := range []string{"Count the words of a text", "../../etc/passwd", ".git/hooks/pre-commit", "数一数单词", "", "class", "9 lives", strings.Repeat("a", 300), "a__b", "C:\\x", "func", "main"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, description string) {
		for _, sep := range []byte{'_', '-'} {
			name := scaffold.Slug(description, "tool", sep)
			if err := scaffold.CheckName("x", name); err != nil {
				t.Fatalf("%q: %v", description, err)
			}
			if err := scaffold.CheckFunction(name); err != nil || strings.ContainsAny(name, `/\.`) {
				t.Fatalf("%q: %q %v", description, name, err)
			}
		}
	})
}

func TestNames(t *testing.T) {
	for _, bad := range []string{"", "../x", "a/b", `a\b`, ".git", "a b", "9a", "a__b", "é", strings.Repeat("a", 49), "a\x00", "-a"} {
		if scaffold.CheckName("a tool", bad) == nil {
			t.Errorf("%q is a name", bad)
		}
	}
	for description, want := range map[string]string{
		"Count the words of a text!": "count_the_words_of_a_text", "数一数单词": "tool_", "class": "tool_class", "2 ways to sort": "ways_to_sort",
	} {
		if got := scaffold.Slug(description, "tool", '_'); !strings.HasPrefix(got, want) {
			t.Errorf("%q: %q", description, got)
		}
	}
	if a, b := scaffold.Slug("数一数", "tool", '_'), scaffold.Slug("单词", "tool", '_'); a == b {
		t.Errorf("two descriptions are both %q", a)
	}
}
