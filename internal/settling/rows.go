package settling

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
)

// row is how many things are worth a goroutine.
const row = 128

// Rows has many things done by several goroutines, each with those from one number up to
// another. The error is that of all together.
func Rows(n int, do func(from, to int) error) error {
	workers := max(1, min(runtime.GOMAXPROCS(0), n/row))
	errs := make([]error, workers)
	var running sync.WaitGroup
	for w := range workers {
		running.Go(func() {
			defer func() {
				if p := recover(); p != nil {
					errs[w] = fmt.Errorf("panic: %v", p)
				}
			}()
			errs[w] = do(w*n/workers, (w+1)*n/workers)
		})
	}
	running.Wait()
	return errors.Join(errs...)
}
