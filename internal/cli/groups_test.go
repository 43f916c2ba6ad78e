package cli

import "testing"

// TestEveryCommandIsInAGroup: one that is in none stands alone at the end of the help page.
func TestEveryCommandIsInAGroup(t *testing.T) {
	c := &command{}
	for _, cmd := range c.root().Commands() {
		if cmd.GroupID == "" && !cmd.Hidden {
			t.Errorf("%s is in no group of groups.go", cmd.Name())
		}
	}
}
