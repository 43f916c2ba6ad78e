//go:build unix

package dialect

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
)

// FuzzOWL makes calls with any arguments: each is answered by one object or refused in
// words, what failed says so under the key error, and what lies beside the granted
// directory is as it was.
func FuzzOWL(f *testing.F) {
	for _, seed := range []string{
		`{"path":"a.txt"}`, `{"path":"../beside"}`, `{"path":"~/../beside","content":"x"}`, `{"path":"a.txt","start_line":-1,"end_line":99999999999}`,
		`{"path":"a.txt","old_text":"","new_text":"x","occurrence":0}`, `{"path":"a.txt","old_text":"a","new_text":"a","occurrence":-7}`,
		`{"path":".","pattern":"**/../*","recursive":true}`, `{"path":".","pattern":"[","file_pattern":"../*"}`, `{"command":"cat ../beside","working_dir":".."}`,
		`{"path":{"path":"a"}}`, `{"path":null}`, `[]`, `"a"`, `{"path":"a\u0000b"}`, `{"path":"a.txt","PATH":"../beside"}`, `{"path":"out/beside","content":"x"}`,
	} {
		f.Add(seed)
	}
	home := newTree(f)
	root, beside := filepath.Join(home, "work"), filepath.Join(home, "beside")
	put(f, beside, "kept")
	put(f, filepath.Join(root, "a.txt"), "a\nb\n")
	if err := os.Symlink(home, filepath.Join(root, "out")); err != nil {
		f.Fatal(err)
	}
	opt := Options{Home: home, MaxTimeout: 1e9}
	r := newRoom(f, setup{root: root, opt: opt, write: true, guards: []toolcrib.Guard{cribtest.Allow(), newOWLBound(opt)}})
	f.Fuzz(func(t *testing.T, args string) {
		for _, tool := range owlTools(opt) {
			if tool.box != "files" {
				continue // nothing of theirs is run here
			}
			result, refusal := r.call(t, OWL, tool.name, json.RawMessage(args))
			if result == nil {
				if refusal == "" || strings.Contains(refusal, "broke") || strings.Contains(refusal, "no form in this dialect") {
					t.Fatalf("%s %q: refused with %q", tool.name, args, refusal)
				}
				continue
			}
			var answer map[string]any
			if err := json.Unmarshal(result.Value, &answer); err != nil {
				t.Fatalf("%s %q: %v: %s", tool.name, args, err, result.Value)
			}
			if _, says := answer["error"]; says != result.Failed {
				t.Fatalf("%s %q: failed is %v: %s", tool.name, args, result.Failed, result.Value)
			}
		}
		if text, err := os.ReadFile(beside); err != nil || string(text) != "kept" {
			t.Fatalf("%q: beside the granted directory: %q, %v", args, text, err)
		}
		if text, err := filepath.Glob(filepath.Join(home, "*")); err != nil || len(text) != 2 {
			t.Fatalf("%q: beside the granted directory: %q, %v", args, text, err)
		}
	})
}
