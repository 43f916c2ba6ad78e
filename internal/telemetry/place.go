package telemetry

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"math"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/text"
	"github.com/toolcrib/toolcrib/internal/trace"
)

// places says which span a call is. The span of a call is written when the call
// has ended, but what happens in it must name it before. So its ID follows from
// the trace and the ID of the call, and nobody has to hand it on.
type places struct {
	key    []byte  // of this process: nobody else can tell which call a span was
	sample float64 // the share of traces begun here that are recorded
}

func newPlaces(sample float64) places {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // it never fails: since Go 1.24 it ends the process instead
	return places{key, sample}
}

// longestName is how much of a caller's names a record has.
const longestName = 256

// ofCall is the span of a call that was made in ctx, and the one above it: that of
// the request that it was made for, or of the call that made it. Without one the
// call begins a trace.
func (p places) ofCall(ctx context.Context, id string, c *toolcrib.Caller) (own, parent trace.Context) {
	parent, ok := trace.Of(ctx)
	sum := p.sum(string(parent.Trace[:]), id, text.Clip(c.Organisation, longestName), text.Clip(c.Subject, longestName))
	if own = parent; !ok {
		own = trace.Context{}
		copy(own.Trace[:], sum[8:24])
		own.Sampled = p.sampled(own.Trace)
	}
	copy(own.Span[:], sum[:8])
	return own, parent
}

// fresh is a new span below one; below none it begins a trace.
func (p places) fresh(parent trace.Context) trace.Context {
	own := parent
	if !parent.Valid() {
		_, _ = rand.Read(own.Trace[:]) // it never fails
		own.Sampled, own.State = p.sampled(own.Trace), ""
	}
	_, _ = rand.Read(own.Span[:]) // it never fails
	return own
}

// sampled decides on a trace by its ID, as everyone does, so that programs with
// the same share record the same traces.
func (p places) sampled(id [16]byte) bool {
	if p.sample >= 1 {
		return true
	}
	return p.sample > 0 && binary.BigEndian.Uint64(id[8:])>>1 < uint64(p.sample*math.MaxInt64)
}

// sum is cut to three quarters at most before anybody sees it, so that a plain hash with
// the key in front cannot be continued.
func (p places) sum(parts ...string) [sha256.Size]byte {
	text := append(make([]byte, 0, 256), p.key...)
	for _, part := range parts {
		text = append(binary.BigEndian.AppendUint32(text, uint32(len(part))), part...)
	}
	return sha256.Sum256(text)
}
