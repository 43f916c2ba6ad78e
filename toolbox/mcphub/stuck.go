package mcphub

import (
	"context"
	"encoding/json"
	"time"

	"github.com/toolcrib/toolcrib/internal/mcp"
	"github.com/toolcrib/toolcrib/internal/mcp/client"
)

// stuckAfter is how long a server has to say that it is there. A busy machine may take
// seconds for it.
const stuckAfter = 10 * time.Second

// endIfStuck ends a person's own server that says nothing at all after a call took too
// long, in the background: it runs in a circle or was stopped, and every further call
// would wait as long. One that is only slow answers, if only that it knows no ping. The
// next call starts it anew.
func (i *instance) endIfStuck(s *client.Session, after time.Duration) {
	b := i.box
	b.mu.Lock() // so that the end of the box sees it, or it sees the end
	defer b.mu.Unlock()
	if b.ctx.Err() != nil {
		return
	}
	b.asking.Go(func() {
		ctx, cancel := context.WithTimeout(b.ctx, after)
		defer cancel()
		_, err := s.Do(ctx, client.Call{Method: mcp.MethodPing, Params: json.RawMessage("{}")})
		if err == nil || ctx.Err() == nil || b.ctx.Err() != nil {
			return
		}
		i.mu.Lock()
		same := i.session == s
		if same {
			i.session = nil
		}
		i.mu.Unlock()
		if same {
			b.hub.needs.Log.Warn("an MCP server is stuck and was ended", "server", b.name)
			i.closed(s)
		}
	})
}
