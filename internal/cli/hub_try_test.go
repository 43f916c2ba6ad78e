package cli

import (
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib/internal/app"
)

// TestNotesOfATest: instructions are no tool, and one is not several.
func TestNotesOfATest(t *testing.T) {
	for want, s := range map[string]testedServer{
		"":                               {},
		"1 tool is kept back":            {ServerStatus: app.ServerStatus{Held: 1}},
		"2 tools are kept back":          {ServerStatus: app.ServerStatus{Held: 2}},
		"its instructions are kept back": {ServerStatus: app.ServerStatus{Held: 1}, Instructions: true},
		"1 tool is kept back; its instructions are kept back; 1 tool is left out":                                       {ServerStatus: app.ServerStatus{Held: 2}, Instructions: true, LeftOut: 1},
		"3 tools are left out; 1 part of its schemas is left to the server to check":                                    {LeftOut: 3, Unchecked: 1},
		"2 tools are kept back; its instructions are kept back; 2 parts of its schemas are left to the server to check": {ServerStatus: app.ServerStatus{Held: 3}, Instructions: true, Unchecked: 2},
	} {
		if got := strings.Join(s.notes(), "; "); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
