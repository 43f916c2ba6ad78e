//go:build linux

package files

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"
)

// BenchmarkSearchMemory compares the memory that a search takes: the most that
// a process of its own had at a time beyond what it had before the call, and
// the most that ripgrep had.
func BenchmarkSearchMemory(b *testing.B) {
	rg := program(b, "rg")
	trees := benchTrees(b)
	for _, q := range queries() {
		if q.name != "literal" && q.name != "fold" && q.name != "noliteral" {
			continue
		}
		for _, tree := range []string{"go", "small"} {
			b.Run(q.name+"/"+tree, func(b *testing.B) {
				if rg == "" {
					b.Skip("ripgrep is not installed")
				}
				var added, whole, theirs []float64
				for len(added) < 5 {
					a, w := memoryOfOurs(b, trees[tree], q.name)
					added, whole = append(added, a), append(whole, w)
					theirs = append(theirs, memoryOf(b, rg, q.rg(trees[tree])...))
				}
				for b.Loop() { // nothing here is about time
				}
				b.ReportMetric(median(added), "ours-MB")
				b.ReportMetric(median(whole), "whole-MB")
				b.ReportMetric(median(theirs), "theirs-MB")
				b.ReportMetric(median(added)/median(theirs), "ratio")
			})
		}
	}
}

// childEnv tells a process of this test to make one call and to tell its memory.
const childEnv = "TOOLCRIB_BENCH_CHILD"

func memoryOfOurs(b *testing.B, dir, name string) (added, whole float64) {
	b.Helper()
	cmd := exec.CommandContext(b.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+name+" "+dir)
	out, err := cmd.CombinedOutput()
	if err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	for line := range strings.Lines(string(out)) {
		if _, text, ok := strings.Cut(line, "memory "); ok {
			var m [2]float64
			if err := json.Unmarshal([]byte(text), &m); err != nil {
				b.Fatal(err)
			}
			return m[1] - m[0], m[1]
		}
	}
	b.Fatalf("the process tells nothing: %s", out)
	return 0, 0
}

func TestMain(m *testing.M) {
	if name, dir, ok := strings.Cut(os.Getenv(childEnv), " "); ok {
		testing.Init()
		result := testing.Benchmark(func(b *testing.B) {
			if b.N == 1 {
				searchOnce(b, name, dir)
			}
		})
		if result.N == 0 {
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// searchOnce makes one search and tells the memory before it and at its most.
func searchOnce(b *testing.B, name, dir string) {
	d := benchDesk(b, dir)
	for _, q := range queries() {
		if q.name == name {
			before := megabytes("self", "VmRSS:")
			d.search(b, dir, q)
			fmt.Printf("memory [%f,%f]\n", before, megabytes("self", "VmHWM:"))
		}
	}
}

// memoryOf watches a program and gives the most memory it was seen with.
func memoryOf(b *testing.B, program string, args ...string) float64 {
	b.Helper()
	cmd := exec.CommandContext(context.Background(), program, args...)
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	over := make(chan struct{})
	go func() {
		_ = cmd.Wait() // finding nothing is an exit status of ripgrep
		close(over)
	}()
	most := 0.0
	for {
		most = max(most, megabytes(strconv.Itoa(cmd.Process.Pid), "VmHWM:"))
		select {
		case <-over:
			return most
		case <-time.After(2 * time.Millisecond):
		}
	}
}

// megabytes reads a line of the status of a process; 0 if there is none.
func megabytes(pid, key string) float64 {
	text, err := os.ReadFile("/proc/" + pid + "/status")
	if err != nil {
		return 0
	}
	for line := range bytes.Lines(text) {
		if fields := strings.Fields(string(line)); len(fields) > 1 && fields[0] == key {
			n, err := strconv.ParseFloat(fields[1], 64)
			if err != nil {
				return 0
			}
			return n / 1024
		}
	}
	return 0
}
