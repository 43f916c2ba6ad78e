//go:build !unix

package sandbox

import "os/exec"

func leave(*exec.Cmd) {}
