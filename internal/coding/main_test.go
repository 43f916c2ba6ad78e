package coding

import (
	"os"
	"testing"
)

// TestMain makes this binary a worker of scripts as well.
func TestMain(m *testing.M) {
	Shim()
	os.Exit(m.Run())
}
