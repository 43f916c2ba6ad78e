//go:build linux || darwin

package cli

import "syscall"

// limitMemory has the kernel bound the memory of this process: the Go runtime ends it with
// the status that blocks when it gets no more. Processor time has no such bound, since the
// kernel ends a process by a signal, which clients take for a yes.
func limitMemory(most uint64) {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_DATA, &limit) == nil && limit.Max > most {
		limit.Cur, limit.Max = most, most
		_ = syscall.Setrlimit(syscall.RLIMIT_DATA, &limit) // the watch bounds it too
	}
}
