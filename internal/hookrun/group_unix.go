//go:build unix

package hookrun

import (
	"os/exec"
	"syscall"
)

// ownGroup gives a hook a group of processes of its own, and ends all of it
// when its time is up.
func ownGroup(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
}

// endGroup ends what a hook has left behind.
func endGroup(c *exec.Cmd) {
	if c.Process != nil {
		_ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL) // mostly there is nothing
	}
}

func systemEnv(env []string) []string { return env }
