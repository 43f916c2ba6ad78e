//go:build unix

package shellguard

import (
	"syscall"
	"time"
)

// workTime is the processor time that this process has used. On a busy machine
// more time than that goes by.
func workTime() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		panic(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
