//go:build unix

package sandbox

import (
	"os"
	"os/exec"
	"syscall"
)

// holdGroup gives the program a process group of its own and ends the group.
// That reaches children that do not mind being reached; one that starts its
// own session gets away, which is why this alone claims nothing.
func holdGroup(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
}

// signalOf names the signal that ended a program, if one did.
func signalOf(s *os.ProcessState) string {
	if w, ok := s.Sys().(syscall.WaitStatus); ok && s.ExitCode() < 0 {
		return w.Signal().String()
	}
	return ""
}
