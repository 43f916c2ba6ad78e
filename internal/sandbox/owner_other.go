//go:build !linux

package sandbox

import (
	"os"
	"strconv"
)

// processName is the number alone: there is no simple way to the time at which
// a process was started. An owner may then seem to live that does not, and
// what it left is cleaned up later.
func processName(pid int) string { return strconv.Itoa(pid) + ".0" }

func lives(pid int, _ string) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	return signalZero(p)
}
