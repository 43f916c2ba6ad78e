package toolcrib_test

import (
	"slices"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
	"github.com/toolcrib/toolcrib/internal/refusal"
)

// TestCodes: frontends are held to the list in cribtest, so it has every code.
func TestCodes(t *testing.T) {
	var all []toolcrib.Code
	for _, code := range refusal.Codes() {
		all = append(all, toolcrib.Code(code))
	}
	if got := cribtest.Codes(); !slices.Equal(got, all) {
		t.Errorf("cribtest knows %v, the core has %v", got, all)
	}
}

// TestJourneys plays testdata/journey: how calls go through a crib, told in
// files that a person can read. "go test -run TestJourneys -update" rewrites
// what they want; read the difference before you commit it.
func TestJourneys(t *testing.T) {
	cribtest.Journeys(t, "testdata/journey", cribtest.Open)
}
