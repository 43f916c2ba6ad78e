package mcphub

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Approve pins the definitions of a server's tools as they are now: those
// named, or all. It gives the tools that it changed.
func (b *Box) Approve(tools ...string) ([]string, error) {
	b.mu.Lock()
	m := b.manifest
	b.mu.Unlock()
	if m == nil {
		return nil, fmt.Errorf("the MCP server %s was not listed yet", b.name)
	}
	list, raw, _ := read(m.Tools, b.name)
	for _, name := range tools {
		if raw[name] == nil {
			return nil, fmt.Errorf("the MCP server %s has no tool %s", b.name, name)
		}
	}
	b.learning.Lock()
	var p pins
	_, err := b.hub.store.load("pins-"+b.name, &p)
	if err == nil && p.Tools == nil {
		p.Tools = map[string]pin{}
	}
	var done []string
	for _, d := range list {
		if err != nil {
			break
		}
		if len(tools) > 0 && !slices.Contains(tools, d.Name) {
			continue
		}
		var sum string
		if sum, err = d.hash(); err == nil && p.Tools[d.Name].Hash != sum {
			p.Tools[d.Name] = pin{Hash: sum, Definition: raw[d.Name], At: b.now()}
			done = append(done, d.Name)
		}
	}
	if err == nil {
		err = b.hub.store.save("pins-"+b.name, p)
	}
	b.learning.Unlock()
	if err != nil {
		return nil, err
	}
	err = b.put(m, false)
	b.hub.notify()
	return done, err
}

// Forget removes what is kept of a server: its manifest and its pins.
func (h *Hub) Forget(name string) error {
	for _, kind := range []string{"manifest-", "pins-", "restart-"} {
		if err := h.store.remove(kind + name); err != nil {
			return err
		}
	}
	return nil
}

// mark is a wish of another process, kept beside the manifests.
type mark struct {
	At time.Time `json:"at"`
}

// AskRestart has whichever process runs the server start it anew.
func (b *Box) AskRestart() error {
	return b.hub.store.save("restart-"+b.name, mark{At: b.now()})
}

// Follow looks from time to time whether another process has approved
// definitions, listed a server anew, or wants one restarted. The function it
// gives ends it.
func (h *Hub) Follow(every time.Duration) (stop func()) {
	end, ended := make(chan struct{}), make(chan struct{})
	seen := map[string]string{}
	for _, b := range h.Boxes() {
		seen[b.name] = h.kept(b.name)
	}
	restarts := map[string]time.Time{}
	for _, b := range h.Boxes() {
		restarts[b.name] = b.now()
	}
	go func() {
		defer close(ended)
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-end:
				return
			case <-tick.C:
			}
			for _, b := range h.Boxes() {
				if at := h.wish(b.name); at.After(restarts[b.name]) {
					restarts[b.name] = at
					h.needs.Log.Info("an MCP server is started anew, as it was asked for", "server", b.name)
					b.Restart()
				}
				if is := h.kept(b.name); is != seen[b.name] {
					seen[b.name] = is
					if err := b.Recheck(); err != nil {
						h.needs.Log.Error("what was approved of an MCP server cannot be read", "server", b.name, "err", err)
					}
				}
			}
		}
	}()
	return func() {
		close(end)
		<-ended
	}
}

func (h *Hub) wish(name string) time.Time {
	var m mark
	if _, err := h.store.load("restart-"+name, &m); err != nil {
		return time.Time{} // half a file is none; the next look reads it
	}
	return m.At
}

// kept tells whether the pins of a server are others now.
func (h *Hub) kept(name string) string {
	if h.store.root == nil {
		return ""
	}
	var b strings.Builder
	for _, kind := range []string{"pins-", "manifest-"} {
		if info, err := h.store.root.Stat(kind + name + ".json"); err == nil {
			fmt.Fprint(&b, info.Size(), info.ModTime().UnixNano(), ";")
		}
	}
	return b.String()
}

// Status is how a server is doing.
type Status struct {
	Name     string          `json:"name"`
	Listed   bool            `json:"listed"`
	Version  string          `json:"version,omitempty"` // of the protocol
	Info     json.RawMessage `json:"info,omitempty"`
	Tools    int             `json:"tools"`
	Held     int             `json:"held,omitempty"`
	Running  int             `json:"running"`
	Failures int             `json:"failures,omitempty"`
	Err      string          `json:"error,omitempty"`
	Stderr   string          `json:"-"`
}

// Status tells how the server is doing in this process.
func (b *Box) Status() Status {
	b.mu.Lock()
	s := Status{Name: b.name, Listed: b.manifest != nil, Held: len(b.held)}
	if b.manifest != nil {
		s.Version, s.Info = b.manifest.Version, b.manifest.Info
	}
	s.Tools = len(b.approved)
	b.mu.Unlock()
	for _, i := range b.running() {
		i.mu.Lock()
		if i.session != nil {
			s.Running++
		}
		if i.fails > 0 && i.startErr != nil {
			s.Failures, s.Err = i.fails, i.startErr.Error()
		}
		i.mu.Unlock()
		s.Stderr = i.stderr.String()
	}
	return s
}
