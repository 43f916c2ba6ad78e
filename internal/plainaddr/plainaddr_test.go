package plainaddr

import (
	"net/netip"
	"testing"
)

func TestMachine(t *testing.T) {
	for given, want := range map[string]string{
		"127.0.0.1":            "127.0.0.1",
		"::ffff:127.0.0.1":     "127.0.0.1",
		"::ffff:7f00:1":        "127.0.0.1",
		"64:ff9b::10.1.2.3":    "10.1.2.3",
		"64:ff9b::a01:203":     "10.1.2.3",
		"64:ff9b:1::10.1.2.3":  "64:ff9b:1::a01:203",
		"fe80::1%eth0":         "fe80::1",
		"2001:DB8:0:0:0:0:0:1": "2001:db8::1",
	} {
		if got := Machine(netip.MustParseAddr(given)); got.String() != want {
			t.Errorf("%s: got %v, want %s", given, got, want)
		}
	}
}
