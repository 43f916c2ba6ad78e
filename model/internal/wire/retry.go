package wire

import (
	"context"
	"crypto/tls"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/toolcrib/toolcrib/model"
)

// Run tries until it works, as far as trying again does no harm: nothing was emitted
// yet, and the error is one that may go away.
func (c *Client) Run(ctx context.Context, emit func(model.Delta), try func(emit func(model.Delta)) error) error {
	emitted := false
	told := func(d model.Delta) {
		if d == (model.Delta{}) {
			return
		}
		emitted = true
		if emit != nil {
			emit(d)
		}
	}
	for attempt := 1; ; attempt++ {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		err := try(told)
		if err == nil || ctx.Err() != nil {
			return err
		}
		e, ok := errors.AsType[*model.Error](err)
		if !ok || emitted || attempt >= c.Attempts || !mayPass(e) || e.Wait > c.MaxWait {
			return err
		}
		if c.Pause(ctx, max(e.Wait, backoff(attempt))) != nil {
			return ctx.Err()
		}
	}
}

// mayPass reports whether an error may go away by itself.
func mayPass(e *model.Error) bool {
	if _, tlsFault := errors.AsType[*tls.CertificateVerificationError](e.Err); tlsFault {
		return false
	}
	if errors.Is(e.Err, errEndless) || errors.Is(e.Err, errTooBig) || errors.Is(e.Err, errIdle) {
		return false
	}
	return e.Kind == model.Busy || e.Kind == model.Broken || e.Kind == model.Away
}

// backoff is half a second, twice as much each time, of which half is left to chance, so
// that those who failed together do not come back together.
func backoff(attempt int) time.Duration {
	d := 500 * time.Millisecond << min(attempt-1, 6)
	return d/2 + rand.N(d/2) //nolint:gosec // nobody gains by guessing it
}

// pause waits by the clock.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
