package find

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// topics is an Embedder that knows a few subjects by words no lexicon has.
type topics struct {
	calls, texts atomic.Int32
	wrong        func(texts []string) ([][]float32, error) // in place of an answer
	takes        time.Duration
	deaf         bool // goes on when told to stop
}

func (e *topics) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	e.calls.Add(1)
	e.texts.Add(int32(len(texts)))
	if e.takes > 0 {
		if e.deaf {
			time.Sleep(e.takes)
		} else {
			select {
			case <-time.After(e.takes):
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
	}
	if e.wrong != nil {
		return e.wrong(texts)
	}
	out := make([][]float32, len(texts))
	for i, t := range texts {
		v := []float32{0.1, 0.1, 0.1, 0.1}
		for topic, words := range []string{"forecast zephyrish", "translate glossolalia", "email telegraphy"} {
			for w := range strings.FieldsSeq(words) {
				if strings.Contains(strings.ToLower(t), w) {
					v[topic] += 3
				}
			}
		}
		out[i] = v
	}
	return out, nil
}

func TestSearchWith(t *testing.T) {
	docs := readTools(t)
	x := New(docs)
	e := &topics{}
	for query, want := range map[string]string{"zephyrish": "get_forecast", "some glossolalia": "translate_text", "telegraphy": "send_email"} {
		if hits := x.Search(query, 1); len(hits) > 0 && docs[hits[0].Doc].Name == want {
			t.Fatalf("%s needs no embedder", query)
		}
		hits, err := x.SearchWith(t.Context(), e, query, 3)
		if err != nil || len(hits) == 0 || docs[hits[0].Doc].Name != want {
			t.Errorf("%s: %s, %v", query, names(docs, hits), err)
		}
	}
	if got := e.texts.Load(); got != int32(len(docs)+3) {
		t.Errorf("%d texts embedded: the documents more than once", got)
	}
	// What words find outright stays found.
	hits, err := x.SearchWith(t.Context(), e, "scan_ports", 1)
	if err != nil || docs[hits[0].Doc].Name != "scan_ports" {
		t.Errorf("%s, %v", names(docs, hits), err)
	}
	if hits, err := x.SearchWith(t.Context(), nil, "rain", 1); err != nil || len(hits) != 1 {
		t.Errorf("without embedder: %v, %v", hits, err)
	}
}

// Whatever an Embedder does, words alone still answer.
func TestSearchWithBrokenEmbedder(t *testing.T) {
	docs := readTools(t)
	want := New(docs).Search("will it rain", 5)
	same := func(v []float32) func([]string) ([][]float32, error) {
		return func(texts []string) ([][]float32, error) {
			out := make([][]float32, len(texts))
			for i := range out {
				out[i] = v
			}
			return out, nil
		}
	}
	nan := float32(0)
	nan /= nan
	for name, wrong := range map[string]func([]string) ([][]float32, error){
		"error":     func([]string) ([][]float32, error) { return nil, errors.New("model is out") },
		"panic":     func([]string) ([][]float32, error) { panic("no") },
		"too few":   func([]string) ([][]float32, error) { return [][]float32{{1}}[:0], nil },
		"empty":     same(nil),
		"zero":      same([]float32{0, 0}),
		"no number": same([]float32{nan, 1}),
		"uneven": func(texts []string) ([][]float32, error) {
			out := make([][]float32, len(texts))
			for i := range out {
				out[i] = make([]float32, len(texts)+1)
				out[i][0] = 1
			}
			return out, nil
		},
	} {
		hits, err := New(docs).SearchWith(t.Context(), &topics{wrong: wrong}, "will it rain", 5)
		if err == nil || !strings.HasPrefix(err.Error(), "embedding: ") {
			t.Errorf("%s: error %v", name, err)
		}
		if diff := cmp.Diff(want, hits); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// A slow Embedder costs a search its bounded wait and no more; the documents
// are ready for the searches after it. One that fails is left alone for a while.
func TestSearchWithSlowEmbedder(t *testing.T) {
	docs := readTools(t)
	x, y, z := New(docs), New(docs), New(docs)
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		slow := &topics{takes: 3 * time.Second}
		hits, err := x.SearchWith(t.Context(), slow, "zephyrish rain", 3)
		if err == nil || len(hits) == 0 || time.Since(start) != embedWait {
			t.Errorf("%v after %v", err, time.Since(start))
		}
		time.Sleep(10 * time.Second)
		if _, err := x.SearchWith(t.Context(), &topics{takes: time.Second}, "zephyrish", 3); err != nil {
			t.Errorf("documents embedded meanwhile: %v", err)
		}

		start = time.Now()
		deaf := &topics{takes: time.Hour, deaf: true}
		if _, err := y.SearchWith(t.Context(), deaf, "rain", 3); err == nil || time.Since(start) != embedWait {
			t.Errorf("deaf: %v after %v", err, time.Since(start))
		}

		broken := &topics{wrong: func([]string) ([][]float32, error) { return nil, errors.New("down") }}
		for range embedSkip + 1 {
			if _, err := z.SearchWith(t.Context(), broken, "rain", 3); err == nil {
				t.Error("no error")
			}
		}
		if broken.calls.Load() != 1 {
			t.Errorf("asked %d times", broken.calls.Load())
		}
		if _, err := z.SearchWith(t.Context(), &topics{}, "rain", 3); err != nil {
			t.Errorf("tried again: %v", err)
		}
		time.Sleep(2 * time.Hour) // the deaf one comes to its end
	})
}
