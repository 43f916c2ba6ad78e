//go:build unix

package config

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestSystemFileMustBeTrustworthy tries every way in which another user could have written the system's file.
func TestSystemFileMustBeTrustworthy(t *testing.T) {
	for _, c := range []struct {
		name      string
		file, dir os.FileMode
		refused   string
	}{
		{"own", 0o644, 0o755, ""},
		{"private", 0o600, 0o700, ""},
		{"group", 0o664, 0o755, "chmod go-w"},
		{"world", 0o646, 0o755, "chmod go-w"},
		{"group directory", 0o644, 0o775, "replace the file"},
		{"world directory", 0o644, 0o757, "replace the file"},
		{"sticky directory", 0o644, 0o777 | os.ModeSticky, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := write(t, "config.yaml", "workers: 9\n")
			if err := os.Chmod(path, c.file); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(filepath.Dir(path), c.dir); err != nil {
				t.Fatal(err)
			}
			// The rule is for the system's file alone.
			load(t, Options{User: path, Project: path})
			if c.refused == "" {
				if got := load(t, Options{Owner: os.Getuid(), System: path}).Value.Workers; got != 9 {
					t.Errorf("workers %d", got)
				}
				return
			}
			if list := loadProblems(t, Options{Owner: os.Getuid(), System: path}); len(list) != 1 || !strings.Contains(list[0].Message, c.refused) {
				t.Errorf("got %v", list)
			}
		})
	}
}

func TestSystemFileBehindALink(t *testing.T) {
	target := write(t, "real.yaml", "workers: 9\n")
	link := filepath.Join(filepath.Dir(write(t, "x", "")), "config.yaml")
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
	load(t, Options{Owner: os.Getuid(), System: link})
	if err := os.Chmod(filepath.Dir(link), 0o777); err != nil {
		t.Fatal(err)
	}
	if list := loadProblems(t, Options{Owner: os.Getuid(), System: link}); !strings.Contains(list[0].Message, filepath.Dir(link)) {
		t.Errorf("got %v", list)
	}
	if err := os.Chmod(filepath.Dir(link), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Dir(target), 0o777); err != nil {
		t.Fatal(err)
	}
	if list := loadProblems(t, Options{Owner: os.Getuid(), System: link}); !strings.Contains(list[0].Message, "replace the file") {
		t.Errorf("got %v", list)
	}
}

// A pipe in a project must not make the program wait for a writer that never comes.
func TestPipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "toolcrib.yaml")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, opt := range []Options{{Project: pipe}, {User: pipe}, {System: pipe}} {
		if list := loadProblems(t, opt); !strings.Contains(list[0].Message, "not a regular file") {
			t.Errorf("got %v", list)
		}
	}
}

func TestUnreadable(t *testing.T) {
	if os.Getuid() == 0 {
		// Root reads everything; a directory is refused for everybody.
		t.Log("running as root: only the directory is tried")
	} else {
		path := write(t, "c.yaml", "")
		if err := os.Chmod(path, 0); err != nil {
			t.Fatal(err)
		}
		if list := loadProblems(t, Options{User: path}); list[0].File != path || list[0].Err == nil {
			t.Errorf("got %+v", list[0])
		}
	}
	if list := loadProblems(t, Options{User: t.TempDir()}); !strings.Contains(list[0].Message, "directory") {
		t.Errorf("got %+v", list[0])
	}
}

// TestSystemFileOfAnother: settings for everyone are root's, whatever their mode.
func TestSystemFileOfAnother(t *testing.T) {
	path := write(t, "system.yaml", "workers: 9\n")
	for _, problem := range loadProblems(t, Options{Owner: os.Getuid() + 1, System: path}) {
		if !strings.Contains(problem.Message, "must belong to root") {
			t.Errorf("%v", problem)
		}
	}
}
