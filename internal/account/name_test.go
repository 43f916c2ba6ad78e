package account

import (
	"testing"

	"github.com/toolcrib/toolcrib"
)

// TestName: lists and counts name a tool so that it can be typed into a rule.
func TestName(t *testing.T) {
	for want, r := range map[string]toolcrib.Record{
		"read_file":            {Tool: "read_file", Box: "files", Native: "read_file"},
		"bash_exec":            {Tool: "bash_exec", Box: "shell", Native: "run_command"},
		"shop__order":          {Tool: "shop__order", Box: "shop", Native: "order"},
		"ovosbox/parrot__echo": {Tool: "parrot__echo", Box: "ovosbox", Native: "parrot__echo"},
		"project/deploy":       {Tool: "deploy", Box: "project", Native: "deploy"},
		"gone":                 {Tool: "gone"}, // there was no such tool
	} {
		if by, _ := Group("tool", r, nil); Name(r) != want || by != want {
			t.Errorf("%s of %s is called %s and %s, want %s", r.Native, r.Box, Name(r), by, want)
		}
	}
}
