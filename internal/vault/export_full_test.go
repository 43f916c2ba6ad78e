package vault

import (
	"bytes"
	"errors"
	"testing"

	"filippo.io/age"
)

var errFull = errors.New("no space left on device")

// fullDisk takes some bytes and then no more.
type fullDisk struct{ left int }

func (d *fullDisk) Write(p []byte) (int, error) {
	n := min(len(p), d.left)
	if d.left -= n; n < len(p) {
		return n, errFull
	}
	return n, nil
}

// TestExportToAFullDisk: wherever in a backup the disk is full, also at the last
// byte, nobody is told that there is one.
func TestExportToAFullDisk(t *testing.T) {
	v := fresh(t, said(someKey(t)))
	mustSet(t, v, named("A"), "value-of-a-secret")
	id, err := age.GenerateX25519Identity()
	must(t, err)
	to := ExportTo{Recipients: []string{id.Recipient().String()}}
	var whole bytes.Buffer
	if n, err := v.Export(t.Context(), &whole, to); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	for left := range whole.Len() {
		if left > 2 && left < whole.Len()-70 && left%64 != 0 { // the end is written when all else is: it is looked at byte by byte
			continue
		}
		if n, err := v.Export(t.Context(), &fullDisk{left}, to); n != 0 || !errors.Is(err, errFull) {
			t.Fatalf("after %d of %d bytes: %d secrets, %v", left, whole.Len(), n, err)
		}
	}
	if n, err := v.Export(t.Context(), &fullDisk{whole.Len()}, to); n != 1 || err != nil {
		t.Errorf("with room for all of it: %d, %v", n, err)
	}
}
