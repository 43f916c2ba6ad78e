//go:build !linux

package coding

// sandboxMain is for the sandbox of Linux.
func sandboxMain() {}
