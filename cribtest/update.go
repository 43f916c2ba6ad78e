package cribtest

import (
	"bytes"
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The flag belongs to the test binary; its value is looked up when needed, so
// nothing is kept here.
var _ = flag.Bool("update", false, "rewrite golden files and journeys instead of comparing with them")

// Updating reports whether the test was started with -update.
func Updating() bool {
	f := flag.Lookup("update")
	return f != nil && f.Value.String() == "true"
}

// Golden compares got with the file, or writes the file when [Updating].
func Golden(t testing.TB, file string, got []byte) {
	t.Helper()
	if Updating() {
		if err := writeFile(file, got); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := goldenDiff(file, got); diff != "" {
		t.Errorf("%s: %s", file, diff)
	}
}

// goldenDiff tells how got differs from the file; empty: not at all.
func goldenDiff(file string, got []byte) string {
	want, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return "the golden file is missing; write it with -update and read it before you commit it"
	}
	if err != nil {
		return err.Error()
	}
	want = bytes.ReplaceAll(want, []byte("\r\n"), []byte("\n")) // a checkout may turn line ends
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		return "differs (-file +now); if the change is meant, rewrite it with -update:\n" + diff
	}
	return ""
}

func writeFile(file string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o644)
}
