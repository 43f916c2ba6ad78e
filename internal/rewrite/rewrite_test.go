package rewrite

import (
	"os"
	"path/filepath"
	"testing"
)

// TestRewriteFileLosesNothing: what another writes in between is kept.
func TestRewriteFileLosesNothing(t *testing.T) {
	dir := t.TempDir()
	for name, before := range map[string]string{"there.yaml": "a: 1\n", "new.yaml": ""} {
		file := filepath.Join(dir, name)
		write := func(text string) {
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if before != "" {
			write(before)
		}
		err := File(file, func([]byte) ([]byte, error) {
			write("theirs: 2\n")
			return []byte("ours: 3\n"), nil
		})
		if got, _ := os.ReadFile(file); err == nil || string(got) != "theirs: 2\n" {
			t.Errorf("%s: %v, %q", name, err, got)
		}
		if err := File(file, func(text []byte) ([]byte, error) { return append(text, "ours: 3\n"...), nil }); err != nil {
			t.Error(err)
		}
		if got, _ := os.ReadFile(file); string(got) != "theirs: 2\nours: 3\n" {
			t.Errorf("%s: %q", name, got)
		}
	}
}
