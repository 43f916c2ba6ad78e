package sandbox

import "fmt"

// Limits is what a program may use of the machine. Backends that cannot hold a
// limit do not claim the bound that goes with it.
type Limits struct {
	// MemoryBytes is the ceiling for the whole tree of processes.
	// Zero: the backend's own, 2 GiB where it has one.
	MemoryBytes int64
	// Processes is the ceiling on processes and threads together.
	// Zero: the backend's own, 1024 where it has one.
	Processes int
	// FileBytes is the largest file that may be written.
	// Zero: the backend's own, 4 GiB where it has one.
	FileBytes int64
	// CPUSeconds is the processor time of each process. Zero: no limit.
	CPUSeconds int
}

// The limits of a backend that always has some.
const (
	DefaultMemory    = 2 << 30
	DefaultProcesses = 1024
	DefaultFile      = 4 << 30
)

// Filled gives the limits with the usual values where none was set.
func (l Limits) Filled() Limits {
	if l.MemoryBytes == 0 {
		l.MemoryBytes = DefaultMemory
	}
	if l.Processes == 0 {
		l.Processes = DefaultProcesses
	}
	if l.FileBytes == 0 {
		l.FileBytes = DefaultFile
	}
	return l
}

// Validate refuses limits that mean nothing.
func (l Limits) Validate() error {
	switch {
	case l.MemoryBytes < 0, l.Processes < 0, l.FileBytes < 0, l.CPUSeconds < 0:
		return fmt.Errorf("sandbox limits must not be negative: %+v", l)
	case l.MemoryBytes > 0 && l.MemoryBytes < 8<<20:
		return fmt.Errorf("a memory limit of %d bytes is too small for any program: give at least 8 MiB", l.MemoryBytes)
	}
	return nil
}
