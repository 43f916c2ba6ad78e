//go:build unix

package cribtest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib"
)

// metadata is where clouds hand out credentials to whoever asks.
const metadata = "169.254.169.254:80"

// lures are servers of the host that nothing inside may reach.
type lures struct {
	addresses []string // network, address, and so on
	reached   chan string
	close     []func() error
}

func openLures(a *arena) (_ *lures, err error) {
	l := &lures{reached: make(chan string, 100)}
	defer func() {
		if err != nil {
			l.Close()
		}
	}()
	stream := func(network, address string) error {
		listener, err := net.Listen(network, address)
		if err != nil {
			return err
		}
		l.close = append(l.close, listener.Close)
		l.addresses = append(l.addresses, network, listener.Addr().String())
		go func() {
			for {
				c, err := listener.Accept()
				if err != nil {
					return
				}
				_ = c.Close()
				l.reached <- network + " " + listener.Addr().String()
			}
		}()
		return nil
	}
	if err := stream("tcp", "127.0.0.1:0"); err != nil {
		return l, err
	}
	_ = stream("tcp", "[::1]:0") // a machine may have no IPv6
	if runtime.GOOS == "linux" {
		if err := stream("unix", "@cribtest-"+strconv.Itoa(os.Getpid())+"-"+a.secret); err != nil {
			return l, err
		}
	}
	packets, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		return l, err
	}
	l.close = append(l.close, packets.Close)
	l.addresses = append(l.addresses, "udp", packets.LocalAddr().String())
	go func() {
		buf := make([]byte, 100)
		for {
			if _, _, err := packets.ReadFrom(buf); err != nil {
				return
			}
			l.reached <- "udp " + packets.LocalAddr().String()
		}
	}()
	return l, nil
}

func (l *lures) Close() {
	for _, f := range l.close {
		_ = f()
	}
}

// faults tells what was reached, after what is under way has arrived.
func (l *lures) faults() []error {
	time.Sleep(100 * time.Millisecond)
	var faults []error
	for {
		select {
		case what := <-l.reached:
			faults = append(faults, fmt.Errorf("a server of this machine was reached: %s", what))
		default:
			return faults
		}
	}
}

func reachesNoHost(ctx context.Context, a *arena) []error {
	l, err := openLures(a)
	if err != nil {
		return []error{err}
	}
	defer l.Close()
	o, err := a.attack(ctx, "dial", l.addresses...)
	if err != nil {
		return []error{err}
	}
	faults := l.faults()
	if tried := len(o.lines("refused")) + len(o.lines("did")); tried != len(l.addresses)/2 {
		faults = append(faults, fmt.Errorf("%d of %d addresses were tried", tried, len(l.addresses)/2))
	}
	if len(faults) > 0 {
		return faults // what lets us reach this machine might let us reach others: they are not tried
	}
	// What is refused at once was refused here: a packet that went out would
	// wait for an answer.
	o, err = a.attack(ctx, "dial", "tcp", metadata, "udp", metadata)
	if err != nil {
		return []error{err}
	}
	if len(o.lines("did")) > 0 {
		faults = append(faults, fmt.Errorf("the metadata address was reached: %v", o.lines("did")))
	}
	for _, line := range o.lines("refused") {
		if strings.Contains(line, "timeout") {
			faults = append(faults, fmt.Errorf("the metadata address was not refused at once: %s", line))
		}
	}
	faults = append(faults, reachedFromOutside(ctx, a)...)
	if runtime.GOOS == "linux" {
		o, err := a.attack(ctx, "raw")
		if err != nil || len(o.lines("did")) > 0 {
			faults = append(faults, fmt.Errorf("raw sockets: %v, error %s", o.lines("did"), told(err)))
		}
	}
	return faults
}

// reachedFromOutside: what a program serves inside must not show outside.
func reachedFromOutside(ctx context.Context, a *arena) []error {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return []error{err}
	}
	_, port, err := net.SplitHostPort(free.Addr().String())
	if err := errors.Join(err, free.Close()); err != nil {
		return []error{err}
	}
	done := make(chan struct{})
	var o outcome
	go func() {
		defer close(done)
		o, err = a.attack(ctx, "listen", port)
	}()
	for {
		select {
		case <-done:
			if err != nil {
				return []error{err}
			}
			if len(o.lines("reached")) > 0 {
				return faultf("a server inside was reached from outside: %v", o.lines("reached"))
			}
			return nil
		case <-time.After(50 * time.Millisecond):
		}
		if c, err := net.DialTimeout("tcp", "127.0.0.1:"+port, time.Second); err == nil {
			_ = c.Close()
		}
	}
}

// tellsHostsApart: granted one host, a program must not have all of them.
func tellsHostsApart(ctx context.Context, a *arena) []error {
	l, err := openLures(a)
	if err != nil {
		return []error{err}
	}
	defer l.Close()
	grant := a.grant()
	grant.Hosts = []string{"example.com", "*.example.org"}
	_, err = a.run(ctx, a.command("dial", l.addresses...), grant)
	if err != nil && toolcrib.CodeOf(err) != toolcrib.CodeUnavailable {
		return []error{unwrapped(err)}
	}
	return l.faults()
}
