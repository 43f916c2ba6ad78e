//go:build unix

package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib/internal/text"
)

// TestProjectOfAnotherAccount: who can write a directory above, as /tmp, sets nothing up for those who work below it.
func TestProjectOfAnotherAccount(t *testing.T) {
	const stranger = 65533
	top := t.TempDir()
	mine := filepath.Join(top, "shared; touch x", "mine")
	if err := os.MkdirAll(mine, 0o755); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(top, "shared; touch x", projectFile)
	put := func() {
		t.Helper()
		if err := os.RemoveAll(file); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	// Only root can give a file to somebody else. For others, somebody else looks for it.
	me := os.Geteuid()
	give := func(path string) {
		t.Helper()
		if me == 0 {
			if err := os.Lchown(path, stranger, stranger); err != nil {
				t.Skip("files cannot be given to others here:", err)
			}
		}
	}
	who := stranger + 1
	own := filepath.Join(top, projectFile)
	for name, theirs := range map[string]string{"file": file, "directory": filepath.Dir(file), "link": file} {
		put()
		if name == "link" {
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink("t", file); err != nil {
				t.Fatal(err)
			}
		}
		give(theirs)
		got, err := findProject(mine, "", who, nil)
		if err != nil || got.Path != "" || len(got.Passed) != 1 || got.Passed[0].File != file || !strings.Contains(got.Passed[0].Message, "belongs to user") {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		if dir := filepath.Dir(file); len(got.Passed) == 1 && !strings.Contains(got.Passed[0].Message, "toolcrib trust "+text.ShellWord(dir)+" and") {
			t.Errorf("what is to be typed is not one word: %s", got.Passed[0].Message)
		}
		got, err = findProject(mine, "", who, func(path string) bool { return path == file })
		if err != nil || got.Path != file || len(got.Passed) != 0 {
			t.Errorf("%s, and it is trusted: %+v, %v", name, got, err)
		}
		if me == 0 { // one of root further up counts all the same
			if err := os.WriteFile(own, nil, 0o644); err != nil {
				t.Fatal(err)
			}
			if got, err := findProject(mine, "", who, nil); err != nil || got.Path != own || len(got.Passed) != 1 {
				t.Errorf("%s, and one of root: %+v, %v", name, got, err)
			}
			if err := os.Remove(own); err != nil {
				t.Fatal(err)
			}
			if err := os.Chown(filepath.Dir(file), 0, 0); err != nil {
				t.Fatal(err)
			}
		}
	}
	loaded := load(t, Options{Passed: []Warning{{File: file, Message: "ignored: it belongs to user 7"}}})
	if len(loaded.Warnings) != 1 || loaded.Warnings[0].File != file {
		t.Errorf("warnings %v", loaded.Warnings)
	}
}

// TestProjectBehindALink: a clone that brings a link instead of a file has nothing told of what it leads to.
func TestProjectBehindALink(t *testing.T) {
	secret := write(t, "netrc", "machine hunter2: x\nlogin: hunter2\n- hunter2")
	dir := t.TempDir()
	link := filepath.Join(dir, projectFile)
	back, err := filepath.Rel(dir, secret)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "here.env"), []byte("hunter2: x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Dir(secret), filepath.Join(dir, "out")); err != nil {
		t.Fatal(err)
	}
	for _, to := range []string{secret, back, "out/netrc", "here.env", "/proc/self/environ", "/dev/null", "/dev/zero", "/etc/passwd", "..", projectFile} {
		if err := os.RemoveAll(link); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, link); err != nil {
			t.Fatal(err)
		}
		list := loadProblems(t, Options{Project: link})
		if len(list) != 1 || list[0].File != link || list[0].Message != errLink.Error() {
			t.Errorf("a link to %s: %v", to, list)
		}
		if _, err := ReadProject(link); err == nil || err.Error() != errLink.Error() {
			t.Errorf("a link to %s: %v", to, err)
		}
	}
}
