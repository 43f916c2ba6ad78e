//go:build amd64 || arm64

package linux

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
)

// TestFiveHundred: many commands at once, every tenth of which runs out of
// time with children that do not want to die, leave no process and no file.
func TestFiveHundred(t *testing.T) {
	many := 500
	if testing.Short() {
		many = 100
	}
	s := open(t, Config{})
	temp, dir := os.Getenv("TMPDIR"), t.TempDir()
	if temp == "" {
		temp = os.TempDir()
	}
	before, err := os.ReadDir(temp)
	if err != nil {
		t.Fatal(err)
	}
	mounts, descriptors := count(t, "/proc/self/mountinfo"), entries(t, "/proc/self/fd")
	word := "word-" + strconv.FormatUint(rand.Uint64(), 36)
	faults := make([]error, many)
	began := time.Now()
	var all sync.WaitGroup
	for i := range many {
		all.Go(func() {
			late := i%10 == 0
			grant := toolcrib.Grant{Dirs: []files.Dir{{Path: dir, Write: true}}, Time: 2 * time.Minute}
			script := "echo out; echo x >/tmp/x; echo x >/dev/shm/x; exit 7"
			if late {
				script, grant.Time = "echo out; trap '' TERM HUP; setsid sh -c 'trap \"\" TERM; sleep 1000; sleep 1000' & sleep 1000; sleep 1000", 3*time.Second
			}
			var out bytes.Buffer
			exit, err := s.Run(t.Context(), toolcrib.Cmd{Path: "/bin/sh", Args: []string{"-c", script + " # " + word}, Env: []string{"PATH=/usr/bin:/bin"}, Stdout: &out}, grant)
			if err != nil || exit.TimedOut != late || !late && (exit.Code != 7 || out.String() != "out\n") {
				faults[i] = errors.Join(err, errors.New(strconv.Itoa(i)+": "+strconv.Itoa(exit.Code)+" "+out.String()))
			}
		})
	}
	all.Wait()
	t.Logf("%d commands, %d of them out of time, took %s", many, many/10, time.Since(began).Round(time.Millisecond))
	if err := errors.Join(faults...); err != nil {
		t.Errorf("%.2000v", err)
	}
	if pids := ours(t, "no such program", word); len(pids) > 0 {
		t.Errorf("processes are left: %v", pids)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if s.cgroups != nil {
		for _, c := range s.cgroups.controllers {
			if left, err := filepath.Glob(filepath.Join(c.dir, s.cgroups.prefix+"*")); err != nil || len(left) > 0 {
				t.Errorf("cgroups are left: %q, error %v", left, err)
			}
		}
	}
	if left := entries(t, dir); left > 0 {
		t.Errorf("%d files are left in the granted directory", left)
	}
	after, err := os.ReadDir(temp)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range after {
		if strings.HasPrefix(e.Name(), "toolcrib") && !contains(before, e.Name()) {
			t.Errorf("%s is left", e.Name())
		}
	}
	if now := count(t, "/proc/self/mountinfo"); now > mounts {
		t.Errorf("%d mounts, there were %d", now, mounts)
	}
	for range 50 { // the last goroutines close theirs
		if entries(t, "/proc/self/fd") <= descriptors+2 {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Errorf("%d descriptors, there were %d", entries(t, "/proc/self/fd"), descriptors)
}

func contains(list []os.DirEntry, name string) bool {
	for _, e := range list {
		if e.Name() == name {
			return true
		}
	}
	return false
}

func count(t *testing.T, file string) int {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Count(text, []byte("\n"))
}

func entries(t *testing.T, dir string) int {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

// TestShortLives: a program may end before its birth was told to us.
func TestShortLives(t *testing.T) {
	s := open(t, Config{})
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 60 {
				if exit, err := s.Run(t.Context(), toolcrib.Cmd{Path: "/bin/true"}, toolcrib.Grant{Time: time.Minute}); err != nil || exit.Code != 0 {
					t.Errorf("%+v, error %v", exit, err)
					return
				}
			}
		})
	}
	all.Wait()
}
