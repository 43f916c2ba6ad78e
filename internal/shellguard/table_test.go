package shellguard

import (
	"reflect"
	"strings"
	"testing"
)

// TestTables: every row can be read, and every name has one. A row that cannot be
// read would make its program unknown, and nobody would see why.
func TestTables(t *testing.T) {
	for what, table := range map[string]string{"forms.txt": formText, "taken.txt": takenText} {
		forms, rows, seen := readForms(table), 0, map[string]bool{}
		for line := range strings.Lines(table) {
			if line = strings.TrimSuffix(line, "\n"); line == "" || line[0] == '#' {
				continue
			}
			names, _, ok := strings.Cut(line, ":")
			if !ok {
				t.Errorf("%s: %q has no colon", what, line)
			}
			rows++
			for name := range strings.SplitSeq(strings.TrimPrefix(names, "@"), " @") {
				if seen[name] {
					t.Errorf("%s: %q has two rows", what, name)
				}
				f, ok := forms.of(name)
				if !ok || f.check != "" && reflect.ValueOf(checkOf(f.check)).Pointer() == reflect.ValueOf(noCheck).Pointer() {
					t.Errorf("%s: the row of %q cannot be read", what, name)
				}
				seen[name] = true
			}
		}
		if rows < 70 {
			t.Errorf("%s has %d rows", what, rows)
		}
	}
}

// TestNamesOfRows: a name from a hostile line is a whole name of a row, or none.
func TestNamesOfRows(t *testing.T) {
	for _, name := range []string{"", "ca", "at", "grep @egrep", "rev:\n@cut", "cut: short=nsz", "short=br", "Programs", "<diff>", "git status", "@cat", "cat\n", "expand ", " unexpand", "name"} {
		if f := findForm(name, nil); f.known {
			t.Errorf("%q has the form %+v", name, f.form)
		}
	}
	for _, row := range []string{"@x: shrt=a", "@x: most=many", "@x: like=<y>"} {
		if _, ok := readForms("# @xy: runs\n" + row + "\n").of("x"); ok {
			t.Errorf("%q was read", row)
		}
	}
}
