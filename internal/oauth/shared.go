package oauth

import "context"

// sharedWork is one piece of work that everybody waits for who needs it: a hundred
// refused calls make one login, and one renewal uses up one refresh token. It
// goes on while anybody waits.
type sharedWork struct {
	done    chan struct{}
	err     error // after done
	waiting int
	left    bool // nobody waits any more: it was cancelled
	cancel  context.CancelFunc
}

// joinWork waits for the work that is under way, or begins one. mine tells which.
func (h *Handler) joinWork(ctx context.Context, work func(context.Context) error) (mine bool, err error) {
	for {
		h.mu.Lock()
		f := h.flight
		switch {
		case f == nil:
			f = h.start(ctx, work)
			h.mu.Unlock()
			return true, h.wait(ctx, f)
		case !f.left:
			f.waiting++
			h.mu.Unlock()
			return false, h.wait(ctx, f)
		}
		h.mu.Unlock()
		select {
		case <-f.done:
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
}

// runAlone waits until nothing is under way and then does its work.
func (h *Handler) runAlone(ctx context.Context, work func(context.Context) error) error {
	for {
		mine, err := h.joinWork(ctx, work)
		if mine {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// start has h.mu.
func (h *Handler) start(ctx context.Context, work func(context.Context) error) *sharedWork {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	f := &sharedWork{done: make(chan struct{}), waiting: 1, cancel: cancel}
	h.flight = f
	go func() {
		defer cancel()
		f.err = work(ctx)
		h.mu.Lock()
		h.flight = nil
		h.mu.Unlock()
		close(f.done)
	}()
	return f
}

func (h *Handler) wait(ctx context.Context, f *sharedWork) error {
	select {
	case <-f.done:
		return f.err
	case <-ctx.Done():
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if f.waiting--; f.waiting == 0 {
		f.left = true
		f.cancel()
	}
	return ctx.Err()
}
