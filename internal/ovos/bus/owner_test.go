package bus

import (
	"net/netip"
	"testing"
)

// TestOwner: a connection is told by both of its ends; that another one of ours
// has the same ports from another loopback address does not help.
func TestOwner(t *testing.T) {
	if !littleEndian() {
		t.Skip("the table of this test is of another machine")
	}
	table := []byte(`  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1FF5 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1 1
   1: 0100007F:C350 0100007F:1FF5 01 00000000:00000000 00:00000000 00000000  1000        0 2 1
   2: 0200007F:C350 0100007F:1FF5 01 00000000:00000000 00:00000000 00000000 65534        0 3 1
   3: 0100007F:1FF5 0100007F:C351 01 00000000:00000000 00:00000000 00000000  1000        0 4 1
   4: 0000000000000000FFFF00000100007F:C352 0000000000000000FFFF00000100007F:1FF5 01 00000000:00000000 00:00000000 00000000 1001 0 5 1
   5: 00000000000000000000000001000000:C353 00000000000000000000000001000000:1FF5 01 00000000:00000000 00:00000000 00000000 1002 0 6 1
   6: broken
   7: 0100007F:C354 0100007F:1FF5 04 00000000:00000000 00:00000000 00000000     0        0 0 1
   8: 0100007F:C355 0100007F:1FF5 01 00000000:00000000 00:00000000 00000000     0        0 0 1
`)
	to := netip.MustParseAddrPort("127.0.0.1:8181")
	for from, want := range map[string]int{"127.0.0.1:50000": 1000, "127.0.0.2:50000": 65534, "127.0.0.1:50001": -1, "127.0.0.1:50002": 1001, "127.0.0.1:50004": -1, "127.0.0.1:50005": -1, "[::ffff:127.0.0.1]:50002": 1001} {
		uid, ok := owner(table, netip.MustParseAddrPort(from), to)
		if !ok {
			uid = -1
		}
		if uid != want {
			t.Errorf("%s: %d, want %d", from, uid, want)
		}
	}
	if uid, ok := owner(table, netip.MustParseAddrPort("[::1]:50003"), netip.MustParseAddrPort("[::1]:8181")); !ok || uid != 1002 {
		t.Errorf("over IPv6: %d, %v", uid, ok)
	}
}

func FuzzOwner(f *testing.F) {
	f.Add([]byte("   1: 0100007F:C350 0100007F:1FF5 01 00000000:00000000 00:00000000 00000000  1000        0 2 1\n"))
	at := netip.MustParseAddrPort("127.0.0.1:50000")
	f.Fuzz(func(_ *testing.T, table []byte) { owner(table, at, at) })
}
