package host_test

import (
	"testing"

	"github.com/toolcrib/toolcrib"
)

// BenchmarkCalls has a client make calls over a real bus, 32 of them under way
// at a time. Bus, host and client share the cores.
func BenchmarkCalls(b *testing.B) {
	r := furnish(b, setup{})
	cfg := r.config()
	ids := map[string]string{}
	for _, box := range r.shelving.Boxes {
		ids[box.Name()] = boxID(box.Name())
	}
	cfg.BoxID = func(box string) string { return ids[box] }
	r.crib.Journal = toolcrib.NoJournal{} // what is measured is the bus
	url, _ := serve(b, cfg)
	s := ready(b, url)
	room := make(chan struct{}, 32)
	done := make(chan error, 1)
	go func() {
		for range b.N {
			if _, err := s.tryNext(mathCall+".response", "m"); err != nil {
				done <- err
				return
			}
			<-room
		}
		done <- nil
	}()
	frame := []byte(request(mathCall, `{"name":"evaluate_expression","kwargs":{"expression":"2+2"}}`, `"mark":"m"`))
	b.ResetTimer()
	for range b.N {
		room <- struct{}{}
		if err := s.write(1, frame); err != nil {
			b.Fatal(err)
		}
	}
	if err := <-done; err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "calls/s")
}
