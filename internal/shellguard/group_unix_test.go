//go:build unix

package shellguard

import (
	"os/exec"
	"syscall"
)

// ownGroup makes the whole tree of a command die with it.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
