//go:build amd64 || arm64

package linux

import (
	"testing"
)

// TestProbe: what the probe finds is what the suite proves. On a machine that
// runs these tests everything must be there.
func TestProbe(t *testing.T) {
	for _, cfg := range []Config{{}, {NoCgroups: true}} {
		found := map[string]bool{}
		for _, f := range Probe(t.Context(), cfg) {
			t.Logf("%-10s %-5v %s", f.Name, f.OK, f.Text)
			found[f.Name] = f.OK
		}
		for _, name := range []string{"kernel", "start", "user", "files", "network", "processes", "memory", "file size", "time"} {
			if !found[name] {
				t.Errorf("%s was not found to hold", name)
			}
		}
	}
}
