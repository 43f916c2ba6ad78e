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

func TestIsLoopback(t *testing.T) {
	for host, want := range map[string]bool{
		"localhost": true, "127.0.0.1": true, "127.9.9.9": true, "::1": true, "::ffff:127.0.0.1": true, "::1%lo": true,
		"": false, "localhost.example.com": false, "127.0.0.1.example.com": false, "0.0.0.0": false, "::": false, "10.0.0.1": false, "127.1": false, "2130706433": false, "[::1]": false, "127.0.0.1:80": false,
	} {
		if got := IsLoopback(host); got != want {
			t.Errorf("%q: got %v", host, got)
		}
	}
}
