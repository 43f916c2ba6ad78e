//go:build unix

package config

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// fileOf is what a system says of a file.
type fileOf struct {
	mode     fs.FileMode
	uid, gid int
}

func (f fileOf) Name() string       { return "f" }
func (f fileOf) Size() int64        { return 0 }
func (f fileOf) Mode() fs.FileMode  { return f.mode }
func (f fileOf) ModTime() time.Time { return time.Time{} }
func (f fileOf) IsDir() bool        { return f.mode.IsDir() }
func (f fileOf) Sys() any           { return &syscall.Stat_t{Uid: uint32(f.uid), Gid: uint32(f.gid), Nlink: 1} }

// TestWhoElseCanWrite: other users, all of them or those of a group, unless the group is the
// owner's own or the directory keeps the files of each user.
func TestWhoElseCanWrite(t *testing.T) {
	const shared, stranger = 54321, 65533
	me := os.Geteuid()
	for _, c := range []struct {
		file fileOf
		want string
	}{
		{fileOf{0o644, me, shared}, ""},
		{fileOf{0o664, me, me}, ""},
		{fileOf{0o664, 0, 0}, ""},
		{fileOf{0o664, me, shared}, "it can be written by group 54321"},
		{fileOf{0o666, me, me}, "it can be written by every user"},
		{fileOf{0o666, me, shared}, "it can be written by every user"},
		{fileOf{0o644, stranger, me}, "it belongs to user 65533"},
		{fileOf{fs.ModeDir | 0o755, me, shared}, ""},
		{fileOf{fs.ModeDir | 0o775, me, me}, ""},
		{fileOf{fs.ModeDir | 0o775, 0, shared}, "it can be written by group 54321"},
		{fileOf{fs.ModeDir | 0o2775, me, shared}, "it can be written by group 54321"},
		{fileOf{fs.ModeDir | fs.ModeSticky | 0o775, 0, shared}, ""},
		{fileOf{fs.ModeDir | fs.ModeSticky | 0o777, 0, 0}, ""},
		{fileOf{fs.ModeDir | 0o777, me, me}, "it can be written by every user"},
	} {
		if got := writtenBy("it", c.file); got != c.want {
			t.Errorf("%v of user %d, group %d: %q, want %q", c.file.mode, c.file.uid, c.file.gid, got, c.want)
		}
	}
}

// TestGroupOnTheWay: a directory above the file counts as the file does.
func TestGroupOnTheWay(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	file := filepath.Join(dir, "SKILL.md")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	above := filepath.Dir(dir)
	if err := os.Chown(above, -1, 54321); err != nil {
		t.Skip("only root can give a directory to any group:", err)
	}
	if err := os.Chmod(above, 0o775); err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(file)
	if err != nil {
		t.Fatal(err)
	}
	if got := OtherWriter(file, info); !strings.Contains(got, "can be written by group 54321") {
		t.Errorf("%q", got)
	}
}
