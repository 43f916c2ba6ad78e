package find

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"
)

// Embedder turns texts into vectors whose angles tell how near their meanings
// are. It gives one vector for each text, all of one length.
type Embedder interface {
	Embed(ctx context.Context, texts []string) ([][]float32, error)
}

const (
	embedWait  = 2 * time.Second  // that a search waits, whatever is missing
	embedDocs  = 20 * time.Second // for all documents, once
	embedBatch = 128              // texts a request
	embedShare = 0.5              // of the blended score; words have the rest
	embedSkip  = 20               // searches by words alone after documents could not be embedded
)

// vectors holds the documents' vectors of one index, once they are there.
type vectors struct {
	mu      sync.Mutex
	docs    [][]float32
	pending chan struct{} // closed when the documents under way are done; nil: none are
	err     error         // why the last attempt failed
	skip    int           // searches left that do not try again
}

// SearchWith is Search blended with an Embedder's view. Words alone decide if
// e is nil, fails or takes too long; the error then says why, and the hits are
// good all the same. The documents are embedded once, at the first search, so
// all searches of one index take the same Embedder.
func (x *Index) SearchWith(ctx context.Context, e Embedder, query string, limit int) ([]Hit, error) {
	if e == nil || limit <= 0 || x.docs == 0 {
		return x.Search(query, limit), nil
	}
	near, err := x.nearness(ctx, e, query)
	if err != nil {
		return x.Search(query, limit), fmt.Errorf("embedding: %w", err)
	}
	s := x.takeScores()
	defer x.release(s)
	q := x.rate(query, s)
	top := s.top()
	s.touched = s.touched[:0]
	for d := range s.sum {
		words := float32(0)
		if top > 0 {
			words = s.sum[d] / top
		}
		s.sum[d] = (1-embedShare)*words + embedShare*near[d]
		if s.sum[d] != 0 {
			s.touched = append(s.touched, int32(d))
		}
	}
	hits := s.best(limit)
	for i := range hits {
		hits[i].Why = x.why(q, hits[i].Doc)
	}
	return hits, nil
}

// nearness is how near each document is to the query, the nearest being 1 and
// what is no nearer than average 0: the angles themselves mean something else
// for every model.
func (x *Index) nearness(ctx context.Context, e Embedder, query string) ([]float32, error) {
	ctx, cancel := context.WithTimeout(ctx, embedWait)
	defer cancel()
	docs, err := x.embedded(ctx, e)
	if err != nil {
		return nil, err
	}
	got, err := embed(ctx, e, []string{query[:min(len(query), maxText)]})
	if err != nil {
		return nil, err
	}
	near := make([]float32, len(docs))
	var sum, top float32
	for i, d := range docs {
		if len(d) != len(got[0]) {
			return nil, fmt.Errorf("vectors of %d and %d numbers", len(d), len(got[0]))
		}
		near[i] = dot(got[0], d)
		sum += near[i]
		if i == 0 || near[i] > top {
			top = near[i]
		}
	}
	average := sum / float32(len(docs))
	for i := range near {
		if top > average {
			near[i] = max(0, (near[i]-average)/(top-average))
		} else {
			near[i] = 0
		}
	}
	return near, nil
}

// embedded gives the documents' vectors. The first search has them made, which
// goes on if that search cannot wait so long; later ones find them.
func (x *Index) embedded(ctx context.Context, e Embedder) ([][]float32, error) {
	v := &x.vectors
	v.mu.Lock()
	switch {
	case v.docs != nil:
		defer v.mu.Unlock()
		return v.docs, nil
	case v.skip > 0:
		defer v.mu.Unlock()
		v.skip--
		return nil, v.err
	case v.pending == nil:
		v.pending = make(chan struct{})
		go x.embedAll(context.WithoutCancel(ctx), e, v.pending)
	}
	pending := v.pending
	v.mu.Unlock()
	select {
	case <-pending:
		v.mu.Lock()
		defer v.mu.Unlock()
		if v.docs == nil {
			return nil, v.err
		}
		return v.docs, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("documents: %w", ctx.Err())
	}
}

func (x *Index) embedAll(ctx context.Context, e Embedder, pending chan struct{}) {
	ctx, cancel := context.WithTimeout(ctx, embedDocs)
	defer cancel()
	all := make([][]float32, 0, x.docs)
	var err error
	for at := 0; at < x.docs && err == nil; at += embedBatch {
		var got [][]float32
		got, err = embed(ctx, e, x.texts[at:min(x.docs, at+embedBatch)])
		all = append(all, got...)
	}
	v := &x.vectors
	v.mu.Lock()
	defer v.mu.Unlock()
	if err != nil {
		v.err, v.skip = fmt.Errorf("documents: %w", err), embedSkip
	} else {
		v.docs = all
	}
	v.pending = nil
	close(pending)
}

// embed asks for vectors and makes them of length one. It does not wait for an
// Embedder that ignores its context.
func embed(ctx context.Context, e Embedder, texts []string) ([][]float32, error) {
	type answer struct {
		vectors [][]float32
		err     error
	}
	done := make(chan answer, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				done <- answer{err: fmt.Errorf("it broke down: %v", p)}
			}
		}()
		v, err := e.Embed(ctx, texts)
		done <- answer{v, err}
	}()
	var got answer
	select {
	case got = <-done:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if got.err != nil {
		return nil, got.err
	}
	if len(got.vectors) != len(texts) {
		return nil, fmt.Errorf("%d vectors for %d texts", len(got.vectors), len(texts))
	}
	out := make([][]float32, len(texts))
	for i, v := range got.vectors {
		length := math.Sqrt(float64(dot(v, v)))
		if len(v) == 0 || length == 0 || math.IsNaN(length) || math.IsInf(length, 0) {
			return nil, errors.New("a vector without a direction")
		}
		out[i] = make([]float32, len(v))
		for j := range v {
			out[i][j] = v[j] / float32(length)
		}
	}
	return out, nil
}

// dot is the scalar product of two vectors of one length.
func dot(a, b []float32) float32 {
	var sum float32
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}
