package files

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/toolcrib/toolcrib"
)

// TestKeyIsNotWritten: what would hold a key is refused before it is written,
// and what is refused was not done.
func TestKeyIsNotWritten(t *testing.T) {
	d := newDesk(t, Config{})
	const cert, key = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"
	d.put(t, "ca.pem", cert)
	d.put(t, "id_notes", "words\n")
	for _, c := range []struct {
		tool string
		in   map[string]any
	}{
		{"write_file", map[string]any{"path": "y.pem", "content": "zzz"}},
		{"write_file", map[string]any{"path": "new/dir/y.pem", "content": "zzz"}},
		{"write_file", map[string]any{"path": ".npmrc", "content": "x"}},
		{"write_file", map[string]any{"path": "a.key", "content": key}},
		{"write_file", map[string]any{"path": "id_foo", "content": key}},
		{"write_file", map[string]any{"path": "id_notes", "content": key}},
		{"write_file", map[string]any{"path": "id_notes", "content": key, "append": true}},
		{"write_file", map[string]any{"path": "ca.pem", "content": key}},
		{"edit_file", map[string]any{"path": "ca.pem", "old_text": "AAAA", "new_text": "-----"}},
	} {
		name := filepath.Join(d.dir, c.in["path"].(string)) //nolint:forcetypeassert // see above
		before, _ := os.ReadFile(name)
		input, err := json.Marshal(c.in)
		if err != nil {
			t.Fatal(err)
		}
		_, err = d.Call(t.Context(), toolcrib.Call{Tool: c.tool, Input: input})
		after, _ := os.ReadFile(name)
		if toolcrib.CodeOf(err) != toolcrib.CodeDenied || string(before) != string(after) {
			t.Errorf("%s %v: %v; it holds %q", c.tool, c.in, err, after)
		}
	}
	if _, err := os.Lstat(filepath.Join(d.dir, "new")); err == nil {
		t.Error("a directory was made for what was refused")
	}
	for _, c := range []map[string]any{
		{"path": "ca.pem", "content": cert + cert}, {"path": "fresh.pem", "content": cert}, {"path": ".npmrc", "content": "save-exact=true\n"}, {"path": "id_notes", "content": "other words\n"},
	} {
		d.must(t, "write_file", c)
	}
}
