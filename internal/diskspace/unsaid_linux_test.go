package diskspace

import "testing"

// TestUnsaid: what does not say how much room it has is not full.
func TestUnsaid(t *testing.T) {
	if left, err := Free("/proc"); err == nil {
		t.Errorf("%d bytes are free in what has none to give", left)
	}
}
