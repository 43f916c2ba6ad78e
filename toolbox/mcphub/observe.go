package mcphub

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"

	"github.com/toolcrib/toolcrib/internal/mcp"
	"github.com/toolcrib/toolcrib/internal/mcp/client"
	"github.com/toolcrib/toolcrib/internal/text"
)

// send makes a request of a running server, and tells who watches.
func (b *Box) send(ctx context.Context, s *client.Session, tool string, call client.Call) (json.RawMessage, error) {
	watcher := b.hub.needs.Observer
	if watcher == nil {
		return s.Do(ctx, call)
	}
	ctx, end := watcher.Begin(ctx, mcp.Operation{Server: b.name, Method: call.Method, Target: tool, Version: s.Version(), Address: b.address()})
	result, err := s.Do(ctx, call)
	end(result, err)
	return result, err
}

// address is where a server is over HTTP; empty: it is a program, or its address
// holds what has to be put in first.
func (b *Box) address() string {
	u, err := url.Parse(b.server.URL)
	if err != nil || u.Hostname() == "" || strings.Contains(u.Host, "$") {
		return ""
	}
	if u.Port() == "" {
		return u.Host + map[string]string{"http": ":80", "https": ":443"}[u.Scheme]
	}
	return u.Host
}

// Health is how a server is doing in this process, in one word and a few numbers.
type Health struct {
	// State is up; starting; idle: it is started when it is needed; or failed.
	State string `json:"state"`
	Error string `json:"error,omitempty"` // of one that failed, without secrets
	Tools int    `json:"tools"`           // that are approved
	Held  int    `json:"held"`            // that wait for approval

	Running  int `json:"running"`
	Failures int `json:"failures"` // in a row

	Starts int64 `json:"-"` // since it was set up
	Failed int64 `json:"-"`
}

// Health tells how the server is doing. People may have one each: it is up if one
// of them is.
func (b *Box) Health() Health {
	s := b.Status()
	h := Health{State: "idle", Tools: s.Tools, Held: s.Held, Running: s.Running, Failures: s.Failures, Starts: b.starts.Load(), Failed: b.failures.Load()}
	starting := false
	for _, i := range b.running() {
		i.mu.Lock()
		starting = starting || i.starting != nil
		i.mu.Unlock()
	}
	switch {
	case s.Running > 0:
		h.State = "up"
	case starting:
		h.State = "starting"
	case s.Failures > 0:
		h.State, h.Error = "failed", text.ShowLine(text.Clip(s.Err, 300))
	}
	return h
}
