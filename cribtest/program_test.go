package cribtest_test

import (
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/toolcrib/toolcrib/cribtest"
)

// TestProgramAtOnce: a program that was just written runs, whatever other tests
// start at the same time. With os.WriteFile one of these is told "text file busy".
func TestProgramAtOnce(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("this is about Unix")
	}
	content := append([]byte("#!/bin/sh\nexit 0\n"), make([]byte, 1<<20)...)
	var group sync.WaitGroup
	for range 4 {
		dir := t.TempDir()
		group.Go(func() {
			for range 25 {
				path := filepath.Join(dir, "program")
				cribtest.Program(t, path, content)
				if err := exec.Command(path).Run(); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	group.Wait()
}
