package math

import (
	"context"
	"math/big"
)

// work is what may still be spent on one equation. The unit is about one
// operation on a machine word or one visit of a syntax node, so that the
// limit holds for a few long numbers as well as for many short ones.
type work struct {
	left int
	stop func() error // says why to stop at once, or nil
}

func newWork(ctx context.Context) *work { return &work{left: maxWork, stop: ctx.Err} }

// maxWork keeps the worst equation to a second or two.
const maxWork = 500_000_000

const errTooHard = evalError("the equation needs too much work")

// spend takes n units, or fails: the limit is reached or nobody waits any
// more.
func (w *work) spend(n int) error {
	if w.left -= n; w.left < 0 {
		return errTooHard
	}
	return w.stop()
}

// words is the length of the longest coefficient in machine words, at least
// one.
func words(c []*big.Int) int {
	n := 0
	for _, v := range c {
		n = max(n, v.BitLen())
	}
	return n/64 + 1
}
