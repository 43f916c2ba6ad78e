package sandbox

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// holdTree makes the program the first process of a PID namespace of its own.
// When that one ends, for whatever reason, the kernel ends all others in it: a
// process can leave its group and its session, but not its namespace.
func holdTree(c *exec.Cmd, whole bool) {
	if !whole {
		holdGroup(c)
		return
	}
	c.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWPID,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}},
		Pdeathsig:   syscall.SIGKILL, // it ends if we do; Run keeps its thread for that
	}
}

// canHoldTree tries it, because kernels and containers may forbid it. Nothing
// is run: the namespace is made before the program turns out not to be there.
func canHoldTree(ctx context.Context) bool {
	c := exec.CommandContext(ctx, "/dev/null/nothing")
	holdTree(c, true)
	err := c.Run()
	return errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ENOENT)
}
