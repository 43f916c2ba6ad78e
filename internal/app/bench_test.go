package app

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/store"
	"github.com/toolcrib/toolcrib/internal/store/sqlite"
)

type benchIn struct {
	Path  string   `json:"path"`
	Query string   `json:"query" minlen:"1" maxlen:"200"`
	Mode  string   `json:"mode" enum:"fast,slow,exact"`
	Limit int      `json:"limit" default:"10" min:"1" max:"1000"`
	Ratio float64  `json:"ratio"`
	Deep  bool     `json:"deep"`
	Tags  []string `json:"tags" maxitems:"10"`
	Ref   string   `json:"ref" pattern:"^[a-z]+-[0-9]+$"`
	Opts  struct {
		Case  bool   `json:"case"`
		Width int    `json:"width"`
		Name  string `json:"name,omitempty"`
	} `json:"opts"`
}

type benchOut struct {
	Count int    `json:"count"`
	Path  string `json:"path"`
}

// benchCrib is a crib with one pure tool of nine arguments and the real
// journal.
func benchCrib(b *testing.B) (*toolcrib.Crib, json.RawMessage) {
	journal, err := sqlite.Open(b.Context(), store.Config{Dir: b.TempDir() + "/journal"})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := journal.Close(context.Background()); err != nil {
			b.Error(err)
		}
	})
	tool := toolcrib.Define(toolcrib.Spec{Name: "nine", Effects: toolcrib.Pure},
		func(_ context.Context, _ *toolcrib.Env, in benchIn) (benchOut, error) {
			return benchOut{Count: in.Limit + len(in.Tags), Path: in.Path}, nil
		})
	crib := &toolcrib.Crib{Catalog: &toolcrib.Catalog{}, Journal: journal, Guards: []toolcrib.Guard{toolcrib.AllowEffects(toolcrib.Pure)}}
	if _, faults := crib.Catalog.Load(b.Context(), toolcrib.Contents{Boxes: []toolcrib.Toolbox{toolcrib.NewBox("bench", tool)}}); faults != nil {
		b.Fatal(faults)
	}
	return crib, json.RawMessage(`{"path":"/srv/projects/crib/internal/schema","query":"func Parse(text []byte, lim Limits)","mode":"exact","limit":25,"ratio":0.75,"deep":true,"tags":["alpha","beta","gamma"],"ref":"issue-12345","opts":{"case":true,"width":120,"name":"the name of this set of options, long enough to matter"}}`)
}

// BenchmarkCallJournalOne reports the median of one caller as p50-ns.
func BenchmarkCallJournalOne(b *testing.B) {
	crib, input := benchCrib(b)
	var took []time.Duration
	for b.Loop() {
		start := time.Now()
		if _, err := crib.Call(b.Context(), toolcrib.Call{Tool: "nine", Input: input}); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2]), "p50-ns")
}

// BenchmarkCallJournal16 reports what sixteen callers get done as calls/s.
func BenchmarkCallJournal16(b *testing.B) {
	crib, input := benchCrib(b)
	b.ResetTimer()
	var left atomic.Int64
	left.Store(int64(b.N))
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			for left.Add(-1) >= 0 {
				if _, err := crib.Call(context.Background(), toolcrib.Call{Tool: "nine", Input: input}); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "calls/s")
}

// BenchmarkCallGoverned is a call with everything on that a fresh machine has:
// policy, secrets, flow, loops, injection, bounds, journal. In turns with a crib
// that has the journal alone, so that a busy machine slows both.
func BenchmarkCallGoverned(b *testing.B) {
	bare, input := benchCrib(b)
	a, err := Open(b.Context(), settings.Defaults(), Needs{State: b.TempDir(), Dir: b.TempDir(), Home: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := a.Close(context.Background()); err != nil {
			b.Error(err)
		}
	})
	tool := toolcrib.Define(toolcrib.Spec{Name: "nine", Effects: toolcrib.Pure},
		func(_ context.Context, _ *toolcrib.Env, in benchIn) (benchOut, error) {
			return benchOut{Count: in.Limit + len(in.Tags), Path: in.Path}, nil
		})
	a.shelving.Boxes = append(a.shelving.Boxes, toolcrib.NewBox("bench", tool))
	if _, faults := a.Reload(b.Context()); faults != nil {
		b.Fatal(faults)
	}
	call := func(c *toolcrib.Crib) time.Duration {
		start := time.Now()
		if _, err := c.Call(b.Context(), toolcrib.Call{Tool: "nine", Input: input, Caller: toolcrib.Caller{Subject: "s"}}); err != nil {
			b.Fatal(err)
		}
		return time.Since(start)
	}
	call(a.Crib) // the rules of the scanner are read once
	var without, with []time.Duration
	for b.Loop() {
		without, with = append(without, call(bare)), append(with, call(a.Crib))
	}
	slices.Sort(without)
	slices.Sort(with)
	b.ReportMetric(float64(with[len(with)/2]-without[len(without)/2])/1e3, "µs-added")
	b.ReportMetric(float64(without[len(without)/2])/1e3, "µs-without")
}

// BenchmarkVet is all vetters of a fresh machine, in their order, on a result
// of a megabyte that goes to a model: prose as text, source and records as
// values. The tool is one of ours, and one of somebody else.
func BenchmarkVet(b *testing.B) {
	a, err := Open(b.Context(), settings.Defaults(), Needs{State: b.TempDir(), Dir: b.TempDir(), Home: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := a.Close(context.Background()); err != nil {
			b.Error(err)
		}
	})
	const megabyte = 1 << 20
	fill := func(piece string) string { return strings.Repeat(piece, megabyte/len(piece)+1)[:megabyte] }
	prose := fill("The crib is the room where every tool hangs in its place, is handed out under rules, and each loan is written down.\n")
	source := fill("func (c *Crib) Call(ctx context.Context, call Call) (*Result, error) {\n\tif err != nil {\n\t\treturn nil, err\n\t}\n}\n")
	value, err := json.Marshal(map[string]any{"path": "a.go", "content": source})
	if err != nil {
		b.Fatal(err)
	}
	var rows []map[string]any
	for i := range 12_000 {
		rows = append(rows, map[string]any{"id": i, "name": "entry", "path": "/srv/projects/crib/internal", "at": "2026-01-02T03:04:05Z"})
	}
	records, err := json.Marshal(rows)
	if err != nil {
		b.Fatal(err)
	}
	for name, result := range map[string]*toolcrib.Result{"prose": toolcrib.Text(prose), "source": {Value: value}, "records": {Value: records}} {
		for _, box := range []string{"files", "foreign"} {
			b.Run(name+"/"+box, func(b *testing.B) {
				review := toolcrib.Review{Call: toolcrib.Call{ID: "1", Caller: toolcrib.Caller{Subject: "s", Session: "1", Frontend: "mcp"}}, Spec: toolcrib.Entry{Spec: toolcrib.Spec{Effects: toolcrib.Reads}, Box: box, Native: "t"}}
				var took []time.Duration
				for b.Loop() {
					start, r := time.Now(), result
					for _, v := range a.Crib.Vetters {
						if r, err = v.Vet(b.Context(), review, r); err != nil {
							b.Fatal(err)
						}
					}
					took = append(took, time.Since(start))
				}
				slices.Sort(took)
				b.ReportMetric(float64(took[len(took)/2])/1e6, "ms-p50")
			})
		}
	}
}
