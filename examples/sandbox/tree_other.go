//go:build !unix

package sandbox

import (
	"context"
	"os"
	"os/exec"
)

// holdTree leaves it at what os/exec does: end the program itself.
func holdTree(*exec.Cmd, bool) {}

func canHoldTree(context.Context) bool { return false }

func signalOf(*os.ProcessState) string { return "" }
