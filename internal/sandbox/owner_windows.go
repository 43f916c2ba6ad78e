package sandbox

import "os"

// signalZero: FindProcess opens the process here, and fails if there is none.
func signalZero(p *os.Process) bool {
	_ = p.Release()
	return true
}
