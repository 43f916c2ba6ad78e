package mcphub

import (
	"context"
	"sync"
)

// Relist asks those of these servers anew what they offer that run. None is started
// for it, and one that does not tell is as it was.
func (h *Hub) Relist(ctx context.Context, these func(server string) bool) {
	var all sync.WaitGroup
	for _, b := range h.Boxes() {
		if !these(b.name) {
			continue
		}
		for _, i := range b.running() {
			i.mu.Lock()
			s := i.session
			i.mu.Unlock()
			if s == nil {
				continue
			}
			all.Go(func() {
				if _, err := b.learn(ctx, i, s); err != nil && ctx.Err() == nil {
					h.needs.Log.Warn("an MCP server does not say what it offers now", "server", b.name, "err", err)
				}
			})
		}
	}
	all.Wait()
}
