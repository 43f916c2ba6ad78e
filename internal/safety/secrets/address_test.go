package secrets

import (
	"strings"
	"testing"
)

// TestPublicAddress: addresses that a program is full of are shown, and what only
// looks like one is not.
func TestPublicAddress(t *testing.T) {
	scanner, err := New()
	if err != nil {
		t.Fatal(err)
	}
	for word, public := range map[string]bool{
		"EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v":        true,
		"1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa":                  true,
		"TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t":                  true,
		"QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWKPbdG":      true,
		"1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNb":                  false, // its check is wrong
		"5HueCGU8rMjxEXxiPuD5BDku4MkFqeZyd4dZ1jvhTVqvbTLvyTJ": false, // a private key
		"kR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6tQ9wZ":              false,
	} {
		if got := publicAddress(word); got != public {
			t.Errorf("publicAddress(%s) = %v", word, got)
		}
		if public && len(scanner.Find("x := 1\nconst mint = \""+word+"\"\n", nil)) > 0 {
			t.Errorf("%s is hidden", word)
		}
	}
	if publicAddress(strings.Repeat("1", 46)) {
		t.Error("nothing but zeros")
	}
}
