//go:build !unix

package hookrun

import (
	"os"
	"os/exec"
)

// ownGroup does nothing here: a hook that runs out of time is ended, and what
// it started goes on by itself.
func ownGroup(*exec.Cmd) {}

func endGroup(*exec.Cmd) {}

// systemEnv adds what no program starts without.
func systemEnv(env []string) []string {
	return append([]string{"SYSTEMROOT=" + os.Getenv("SYSTEMROOT")}, env...)
}
