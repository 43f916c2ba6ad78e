package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFaultsAreFound: a package whose types do not fit, that imports what is not there or
// that "go list" has an error for is told, and a right one is not.
func TestFaultsAreFound(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct{ text, want string }{
		"right.go":  {"package p\n\nconst A = 1\n", ""},
		"type.go":   {"package p\n\nvar A int = \"\"\n", "cannot use"},
		"body.go":   {"package p\n\nfunc f() { g() }\n", "undefined: g"},
		"import.go": {"package p\n\nimport _ \"none\"\n", "none is not there"},
		"none.go":   {"", "expected 'package'"},
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		list, err := json.Marshal(source{ImportPath: "p", Dir: dir, GoFiles: []string{name}})
		if err != nil {
			t.Fatal(err)
		}
		told := ""
		for _, err := range newChecker().read(bytes.NewReader(list)) {
			told += err.Error() + "\n"
		}
		if (told == "") != (c.want == "") || !strings.Contains(told, c.want) {
			t.Errorf("%s: told %q, want %q", name, told, c.want)
		}
	}
}

// FuzzList: a list that is cut off, or is none, is an error and no more.
func FuzzList(f *testing.F) {
	f.Add([]byte(`{"ImportPath":"p","ImportMap":{"a":"b"},"Module":{"GoVersion":"1.26"}}{"ImportPath":"q","Error":{"Err":"no"}}`))
	f.Add([]byte(`{"ImportPath":"unsafe"}{"ImportPath":`))
	f.Add([]byte(`{"ImportPath":"p","Module":{"GoVersion":"x"},"Error":{"Err":"build constraints exclude all Go files"}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if bytes.ContainsAny(text, `/\`) || bytes.Contains(text, []byte("GoFiles")) || bytes.Contains(bytes.ToLower(text), []byte("gofiles")) {
			t.Skip("it could name files of this machine")
		}
		c := newChecker()
		told := len(c.read(bytes.NewReader(text)))
		if text = bytes.TrimSpace(text); told == 0 && len(text) > 0 && text[len(text)-1] != '}' && !bytes.HasSuffix(text, []byte("null")) {
			t.Errorf("%q counts as whole", text)
		}
		if c.known["unsafe"] == nil {
			t.Error("a package that is always there is gone")
		}
	})
}
