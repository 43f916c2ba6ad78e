package lsp

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib/internal/mcp"
)

// The bounds of what is kept of what a server tells.
const (
	maxFiles       = 5000 // with diagnostics
	maxDiagnostics = 500  // of one file
	maxTokens      = 256
)

// published is what a server said is wrong with a file.
type published struct {
	version *int
	list    []diagnostic
	at      time.Time
	count   int // how often it said something
}

// answer answers what a server asks. It gets nothing that it could do something with:
// no edit is applied, no document is shown, and no setting is known but its own.
func (s *server) answer(_ context.Context, m *mcp.Message) (json.RawMessage, error) {
	switch m.Method {
	case "workspace/configuration":
		return s.configuration(m.Params)
	case "workspace/workspaceFolders":
		return json.Marshal([]map[string]string{{"uri": uriOf(s.root), "name": "project"}})
	case "client/registerCapability", "client/unregisterCapability":
		s.registered(m.Params)
		return json.RawMessage("null"), nil
	case "workspace/applyEdit":
		return json.RawMessage(`{"applied":false,"failureReason":"edits are made by the person's tools only"}`), nil
	case "window/showDocument":
		return json.RawMessage(`{"success":false}`), nil
	case "window/workDoneProgress/create", "window/showMessageRequest", "workspace/diagnostic/refresh", "workspace/semanticTokens/refresh",
		"workspace/inlayHint/refresh", "workspace/codeLens/refresh", "workspace/inlineValue/refresh", "workspace/foldingRange/refresh":
		return json.RawMessage("null"), nil
	}
	return nil, mcp.Errorf(mcp.CodeMethodNotFound, "%s is not answered here", m.Method)
}

// configuration answers for each section that is asked for.
func (s *server) configuration(params json.RawMessage) (json.RawMessage, error) {
	var asked struct {
		Items []struct {
			Section string `json:"section"`
		} `json:"items"`
	}
	if err := json.Unmarshal(params, &asked); err != nil || len(asked.Items) > 1000 {
		return nil, mcp.Errorf(mcp.CodeInvalidParams, "the items cannot be read")
	}
	out := make([]json.RawMessage, len(asked.Items))
	for i, item := range asked.Items {
		out[i] = section(s.spec.Settings, item.Section)
	}
	return json.Marshal(out)
}

// section finds a part of settings by its dotted name.
func section(settings json.RawMessage, name string) json.RawMessage {
	for part := range strings.SplitSeq(name, ".") {
		if part == "" {
			continue
		}
		var inner map[string]json.RawMessage
		if json.Unmarshal(settings, &inner) != nil || inner[part] == nil {
			return json.RawMessage("null")
		}
		settings = inner[part]
	}
	return orNull(settings)
}

// registered hears what a server wants to be asked or told from now on. Of files that
// change it is told all that it goes by, so its patterns do not matter. One wish may be
// replaced by another, so each is known by its ID.
func (s *server) registered(params json.RawMessage) {
	type wish struct{ ID, Method string }
	var list struct {
		Added   []wish `json:"registrations"`
		Removed []wish `json:"unregisterations"` // spelled so in the protocol
	}
	if json.Unmarshal(params, &list) != nil {
		return
	}
	s.mu.Lock()
	for _, w := range list.Added {
		if w.Method == "textDocument/diagnostic" && len(s.pulls) < maxTokens {
			s.pulls[w.ID] = true
		}
	}
	for _, w := range list.Removed {
		delete(s.pulls, w.ID)
	}
	s.mu.Unlock()
	s.tellAll()
}

// pulling reports whether a server is asked for diagnostics; else it tells them. The
// lock is held.
func (s *server) pulling() bool { return len(s.pulls) > 0 }

// heard hears what a server tells.
func (s *server) heard(m *mcp.Message) {
	switch m.Method {
	case "textDocument/publishDiagnostics":
		var p publication
		if json.Unmarshal(m.Params, &p) == nil {
			s.published(p)
		}
	case "$/progress":
		var p struct {
			Token json.RawMessage `json:"token"`
			Value struct {
				Kind string `json:"kind"`
			} `json:"value"`
		}
		if json.Unmarshal(m.Params, &p) != nil || len(p.Token) > 200 {
			return
		}
		s.mu.Lock()
		switch token := string(bytes.TrimSpace(p.Token)); {
		case p.Value.Kind == "begin" && len(s.working) < maxTokens:
			s.working[token] = true
		case p.Value.Kind == "end":
			delete(s.working, token)
		}
		s.mu.Unlock()
		s.tellAll()
	case "window/logMessage":
		var p struct {
			Message string `json:"message"`
		}
		if len(s.spec.Ready) > 0 && json.Unmarshal(m.Params, &p) == nil && slices.ContainsFunc(s.spec.Ready, func(part string) bool { return strings.Contains(p.Message, part) }) {
			s.mu.Lock()
			s.starting = false
			s.mu.Unlock()
			s.tellAll()
		}
	case "experimental/serverStatus": // of rust-analyzer
		var p struct {
			Quiescent *bool `json:"quiescent"`
		}
		if json.Unmarshal(m.Params, &p) == nil && p.Quiescent != nil {
			s.mu.Lock()
			s.starting = !*p.Quiescent
			s.mu.Unlock()
			s.tellAll()
		}
	}
}

func (s *server) published(p publication) {
	file, err := pathOf(p.URI)
	if err != nil {
		return
	}
	s.mu.Lock()
	old := s.known[file]
	if old == nil && len(s.known) >= maxFiles {
		s.mu.Unlock()
		return
	}
	now := &published{version: p.Version, list: p.Diagnostics[:min(len(p.Diagnostics), maxDiagnostics)], at: time.Now(), count: 1}
	if old != nil {
		now.count = old.count + 1
	}
	s.known[file] = now
	s.mu.Unlock()
	s.tellAll()
}

// tellAll wakes whoever waits for news.
func (s *server) tellAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.news)
	s.news = make(chan struct{})
}

// waitUntil waits for news until something holds or until has come, which may also
// tell how soon to look again. It reports whether it holds.
func (s *server) waitUntil(ctx context.Context, until time.Time, holds func() (ok bool, again time.Duration)) bool {
	for {
		s.mu.Lock()
		ok, again := holds()
		news := s.news
		s.mu.Unlock()
		left := time.Until(until)
		if ok || left <= 0 {
			return ok
		}
		if again > 0 {
			left = min(left, again)
		}
		timer := time.NewTimer(left)
		select {
		case <-news:
		case <-timer.C:
		case <-ctx.Done():
		case <-s.conn.Done():
		}
		timer.Stop()
		if ctx.Err() != nil || s.dead() {
			return false
		}
	}
}

// settled waits until the server works at nothing that it has told of: before that, what
// it says of the whole project is not complete. It reports whether it is.
func (s *server) settled(ctx context.Context) bool {
	return s.waitUntil(ctx, time.Now().Add(s.box.cfg.Patient), func() (bool, time.Duration) {
		// A version that says it in other words is not waited for for ever.
		starting := s.starting && (len(s.spec.Ready) == 0 || time.Since(s.begun) < silence)
		return len(s.working) == 0 && !starting, 0
	})
}

// silence is how long a server may take until it says that it knows the project.
const silence = 2 * time.Minute
