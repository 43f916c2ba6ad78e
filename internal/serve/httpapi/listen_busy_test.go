package httpapi

import (
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
)

// A taken address is the first thing that goes wrong: the error says what to type.
func TestBusyAddressNamesListen(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	_, err = Listen(t.Context(), Listening{Address: taken.Addr().String()})
	if err == nil || !strings.Contains(err.Error(), "toolcrib serve --listen 127.0.0.1:") || strings.Count(err.Error(), taken.Addr().String()) != 1 {
		t.Errorf("%v", err)
	}
	_, err = Listen(t.Context(), Listening{Address: "127.0.0.1:70000"})
	if err == nil || strings.Contains(err.Error(), "Another program") || !strings.Contains(err.Error(), "--listen 127.0.0.1:7717") {
		t.Errorf("a port that there is not: %v", err)
	}
	if said := (Listening{Address: "127.0.0.1:80"}).instead(&net.OpError{Err: os.NewSyscallError("bind", syscall.EACCES)}); strings.Contains(said, ":81") || !strings.Contains(said, "rights") || !strings.Contains(said, "127.0.0.1:7717") {
		t.Errorf("a port without rights: %s", said)
	}
	for address, want := range map[string]string{"127.0.0.1:7333": "127.0.0.1:7334", "[::1]:80": "[::1]:81", "127.0.0.1:65535": "127.0.0.1:0", "nonsense": "127.0.0.1:0", "localhost:0": "127.0.0.1:0"} {
		if got := nextPort(address); got != want {
			t.Errorf("%s: %s, want %s", address, got, want)
		}
	}
}
