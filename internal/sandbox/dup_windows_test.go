package sandbox_test

import (
	"os"
	"testing"
)

func dup(t *testing.T, _ *os.File) *os.File {
	t.Helper()
	t.Skip("written for systems on which a descriptor is copied by its number")
	return nil
}
