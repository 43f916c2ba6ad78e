//go:build unix && !linux

package sandbox

import (
	"context"
	"os/exec"
)

func holdTree(c *exec.Cmd, _ bool) { holdGroup(c) }

func canHoldTree(context.Context) bool { return false }
