package shellguard

import (
	"slices"
	"testing"
)

// TestCommentsEndWithTheirLine: no shell joins lines in a comment, and the parser
// does. What stands in the next line runs.
func TestCommentsEndWithTheirLine(t *testing.T) {
	for _, text := range []string{
		"echo a # b \\\nrm -rf x",
		"# b \\\nrm -rf x\n",
		"# a \\\n# b \\\n# c \\\nrm -rf x",
		"echo a \\\n b # c \\\nrm -rf x",
	} {
		l := Analyze(text, SystemOptions(t.TempDir()))
		if !slices.ContainsFunc(l.Programs, func(p Program) bool { return p.Name == "rm" }) {
			t.Errorf("%q hides what it runs: %v", text, l.Programs)
		}
	}
}
