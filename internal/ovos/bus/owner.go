package bus

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"net"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"strconv"
)

// A bus without a token is for the programs of one person. Whoever else has an
// account on the machine can connect to its loopback addresses too, and would
// use tools with rights that are not theirs. Where the kernel tells whose a
// connection is, it has to be ours.

// established is the state of a connection that both ends have open.
const established = "01"

// tables are where Linux lists connections, with the account of each.
func tables() []string { return []string{"/proc/net/tcp", "/proc/net/tcp6"} }

// ofOthers reports that a connection is another account's. The administrator's
// is not: who has that needs no bus.
func ofOthers(r *http.Request) bool {
	here, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	if !ok {
		return false
	}
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return false
	}
	own, known := false, false
	for _, file := range tables() {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // another system
		}
		known = true
		if uid, ok := owner(text, peer, here.AddrPort()); ok {
			own = own || uid == os.Geteuid() || uid == 0
		}
	}
	return known && !own
}

// owner finds the account of the process at the other end of a connection.
func owner(table []byte, from, to netip.AddrPort) (uid int, ok bool) {
	for line := range bytes.Lines(table) {
		fields := bytes.Fields(line)
		if len(fields) < 10 || string(fields[3]) != established || string(fields[9]) == "0" {
			continue // one that was closed belongs to nobody, which the table writes as the administrator
		}
		if local, ok := socketAddr(fields[1]); !ok || local != plainAddr(from) {
			continue
		}
		if remote, ok := socketAddr(fields[2]); !ok || remote != plainAddr(to) {
			continue
		}
		uid, err := strconv.Atoi(string(fields[7]))
		return uid, err == nil
	}
	return 0, false
}

// socketAddr reads an address of the table: words of four bytes, each in the
// order of the machine, and a port.
func socketAddr(field []byte) (netip.AddrPort, bool) {
	host, port, ok := bytes.Cut(field, []byte(":"))
	raw, err := hex.DecodeString(string(host))
	if !ok || err != nil || len(raw) != 4 && len(raw) != 16 {
		return netip.AddrPort{}, false
	}
	for word := range slices.Chunk(raw, 4) {
		if littleEndian() {
			slices.Reverse(word)
		}
	}
	addr, ok := netip.AddrFromSlice(raw)
	n, err := strconv.ParseUint(string(port), 16, 16)
	return plainAddr(netip.AddrPortFrom(addr, uint16(n))), ok && err == nil
}

func littleEndian() bool { return binary.NativeEndian.Uint16([]byte{1, 0}) == 1 }

func plainAddr(a netip.AddrPort) netip.AddrPort {
	return netip.AddrPortFrom(a.Addr().Unmap().WithZone(""), a.Port())
}
