package linux

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
	"github.com/toolcrib/toolcrib/internal/sandbox"
)

func TestMain(m *testing.M) {
	if !forgetful() {
		Main()
	}
	_ = os.Setenv("GORACE", "atexit_sleep_ms=0") // under the race detector each program that a test starts would wait for a second at its end
	os.Exit(m.Run())
}

// forgetful is a copy of this test that does not call Main; it is known by its
// name, because a keeper inherits nothing else.
func forgetful() bool {
	self, err := os.Executable()
	return err == nil && filepath.Base(self) == "forgetful"
}

// suiteConfig has the limits that the suite wants.
func suiteConfig() Config {
	return Config{Limits: sandbox.Limits{MemoryBytes: cribtest.SandboxMemory, Processes: cribtest.SandboxProcesses, FileBytes: cribtest.SandboxFile}}
}

// open gives a sandbox. Where none can be had, people may go on without these
// tests, but CI must not.
func open(t testing.TB, cfg Config) *Sandbox {
	t.Helper()
	s, err := Open(t.Context(), cfg)
	if toolcrib.CodeOf(err) == toolcrib.CodeUnavailable && os.Getenv("CI") != "true" {
		t.Skipf("there is no linux sandbox here: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestSandbox(t *testing.T) {
	open(t, suiteConfig())
	t.Parallel()
	cribtest.Sandbox(t, func(t testing.TB) toolcrib.Sandbox { return open(t, suiteConfig()) })
}
