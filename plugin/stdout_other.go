//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package plugin

import (
	"io"
	"os"
)

// takeStdout keeps the stream that Toolcrib reads, and has what is printed go to
// the standard error. A library that took os.Stdout before main began still has it:
// a handle cannot be given another file here.
func takeStdout() (io.Writer, error) {
	out := os.Stdout
	os.Stdout = os.Stderr
	return out, nil
}
