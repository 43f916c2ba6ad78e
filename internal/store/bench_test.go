package store_test

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/callid"
	"github.com/toolcrib/toolcrib/internal/store"
	"github.com/toolcrib/toolcrib/internal/store/sqlite"
)

// benchRecord is a call like those of the built-in tools.
func benchRecord() *toolcrib.Record {
	return &toolcrib.Record{
		ID: callid.New(time.Now()), Tool: "evaluate_expression", Start: time.Now(),
		Caller:    toolcrib.Caller{Subject: "alice", Agent: "coder", Session: "0192f0c4-6a00", Frontend: "mcp"},
		Input:     []byte(`{"expression":"2**10","precision":12,"variables":{"x":1.5,"y":[1,2,3]},"mode":"exact"}`),
		InputHash: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
	}
}

func finish(r *toolcrib.Record) {
	r.Box, r.Native, r.Definition = "math", "evaluate_expression", "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae"
	r.Verdicts = []toolcrib.Verdict{{Decision: toolcrib.Allow, Guard: "effects", Reason: "its effects (none) are allowed"}}
	r.Duration, r.Outcome = 25*time.Microsecond, toolcrib.Done
	r.Result = []byte(`{"content":[{"type":"text","text":"1024"}],"value":{"result":1024,"exact":true}}`)
	r.ResultHash = r.InputHash
}

func openBench(b *testing.B) *store.Journal {
	b.Helper()
	j, err := sqlite.Open(b.Context(), store.Config{Dir: b.TempDir() + "/journal"})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := j.Close(b.Context()); err != nil {
			b.Error(err)
		}
	})
	return j
}

func pair(b *testing.B, j *store.Journal) {
	r := benchRecord()
	if old, err := j.Begin(b.Context(), r); err != nil || old != nil {
		b.Error(old, err)
	}
	finish(r)
	if err := j.End(b.Context(), r); err != nil {
		b.Error(err)
	}
}

// BenchmarkJournalOne is Begin and End by one caller.
func BenchmarkJournalOne(b *testing.B) {
	j := openBench(b)
	took := make([]time.Duration, 0, 1<<16)
	b.ReportAllocs()
	for b.Loop() {
		start := time.Now()
		pair(b, j)
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "µs-p50")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "µs-p99")
}

// BenchmarkJournal16 is Begin and End by 16 callers at once.
func BenchmarkJournal16(b *testing.B) {
	for _, callers := range []int{16} {
		b.Run(fmt.Sprint(callers), func(b *testing.B) {
			j := openBench(b)
			var left atomic.Int64
			left.Store(int64(b.N))
			b.ReportAllocs()
			b.ResetTimer()
			var all sync.WaitGroup
			for range callers {
				all.Go(func() {
					for left.Add(-1) >= 0 {
						pair(b, j)
					}
				})
			}
			all.Wait()
			b.StopTimer()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "calls/s")
		})
	}
}

// BenchmarkVerify checks a journal of 20,000 calls.
func BenchmarkVerify(b *testing.B) {
	const n = 20000
	cfg := store.Config{Dir: b.TempDir() + "/journal"}
	j, err := sqlite.Open(b.Context(), cfg)
	if err != nil {
		b.Fatal(err)
	}
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			for range n / 16 {
				pair(b, j)
			}
		})
	}
	all.Wait()
	if err := j.Close(b.Context()); err != nil {
		b.Fatal(err)
	}
	entries := 0
	for b.Loop() {
		r, err := sqlite.Verify(b.Context(), cfg)
		if err != nil || !r.OK() {
			b.Fatal(r, err)
		}
		entries += r.Entries
	}
	b.ReportMetric(float64(entries)/b.Elapsed().Seconds(), "entries/s")
}

// BenchmarkOpen is what the journal costs a command that makes one call.
func BenchmarkOpen(b *testing.B) {
	cfg := store.Config{Dir: b.TempDir() + "/journal"}
	for b.Loop() {
		j, err := sqlite.Open(b.Context(), cfg)
		if err != nil {
			b.Fatal(err)
		}
		pair(b, j)
		if err := j.Close(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkList is the newest page of a journal of a million entries, and the
// slowest question that a filter can ask of it.
func BenchmarkList(b *testing.B) {
	const n = 500_000
	cfg := store.Config{Dir: b.TempDir() + "/journal"}
	j, err := sqlite.Open(b.Context(), cfg)
	if err != nil {
		b.Fatal(err)
	}
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			for range n / 16 {
				pair(b, j)
			}
		})
	}
	all.Wait()
	if err := j.Close(b.Context()); err != nil {
		b.Fatal(err)
	}
	for name, f := range map[string]store.Filter{
		"newest": {Limit: 20}, "tool": {Limit: 20, Tool: "evaluate_expression"}, "none": {Limit: 20, Tool: "none"},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				r, err := sqlite.OpenReader(b.Context(), cfg) // as the command does
				if err != nil {
					b.Fatal(err)
				}
				list, err := r.List(b.Context(), f)
				if err != nil || len(list) != 20 && name != "none" {
					b.Fatal(len(list), err)
				}
				if err := r.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
