package app

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/settings"
)

// TestAskedFilesAreNotGuessed: a file that a rule has asked about cannot be read piece by
// piece from why edits of it fail, nor found out to be there. The mode alone hides nothing,
// since it lets files be read.
func TestAskedFilesAreNotGuessed(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "diary.txt"), []byte("dear dear diary"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, rule := range []string{"files/*(./diary.txt)", "*", ""} {
		cfg := settings.Defaults()
		if rule != "" {
			cfg.Permissions.Ask = []string{rule, "files/*(./gone.txt)"}
		}
		a, err := Open(t.Context(), cfg, Needs{State: filepath.Join(t.TempDir(), "state"), Dir: dir, Home: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		for _, call := range []toolcrib.Call{
			{Tool: "edit_file", Input: json.RawMessage(`{"path":"diary.txt","old_text":"dear","new_text":"x"}`)},
			{Tool: "edit_file", Input: json.RawMessage(`{"path":"diary.txt","old_text":"lear","new_text":"x"}`)},
			{Tool: "edit_file", Input: json.RawMessage(`{"path":"gone.txt","old_text":"lear","new_text":"x"}`)},
			{Tool: "delete_file", Input: json.RawMessage(`{"path":"gone.txt"}`)},
		} {
			r, err := a.Crib.Call(t.Context(), call)
			said := ""
			if r != nil {
				said = r.String()
			}
			if err != nil {
				said = err.Error()
			}
			if asked := strings.Contains(said, "has to approve"); asked != (rule != "") {
				t.Errorf("%q: %s %s: %s", rule, call.Tool, call.Input, said)
			}
		}
		if err := a.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
}
