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

// TestAssignmentsOfBash: a variable that changes nothing is no longer plain where it
// is a list, a part of one, or more of what it was.
func TestAssignmentsOfBash(t *testing.T) {
	for text, reads := range map[string]bool{
		"LC_ALL=C ls": true, "LC_ALL+=C ls": false, "LC_ALL=(C) ls": false, "LC_ALL[0]=C ls": false,
		"LC_ALL=C; ls": true, "LC_ALL+=C; ls": false, "LC_ALL=(C); ls": false, "LC_ALL[0]=C; ls": false,
		"hash -r; ls": false, "enable x; ls": false, // they change which program a name means
	} {
		if got := Analyze(text, SystemOptions(t.TempDir())).ReadOnly(); got != reads {
			t.Errorf("%s: it only reads: %v", text, got)
		}
	}
}
