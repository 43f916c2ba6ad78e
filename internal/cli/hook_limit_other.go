//go:build !linux && !darwin

package cli

// limitMemory: a process cannot bound itself here.
func limitMemory(uint64) {}
