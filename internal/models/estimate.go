package models

import (
	"github.com/toolcrib/toolcrib/internal/find"
	"github.com/toolcrib/toolcrib/model"
)

// sane bounds what a service says that it used: nobody gets tokens back.
func sane(u model.Usage) model.Usage {
	const most = 1 << 40
	b := func(n int) int { return min(max(n, 0), most) }
	return model.Usage{Input: b(u.Input), Output: b(u.Output), CacheRead: b(u.CacheRead), CacheWrite: b(u.CacheWrite)}
}

// estimate is about how many tokens a request has.
func estimate(r model.Request) int {
	n := find.Tokens(r.System)
	for _, t := range r.Tools {
		n += len(t) / 4
	}
	for _, m := range r.Messages {
		n += 4 + written(m)
	}
	return n
}

// written is about how many tokens a message has. An image counts as much as they do on
// average.
func written(m model.Message) int {
	n := 0
	for _, p := range m.Parts {
		if n += find.Tokens(p.Text); len(p.Data) > 0 {
			n += 1000
		}
	}
	for _, c := range m.Calls {
		n += len(c.Name+string(c.Arguments)) / 4
	}
	return n
}
