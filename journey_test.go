package toolcrib_test

import (
	"slices"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
)

// TestCodes: frontends are held to the list in cribtest, so it has all of them.
func TestCodes(t *testing.T) {
	if got, want := cribtest.Codes(), toolcrib.AllCodes(); !slices.Equal(got, want) {
		t.Errorf("cribtest knows %v, the core has %v", got, want)
	}
}

// TestJourneys plays testdata/journey: how calls go through a crib, told in
// files that a person can read. "go test -run TestJourneys -update" rewrites
// what they want; read the difference before you commit it.
func TestJourneys(t *testing.T) {
	cribtest.Journeys(t, "testdata/journey", cribtest.Open)
}
