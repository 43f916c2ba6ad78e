package toolcrib

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"

	"github.com/toolcrib/toolcrib/files"
)

// verdictOnChange is what the guards say to one change.
type verdictOnChange struct {
	decision Decision
	verdicts []Verdict
}

// rowOfChanges is how many changes are worth a goroutine.
const rowOfChanges = 128

// judgeEach asks the guards about each change, about many by several goroutines: all that
// a command wrote is read and looked through. Each goroutine has a row of them that lie
// beside each other, and guards of its own, which remember what they saw.
func (s *settled) judgeEach(ctx context.Context) ([]verdictOnChange, error) {
	handle, err := files.New(s.flight.grant.Dirs, s.crib.filesOptions(s.flight, s.flight.grant))
	if err != nil {
		return nil, refuse(CodeUnavailable, s.flight.call.Tool, "the granted directories cannot be looked at", err)
	}
	defer handle.Close() //nolint:errcheck // it was only read
	out, replaced := make([]verdictOnChange, len(s.changes)), replacedWith(s.changes)
	workers := max(1, min(runtime.GOMAXPROCS(0), len(s.changes)/rowOfChanges))
	errs := make([]error, workers)
	var running sync.WaitGroup
	for w := range workers {
		running.Go(func() {
			defer func() {
				if p := recover(); p != nil {
					errs[w] = fmt.Errorf("panic: %v", p)
				}
			}()
			own := *s
			own.guards = s.crib.guards()
			reach := handle.Checker()
			defer reach.Close() //nolint:errcheck // it was only read
			for i := w * len(out) / workers; i < (w+1)*len(out)/workers && errs[w] == nil; i++ {
				change := s.changes[i]
				if errs[w] = ctx.Err(); errs[w] != nil || change.Carried != nil && workers > 1 {
					continue // repositories are read by one
				}
				out[i].decision, out[i].verdicts = own.judgeChange(ctx, change, func() error { return reach.Check(change.Path, true, true, replaced[i]) })
			}
		})
	}
	running.Wait()
	own := *s
	own.guards = s.crib.guards()
	for i, change := range s.changes {
		if change.Carried != nil && workers > 1 && ctx.Err() == nil {
			out[i].decision, out[i].verdicts = own.judgeChange(ctx, change, func() error { return handle.Check(change.Path, true, true) })
		}
	}
	for _, err := range append(errs, ctx.Err()) {
		switch {
		case ctx.Err() != nil: // there may be a million of them
			return nil, refuse(CodeTimeout, s.flight.call.Tool, "the call was ended while the changes of its command were judged", ctx.Err())
		case err != nil:
			return nil, refuse(CodeInternal, s.flight.call.Tool, "the changes of its command could not be judged", err)
		}
	}
	return out, nil
}

// replacedWith tells for each change how many of the last elements of its path come in the
// place of something else, or of nothing: those from a directory on that the set makes.
func replacedWith(changes []Change) []int {
	out := make([]int, len(changes))
	made := ""
	for i := range changes {
		c := &changes[i]
		if made != "" && strings.HasPrefix(c.Path, made) {
			out[i] = strings.Count(c.Path[len(made):], "/") + 2
		} else if made = ""; c.makesDir() {
			made = c.Path + "/"
		}
	}
	return out
}
