package container

import (
	"os"
	"syscall"
)

func apart() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }

// mayWrite: files come to the container through a share that has no owners.
func (s *Sandbox) mayWrite(os.FileInfo) bool { return true }
