package app

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/ovos/bus"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/ovos"
	"github.com/toolcrib/toolcrib/toolbox/math"
)

// BenchmarkBusHosts has a client call the same tool of hosts on the same bus, 32
// calls under way at a time: the whole program with all its guards, the same
// without its journal, the host alone, and a host in Python, which has neither
// guards nor journal. The last needs BENCH_OVOS_PYTHON, the interpreter to use;
// testdata/ovos_host.py says what it is then. Bus, client and host share the
// cores.
//
//	BENCH_OVOS_PYTHON=python3 go test ./internal/app -run '^$' -bench BusHosts
func BenchmarkBusHosts(b *testing.B) {
	cfg := settings.Defaults()
	cfg.Bus.URL = plainBus(b)
	a := openBusApp(b, cfg, Needs{})
	hostBus(b, a, cfg)
	b.Run("toolcrib", func(b *testing.B) { callBus(b, cfg.Bus.URL, "ovos-math-tools") })
	b.Run("toolcrib without a journal", func(b *testing.B) {
		journal := a.Crib.Journal
		a.Crib.Journal = toolcrib.NoJournal{}
		callBus(b, cfg.Bus.URL, "ovos-math-tools")
		a.Crib.Journal = journal
	})
	b.Run("host alone", func(b *testing.B) {
		url := plainBus(b)
		box, err := math.Open(b.Context(), math.Config{})
		if err != nil {
			b.Fatal(err)
		}
		serveBox(b, url, box)
		callBus(b, url, "ovos-math-tools")
	})
	b.Run("python", func(b *testing.B) {
		python := os.Getenv("BENCH_OVOS_PYTHON")
		if python == "" {
			b.Skip("BENCH_OVOS_PYTHON names no Python interpreter")
		}
		pythonHost(b, python, cfg.Bus.URL)
		callBus(b, cfg.Bus.URL, "python-math-tools")
	})
}

// callBus calls the calculator of a toolbox.
func callBus(b *testing.B, url, toolbox string) {
	client, err := ovos.Dial(b.Context(), ovos.ClientConfig{URL: url})
	if err != nil {
		b.Fatal(err)
	}
	defer client.Close()
	call := func(n int64) error { // another each time: one that repeats itself is refused
		ctx, cancel := context.WithTimeout(b.Context(), busPatience)
		defer cancel()
		_, err := client.Call(ctx, toolbox, "evaluate_expression", map[string]string{"expression": fmt.Sprintf("2+2*%d", n)})
		return err
	}
	for end := time.Now().Add(busPatience); ; { // the host may not listen yet
		ctx, cancel := context.WithTimeout(b.Context(), time.Second)
		_, err := client.Call(ctx, toolbox, "evaluate_expression", map[string]string{"expression": fmt.Sprintf("1+%d", time.Now().UnixNano())})
		cancel()
		if err == nil {
			break
		}
		if time.Now().After(end) {
			b.Fatal(err)
		}
	}
	var left atomic.Int64
	left.Store(int64(b.N))
	var all sync.WaitGroup
	b.ResetTimer()
	for range 32 {
		all.Go(func() {
			for {
				n := left.Add(-1)
				if n < 0 {
					return
				}
				if err := call(n); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "calls/s")
}

// pythonHost starts the host in Python and ends it with the benchmark.
func pythonHost(b *testing.B, python, url string) {
	b.Helper()
	host, port, err := net.SplitHostPort(strings.TrimSuffix(strings.TrimPrefix(url, "ws://"), bus.DefaultPath))
	if err != nil {
		b.Fatal(err)
	}
	cmd := exec.Command(python, "testdata/ovos_host.py", host, port)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Process.Kill() // it may have ended by itself
		_ = cmd.Wait()
	})
	which, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		b.Fatal(fmt.Errorf("the host in Python does not start: %w", err))
	}
	b.Log(strings.TrimSpace(which))
}
