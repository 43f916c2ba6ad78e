package worker

import (
	"fmt"
	"syscall"
)

// The most that the process has, whatever happens in it. The sandbox around it has
// limits of its own, which are for programs of any size.
const (
	mostData = detector * 384 << 20 // bytes that it can write to: values, their copies on the way, stacks
	mostCPU  = 900                  // seconds
)

// bound gives up what the process never needs, for good.
func bound() error {
	for _, l := range []struct {
		name string
		what int
		most uint64
	}{
		{"memory", syscall.RLIMIT_DATA, mostData},
		{"processor time", syscall.RLIMIT_CPU, mostCPU},
		{"files", syscall.RLIMIT_FSIZE, 0},
		{"dumps", syscall.RLIMIT_CORE, 0},
	} {
		var now syscall.Rlimit
		if err := syscall.Getrlimit(l.what, &now); err != nil {
			return fmt.Errorf("bounding its %s: %w", l.name, err)
		}
		most := min(l.most, now.Max)
		if err := syscall.Setrlimit(l.what, &syscall.Rlimit{Cur: most, Max: most}); err != nil {
			return fmt.Errorf("bounding its %s: %w", l.name, err)
		}
	}
	return nil
}
