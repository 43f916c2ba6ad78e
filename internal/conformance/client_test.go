package conformance

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The suite is the server, and watches what the hub does as its client.
func TestGenuineSuiteAgainstClient(t *testing.T) {
	peers(t)
	command, err := exec.LookPath("suite-driver")
	if err != nil {
		t.Fatal(err)
	}
	for _, revision := range revisions() {
		t.Run(revision, func(t *testing.T) {
			dir := t.TempDir()
			t.Setenv(driverVariable, dir)
			conform(t, "client", revision, "--command", command)
			faults, err := filepath.Glob(filepath.Join(dir, "*"+faultSuffix))
			if err != nil {
				t.Fatal(err)
			}
			for _, file := range faults {
				text, err := os.ReadFile(file)
				t.Errorf("the driver of %s: %s, %v", strings.TrimSuffix(filepath.Base(file), faultSuffix), text, err)
			}
		})
	}
}
