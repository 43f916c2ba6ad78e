package mcphub

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/toolcrib/toolcrib/internal/mcp"
	"github.com/toolcrib/toolcrib/internal/mcp/client"
)

// wantLogs tells a server of the legacy era once which messages are wanted at
// most; who wants fewer gets fewer. One of the modern era is told with each call.
func (i *instance) wantLogs(ctx context.Context, s *client.Session, level string) {
	if level == "" || mcp.IsModern(s.Version()) {
		return
	}
	if offered, _, _ := s.Server(); !capable(offered, "logging") {
		return
	}
	i.mu.Lock()
	tell := i.session == s && (i.logs == "" || rank(level) < rank(i.logs))
	if tell {
		i.logs = level
	}
	i.mu.Unlock()
	if !tell {
		return
	}
	params, err := json.Marshal(map[string]string{"level": level})
	if err == nil {
		_, err = s.Do(ctx, client.Call{Method: mcp.MethodSetLevel, Params: params})
	}
	if err != nil {
		i.box.hub.needs.Log.Debug("an MCP server cannot be told which messages are wanted", "server", i.box.name, "err", err)
	}
}

// rank orders the levels of messages.
func rank(level string) int {
	return slices.Index([]string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}, level)
}
