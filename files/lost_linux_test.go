package files_test

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
)

// TestFilesRemoveToAFullDisk: what cannot be copied to a trash on another disk
// stays where it is, and the trash keeps no half of it.
func TestFilesRemoveToAFullDisk(t *testing.T) {
	const most = 64 << 10
	if dirs := os.Getenv("TOOLCRIB_TEST_FULL"); dirs != "" { // the process that may write no more than that to a file
		in, trash, _ := strings.Cut(dirs, "|")
		signal.Ignore(syscall.SIGXFSZ)
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: most, Max: most}); err != nil {
			t.Fatal(err)
		}
		f, err := files.New([]files.Dir{{Path: in, Write: true}}, files.Options{Trash: trash})
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := f.Remove("small.txt"); err != nil {
			t.Errorf("what there is room for: %v", err)
		}
		if gone, err := f.Remove("large.txt"); err == nil {
			t.Errorf("%+v is said to be removed", gone)
		}
		return
	}
	trash, err := os.MkdirTemp("/dev/shm", "toolcrib")
	if err != nil {
		t.Skip("there is no other disk here: ", err)
	}
	defer os.RemoveAll(trash)
	g := newGrounds(t)
	large := strings.Repeat("a line of a large file\n", most/8)
	g.put(t, "in/large.txt", large)
	g.put(t, "in/small.txt", "small\n")
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, "-test.run=^TestFilesRemoveToAFullDisk$")
	cmd.Env = append(os.Environ(), "TOOLCRIB_TEST_FULL="+g.in+"|"+trash)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	if g.read(t, "in/large.txt") != large {
		t.Error("the file is lost")
	}
	kept, err := filepath.Glob(filepath.Join(trash, "*", "entry"))
	if err != nil || len(kept) != 1 {
		t.Errorf("the trash holds %v, %v", kept, err)
	}
}

// TestFilesRenamedPlace: a protected file that gets the name of another between
// the look at a folder and the opening is known by what it is.
func TestFilesRenamedPlace(t *testing.T) {
	g := newGrounds(t)
	g.put(t, "in/home/.netrc", "SECRET\n")
	g.put(t, "in/other.txt", "other\n")
	f := g.open(t, files.Options{Protected: protection(t, filepath.Join(g.in, "home"))}, "w in")
	opened := func(d *files.Folder, name string) (string, error) {
		s, err := d.Open(name)
		if err != nil {
			return "", err
		}
		text, err := io.ReadAll(s)
		return string(text), errors.Join(err, s.Close())
	}
	err := f.Walk(t.Context(), ".", func(d *files.Folder) error {
		if d.Path != "." {
			return nil
		}
		if !slices.ContainsFunc(d.Entries, func(e files.Entry) bool { return e.Name == "a.txt" }) {
			t.Errorf("the folder holds %v", d.Entries)
		}
		if err := os.Rename(filepath.Join(g.in, "home", ".netrc"), filepath.Join(g.in, "a.txt")); err != nil {
			return err
		}
		if text, err := opened(d, "a.txt"); toolcrib.CodeOf(err) != toolcrib.CodeDenied {
			t.Errorf("under its new name: %q, %v", text, err)
		}
		if text, err := opened(d, "other.txt"); err != nil || text != "other\n" {
			t.Errorf("another file: %q, %v", text, err)
		}
		return nil
	}, nil)
	if err != nil {
		t.Error(err)
	}
}
