package rewrite

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
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

// TestBackupsArePruned: of many changes, the first backup and the newest ones stay. The first is what the person had
// before this program came.
func TestBackupsArePruned(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "config.yaml")
	others := []string{"config.yaml.before-setup", "config.yaml.before-20260101", "other.yaml.before-20260101T000000.000", "config.yaml.before-20200101T000000.000.mine"}
	for _, name := range append(others, "config.yaml") {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("0"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const changes = 25
	for i := 1; i <= changes; i++ {
		if err := File(file, func([]byte) ([]byte, error) { return []byte(strconv.Itoa(i)), nil }); err != nil {
			t.Fatal(err)
		}
		// Two within a millisecond have one name: wait until the clock has gone on.
		for last := backupOf(file); last == backupOf(file); {
			runtime.Gosched()
		}
	}
	kept := backups(t, file)
	if len(kept) != mostBackups {
		t.Fatalf("%d backups: %v", len(kept), kept)
	}
	for i, want := range map[int]string{0: "0", mostBackups - 1: strconv.Itoa(changes - 1), 1: strconv.Itoa(changes - mostBackups + 1)} {
		if got, err := os.ReadFile(kept[i]); err != nil || string(got) != want {
			t.Errorf("backup %d has %q, want %q: %v", i, got, want, err)
		}
	}
	for _, name := range others {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Errorf("a file of somebody else is gone: %v", err)
		}
	}
}

// backups are those of a file, the oldest first.
func backups(t *testing.T, file string) []string {
	t.Helper()
	list, err := filepath.Glob(file + ".before-20[0-9][0-9][0-9][0-9][0-9][0-9]T[0-9][0-9][0-9][0-9][0-9][0-9].[0-9][0-9][0-9]")
	if err != nil {
		t.Fatal(err)
	}
	return list
}
