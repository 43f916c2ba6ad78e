package app

import "testing"

// TestNamesOfOthers: no server has a name that a command of a person's own relies on.
func TestNamesOfOthers(t *testing.T) {
	for _, name := range []string{"undo", "files", "ovosbox", "project", "tools"} {
		if CheckServerName(name) == nil {
			t.Errorf("a server may be called %s", name)
		}
	}
	if err := CheckServerName("github"); err != nil {
		t.Error(err)
	}
}
