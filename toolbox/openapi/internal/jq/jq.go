// Package jq cuts answers with an expression of jq before a model sees them.
//
// It is for toolbox/openapi only, and the one package that imports gojq. Its one
// invariant: an expression cannot reach anything but the value that it is given, and the work
// on it is bounded. jq is a full language with loops; here it is the part that selects and
// reshapes, and what grows without measure is not in it.
package jq

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/metrics"
	"time"

	"github.com/itchyny/gojq"

	"github.com/toolcrib/toolcrib/internal/jsontext"
	"github.com/toolcrib/toolcrib/internal/text"
)

// Bounds on one expression and on its work.
const (
	maxText    = 2000
	maxResults = 100_000
	maxMemory  = 256 << 20 // by how much the memory of the process may grow meanwhile
)

// Limits of a run that a caller chooses.
type Limits struct {
	Bytes int           // of the result
	Time  time.Duration // zero: two seconds
}

// Query is an expression that was read.
type Query struct{ code *gojq.Code }

// Parse reads an expression and refuses what it may not do.
func Parse(expression string) (*Query, error) {
	if len(expression) > maxText {
		return nil, fmt.Errorf("the expression has %d bytes, and at most %d are read", len(expression), maxText)
	}
	q, err := gojq.Parse(expression)
	if err != nil {
		return nil, fmt.Errorf("the expression is not valid jq: %s", text.Clip(text.ShowLine(err.Error()), 200))
	}
	if err := (&checker{}).query(q); err != nil {
		return nil, err
	}
	code, err := gojq.Compile(q, gojq.WithEnvironLoader(func() []string { return nil }))
	if err != nil {
		return nil, fmt.Errorf("the expression is not valid jq: %s", text.Clip(text.ShowLine(err.Error()), 200))
	}
	return &Query{code}, nil
}

var (
	errTime   = errors.New("the expression takes too long")
	errMemory = errors.New("the expression needs too much memory")
)

// Run applies the expression to a JSON text. One result is given as it is, several as a
// list, none as null.
func (q *Query) Run(ctx context.Context, input []byte, lim Limits) (json.RawMessage, error) {
	dec := json.NewDecoder(bytes.NewReader(input))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, errors.New("the answer is not JSON, so that nothing can be selected from it")
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	done := make(chan struct{})
	defer close(done)
	go watch(done, cancel, cmp.Or(lim.Time, 2*time.Second))
	iter := q.code.RunWithContext(ctx, v)
	var out []json.RawMessage
	size := 0
	for {
		r, ok := iter.Next()
		if !ok {
			break
		}
		if err, failed := r.(error); failed {
			if cause := context.Cause(ctx); cause != nil {
				return nil, cause
			}
			return nil, fmt.Errorf("the expression does not fit the answer: %s", text.Clip(text.ShowLine(err.Error()), 300))
		}
		one, err := jsontext.Marshal(r)
		if err != nil {
			return nil, errors.New("the result of the expression cannot be written as JSON")
		}
		one = bytes.TrimSpace(one)
		if size += len(one) + 1; size > lim.Bytes {
			return nil, fmt.Errorf("the expression gives more than %d bytes", lim.Bytes)
		}
		if out = append(out, one); len(out) > maxResults {
			return nil, fmt.Errorf("the expression gives more than %d results", maxResults)
		}
	}
	if cause := context.Cause(ctx); cause != nil {
		return nil, cause
	}
	switch len(out) {
	case 0:
		return json.RawMessage("null"), nil
	case 1:
		return out[0], nil
	}
	return append(append([]byte{'['}, bytes.Join(raws(out), []byte{','})...), ']'), nil
}

func raws(l []json.RawMessage) [][]byte {
	out := make([][]byte, len(l))
	for i, r := range l {
		out[i] = r
	}
	return out
}

// watch ends a run that takes too long, or during which the memory grows too far. The
// memory is that of the whole process, which is the only one that can be measured.
func watch(done <-chan struct{}, end context.CancelCauseFunc, most time.Duration) {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	read := func() uint64 {
		metrics.Read(sample)
		if sample[0].Value.Kind() != metrics.KindUint64 {
			return 0
		}
		return sample[0].Value.Uint64()
	}
	begin, clock := read(), time.NewTicker(5*time.Millisecond)
	defer clock.Stop()
	late := time.NewTimer(most)
	defer late.Stop()
	for {
		select {
		case <-done:
			return
		case <-late.C:
			end(errTime)
			return
		case <-clock.C:
			if read() > begin+maxMemory {
				end(errMemory)
				return
			}
		}
	}
}
