package toolcrib_test

import (
	"testing"

	"github.com/toolcrib/toolcrib/cribtest"
)

// TestJourneys plays testdata/journey: how calls go through a crib, told in
// files that a person can read. "go test -run TestJourneys -update" rewrites
// what they want; read the difference before you commit it.
func TestJourneys(t *testing.T) {
	cribtest.Journeys(t, "testdata/journey", cribtest.Open)
}
