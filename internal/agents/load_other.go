//go:build !linux

package agents

// MachineLoad tells how busy this machine is, which is not known here.
func MachineLoad() (cpu, memory float64) { return 0, 0 }
