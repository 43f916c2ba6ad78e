package cribtest

import (
	"os"
	"syscall"
	"testing"
)

// Program writes a file that the test will run: a script or a copy of a binary.
// os.WriteFile is not enough for that. While the file is open for writing, another
// test may start a program; for a moment that child holds the file open too, and
// whoever runs it then is told "text file busy". So nothing is started meanwhile.
func Program(t testing.TB, path string, content []byte) {
	t.Helper()
	err := writeProgram(path, content)
	if err == nil {
		err = os.Chmod(path, 0o755) // whatever the umask
	}
	if err != nil {
		t.Fatalf("writing a program: %v", err)
	}
}

func writeProgram(path string, content []byte) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	return os.WriteFile(path, content, 0o755)
}
