package app

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
)

// TestHiddenFarAway: a value that the beginning of a long file calls a password is
// hidden at its end too, where nothing says what it is.
func TestHiddenFarAway(t *testing.T) {
	a, dir, _ := redactionApp(t, "correct-horse-battery")
	const value = "Tr0ub4dor-and-3-more"
	line := strings.Repeat("some text ", 10) + "\n"
	lines := (9 << 20) / len(line) // more than two of the windows that a file is looked through in
	text := "db_password: " + value + "\n" + strings.Repeat(line, lines) + "then " + value + " was typed\nlast: y\n"
	if err := os.WriteFile(filepath.Join(dir, "long.log"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, from := range []int{1, lines + 2} {
		out, failed := a.in(t, toolcrib.Caller{Subject: "ann"}, "read_file", map[string]any{"path": "long.log", "start_line": from, "end_line": from + 1})
		got := fmt.Sprint(out) + failed
		if strings.Contains(got, value) || !strings.Contains(got, "db_password") && !strings.Contains(got, "was typed") {
			t.Errorf("from line %d: %s", from, got)
		}
	}
}

// TestPartsShowNothingHidden: whoever reads a file in parts, in another encoding
// or by searching it is shown nothing of what the whole file hides.
func TestPartsShowNothingHidden(t *testing.T) {
	const value = "correct-horse-battery"
	a, dir, _ := redactionApp(t, value)
	ann := toolcrib.Caller{Subject: "ann", Session: "one"}
	var key strings.Builder
	key.WriteString("-----BEGIN RSA PRIVATE " + "KEY-----\n")
	for i := range 20 {
		key.WriteString(fmt.Sprintf("MII%02d", i) + strings.Repeat("Ab3dE5gH1jK7", 4) + "\n")
	}
	key.WriteString("-----END RSA PRIVATE " + "KEY-----\n")
	text := "name: x\napi: " + value + "\n" + key.String() + "last: y\n"
	if err := os.WriteFile(filepath.Join(dir, "app.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	said := func(tool string, input map[string]any) string {
		out, failed := a.in(t, ann, tool, input)
		all, err := json.Marshal(out)
		if err != nil {
			t.Fatal(err)
		}
		return string(all) + failed
	}
	for _, encoding := range []string{"utf-16le", "utf-16be", "base64", "latin-1", "utf-8"} {
		got := said("read_file", map[string]any{"path": "app.yaml", "encoding": encoding})
		plain := encoding == "latin-1" || encoding == "utf-8"
		if plain && !strings.Contains(got, "name: x") || !plain && !strings.Contains(got, "without encoding") || strings.Contains(got, value) {
			t.Errorf("%s: %s", encoding, got)
		}
	}
	for from := 1; from <= 24; from++ {
		got := said("read_file", map[string]any{"path": "app.yaml", "start_line": from, "end_line": from + 2})
		if strings.Contains(got, value) || strings.Contains(got, "Ab3d") {
			t.Errorf("from line %d: %s", from, got)
		}
	}
	if got := said("read_file", map[string]any{"path": "app.yaml", "start_line": 25}); !strings.Contains(got, "last: y") {
		t.Errorf("the lines have other numbers: %s", got)
	}
	for _, pattern := range []string{"api: c", "correct-h", "MII", "Ab3d", "horse"} {
		for _, at := range []string{".", "app.yaml"} {
			if got := said("search_files", map[string]any{"pattern": pattern, "path": at}); !strings.Contains(got, `"count":0`) {
				t.Errorf("search of %q in %s: %s", pattern, at, got)
			}
		}
	}
	for _, at := range []string{".", "app.yaml"} {
		if got := said("search_files", map[string]any{"pattern": "^last|^api", "regex": true, "path": at, "context": 2}); !strings.Contains(got, `"count":2`) || strings.Contains(got, "Ab3d") {
			t.Errorf("search of lines: %s", got)
		}
	}
	// A file that is looked through in several pieces, with keys at every place.
	var large strings.Builder
	for large.Len() < 20<<20 {
		large.WriteString(strings.Repeat(strings.Repeat("x", 99)+"\n", 3000))
		large.WriteString("api: " + value + "\n" + key.String())
	}
	if err := os.WriteFile(filepath.Join(dir, "large.log"), []byte(large.String()+"end: y\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, pattern := range []string{"api: c", "Ab3d"} {
		if got := said("search_files", map[string]any{"pattern": pattern, "path": "large.log"}); !strings.Contains(got, `"count":0`) {
			t.Errorf("search of %q: %.300s", pattern, got)
		}
	}
	if got := said("search_files", map[string]any{"pattern": "end: y", "path": "large.log"}); !strings.Contains(got, fmt.Sprintf(`"line":%d`, strings.Count(large.String(), "\n")+1)) {
		t.Errorf("search of the last line: %s", got)
	}
	if got := said("read_file", map[string]any{"path": "large.log", "start_line": 3004, "end_line": 3010}); strings.Contains(got, "Ab3d") || !strings.Contains(got, "redacted") {
		t.Errorf("lines of it: %.300s", got)
	}
}
