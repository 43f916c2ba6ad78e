package store_test

import (
	"strings"
	"testing"
)

// TestDigest: the hashes of a journal are the same after it was closed, and
// another journal has others.
func TestDigest(t *testing.T) {
	cfg := fresh(t)
	j := open(t, cfg)
	text := []byte(`{"password":"483920"}`)
	first := j.Digest(text)
	shut(t, j)
	j = open(t, cfg)
	if again := j.Digest(text); again != first || !strings.HasPrefix(first, "hmac:") || len(first) != len("hmac:")+64 {
		t.Errorf("%s, then %s", first, again)
	}
	if other := open(t, fresh(t)).Digest(text); other == first {
		t.Error("two journals have one key")
	}
	most := 3.0
	if raceDetector {
		// It has sync.Pool drop a quarter of what is put back, so that hashes are made
		// anew: the bound then says only that there is a pool at all.
		most = 8
	}
	if n := testing.AllocsPerRun(100, func() { j.Digest(text) }); n > most {
		t.Errorf("%v allocations", n)
	}
}
