package vault

import (
	"fmt"
	"testing"
)

func filled(b *testing.B) *Vault {
	text, err := NewKey()
	if err != nil {
		b.Fatal(err)
	}
	v := at(b.TempDir()+"/vault", said(text))
	for i := range 50 {
		if err := v.Set(b.Context(), named(fmt.Sprintf("n%d", i)), "a value of the usual length, 40 bytes ok"); err != nil {
			b.Fatal(err)
		}
	}
	return v
}

// What a tool pays for a secret, from a store of fifty.
func BenchmarkGranted(b *testing.B) {
	secret := filled(b).Granted(Scope{Organisation: "", Subject: "ann", Tool: "t"}, []string{"n7"})
	for b.Loop() {
		if _, err := secret(b.Context(), "n7"); err != nil {
			b.Fatal(err)
		}
	}
}

// What a change costs, flushes included.
func BenchmarkSet(b *testing.B) {
	v := filled(b)
	for b.Loop() {
		if err := v.Set(b.Context(), named("n7"), "another value"); err != nil {
			b.Fatal(err)
		}
	}
}
