package files_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/toolbox/files"
)

// TestAsCallKeepsWords holds what guards see of bytes that are no text: each word of
// them, whole and apart from its neighbours, and a text as it is.
func TestAsCallKeepsWords(t *testing.T) {
	for _, c := range []struct{ name, bytes, want string }{
		{"text", "a = 1\nb\n", "a = 1\nb\n"},
		{"text with a wrong byte", "a\xffb", "a\ufffdb"},
		{"words among zeros", "\x00\x00abcd\x00efghi\x00\x00", "\ufffdabcd\ufffdefghi\ufffd"},
		{"short ones are none", "abc\x00d\x00ef\x01g", "\ufffd"},
		{"a word at the end", "\x7fELF\x00key=value", "\ufffdkey=value\ufffd"},
		{"letters of other scripts", "\x00schlüssel\x00ключ", "\ufffdschlüssel\ufffdключ\ufffd"},
		{"half a letter ends a word", "\x00word\xd0\x00more", "\ufffdword\ufffdmore\ufffd"},
		{"lines stay lines", "\x00one\r\n\ttwo\n", "\ufffdone\r\n\ttwo\n\ufffd"},
		{"nothing to read", "\x00\x01\x02", "\ufffd"},
	} {
		if got := contentOf(t, []byte(c.bytes)); got != c.want {
			t.Errorf("%s: %q is judged as %q, want %q", c.name, c.bytes, got, c.want)
		}
	}
}

// FuzzAsCallKeepsWords: whatever lies around it, a word that was written is judged.
func FuzzAsCallKeepsWords(f *testing.F) {
	f.Add([]byte("\x00\x01"), "password", []byte("\xff\x00"))
	f.Add([]byte("\xd0"), "жжжж", []byte("\x00"))
	f.Fuzz(func(t *testing.T, before []byte, word string, after []byte) {
		if len([]rune(word)) < 4 || strings.ContainsFunc(word, func(r rune) bool { return r < ' ' || r > '~' }) {
			return
		}
		whole := append(append(append([]byte{0}, before...), word...), after...)
		if got := contentOf(t, whole); !strings.Contains(got, word) {
			t.Errorf("%q is judged as %q, without %q", whole, got, word)
		}
	})
}

// contentOf is what a file with these bytes is judged by.
func contentOf(t *testing.T, content []byte) string {
	t.Helper()
	_, tool, input, err := files.AsCall(toolcrib.Change{Path: "p", After: regular(t)}, content)
	if err != nil || tool != "write_file" {
		t.Fatalf("%s, %v", tool, err)
	}
	var in struct{ Content string }
	if err := json.Unmarshal(input, &in); err != nil {
		t.Fatal(err)
	}
	return in.Content
}

// regular is what is known of an ordinary file.
func regular(t *testing.T) fs.FileInfo {
	t.Helper()
	name := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	return info
}
