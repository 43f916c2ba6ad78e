package worker

import (
	"context"
	"fmt"
)

// Within has a part that is not ours do something, in a goroutine of its own,
// and goes on at the end of ctx even if the part does not.
func Within[T any](ctx context.Context, do func() (T, error)) (T, error) {
	type reply struct {
		value T
		err   error
	}
	replies := make(chan reply, 1)
	go func() {
		r := reply{err: ErrGone}
		defer func() {
			if p := recover(); p != nil {
				r.err = fmt.Errorf("%w: panic: %v", ErrGone, p)
			}
			replies <- r
		}()
		value, err := do()
		r = reply{value, err}
	}()
	select {
	case r := <-replies:
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}
