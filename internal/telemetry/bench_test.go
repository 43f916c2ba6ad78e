package telemetry

import (
	"context"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
)

// BenchmarkCall is a call that nobody watches, one that is counted, and one that
// is traced as well, in turns, so that a busy machine slows all three. It reports
// the median of the first, and what each of the others adds.
func BenchmarkCall(b *testing.B) {
	tool := toolcrib.Define(toolcrib.Spec{Name: "add", Effects: toolcrib.Pure}, func(_ context.Context, _ *toolcrib.Env, in struct{ A, B int }) (struct{ Sum int }, error) {
		return struct{ Sum int }{in.A + in.B}, nil
	})
	crib := func(w *Telemetry) *toolcrib.Crib {
		c := &toolcrib.Crib{Catalog: &toolcrib.Catalog{}, Journal: toolcrib.NoJournal{}, Guards: []toolcrib.Guard{toolcrib.AllowEffects(toolcrib.Pure)}}
		if _, faults := c.Catalog.Load(b.Context(), toolcrib.Contents{Boxes: []toolcrib.Toolbox{toolcrib.NewBox("bench", tool)}}); faults != nil {
			b.Fatal(faults)
		}
		if w != nil {
			w.Watch(c, func(toolcrib.Vetter) string { return "" })
			b.Cleanup(func() { _ = w.Close() }) // it never fails
		}
		return c
	}
	e := &Exporter{wake: make(chan struct{}, 1), done: make(chan struct{})} // it sends nothing: that is not the caller's time
	e.to.Log = quiet()
	close(e.done)
	e.cancel = func() {}
	cribs := []*toolcrib.Crib{crib(nil), crib(New(NewMetrics(Sources{}), nil, Config{})), crib(New(NewMetrics(Sources{}), e, Config{Sample: 1}))}
	took := make([][]time.Duration, len(cribs))
	for b.Loop() {
		for i, c := range cribs {
			start := time.Now()
			if _, err := c.Call(b.Context(), toolcrib.Call{Tool: "add", Input: json.RawMessage(`{"A":1,"B":2}`)}); err != nil {
				b.Fatal(err)
			}
			took[i] = append(took[i], time.Since(start))
		}
		e.mu.Lock()
		if len(e.queue) > maxQueue/2 {
			e.queue, e.bytes = nil, 0
		}
		e.mu.Unlock()
	}
	median := func(i int) float64 {
		slices.Sort(took[i])
		return float64(took[i][len(took[i])/2])
	}
	b.ReportMetric(median(0), "ns-off")
	b.ReportMetric(median(1)-median(0), "ns-metrics-add")
	b.ReportMetric(median(2)-median(0), "ns-both-add")
}
