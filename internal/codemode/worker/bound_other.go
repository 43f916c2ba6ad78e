//go:build !linux

package worker

// bound does nothing: there is no limit here that a process can set itself and that
// is held. The engine bounds what scripts keep, and the host their time.
func bound() error { return nil }
