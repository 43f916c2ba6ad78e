package ovosbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"
)

// errGone says that a host does not answer any more while a call of it is under way.
var errGone = errors.New("the host answers nothing any more")

// The pace at which a host is looked for that has not answered a call yet.
const (
	slowestStep  = 2 * time.Second
	quickestStep = 100 * time.Millisecond
	maxSilent    = 3
)

// guard ends a call whose host is gone: nobody else would tell. It asks the toolbox
// now and then for a tool whose name is none, which every host answers at once and
// which runs nothing. A host that answers that is still at work.
func (b *Box) guard(ctx context.Context, id string, static bool, limit time.Duration, end context.CancelCauseFunc) {
	step := min(max(limit/8, quickestStep), slowestStep)
	for silent := 0; silent < maxSilent; {
		select {
		case <-ctx.Done():
			return
		case <-time.After(step):
		}
		switch there, err := b.there(ctx, id, static, step); {
		case there:
			silent = 0
		case err != nil || ctx.Err() != nil: // the bus is away, which says nothing of the host
			return
		default:
			silent++
		}
	}
	end(errGone)
}

// there reports whether the host of a toolbox answers.
func (b *Box) there(ctx context.Context, id string, static bool, within time.Duration) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	m := callMessage(id, "", json.RawMessage("{}"), static)
	m.Data = bytes.Replace(m.Data, []byte(`"name":""`), []byte(`"name":[]`), 1)
	_, err := b.bus.Ask(ctx, m, fromBox(id))
	switch {
	case err == nil:
		return true, nil
	case ctx.Err() != nil:
		return false, nil
	}
	return false, err
}

// watchServices notices services for tools that come and go: the bus tells of
// neither, and clients of today do not say that they join. What it asks costs its
// hearers next to nothing, where a discovery has them look for all their tools.
func (b *Box) watchServices() {
	defer close(b.watched)
	if b.cfg.Watch < 0 {
		return
	}
	last, known := "", false
	tick := time.NewTicker(b.cfg.Watch)
	defer tick.Stop()
	for {
		answers, err := b.bus.Collect(b.ctx, Message{Type: topicGet, Data: json.RawMessage("{}")}, min(b.cfg.Window, b.cfg.Watch))
		if err == nil {
			var from []string
			for _, m := range answers {
				from = append(from, "from "+string(m.Context["source"])) // it may say nothing
			}
			slices.Sort(from)
			now := strings.Join(slices.Compact(from), " ")
			if known && now != last {
				b.Look()
			}
			last, known = now, true
		}
		select {
		case <-b.ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// settleIn is how long after joining a host usually is before it answers.
const settleIn = time.Second

// lookLater has the hosts asked once somebody who joined has had the time to begin.
func (b *Box) lookLater() {
	select {
	case b.later <- struct{}{}:
		time.AfterFunc(settleIn, func() {
			<-b.later
			b.Look()
		})
	default: // it will be done anyway
	}
}
