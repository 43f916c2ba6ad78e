package mcphub

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib/internal/pinned"
)

// ApproveHeld pins definitions that a person has seen: exactly these, and none
// that has taken the place of one since. It gives the tools that it changed; the
// error tells of those that it did not.
func (b *Box) ApproveHeld(held []Held) ([]string, error) {
	if b.hub.needs.ReadOnly {
		return nil, errors.New("servers are only looked at here")
	}
	b.learning.Lock()
	m, err := b.latest()
	var done []string
	if err == nil {
		done, err = b.pin(m, held)
	}
	if m != nil {
		_, taken := b.useManifest(m, false)
		err = errors.Join(err, taken)
	}
	b.learning.Unlock()
	if len(done) > 0 {
		b.hub.notify()
	}
	return done, err
}

// latest is what the server said last, to whichever process.
func (b *Box) latest() (*manifest, error) {
	var m manifest
	ok, err := b.hub.store.Load("manifest-"+b.name, &m)
	if err == nil && ok && m.Of == b.fingerprint() {
		b.hideValues(&m)
		return &m, nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.manifest == nil {
		return nil, errors.Join(fmt.Errorf("the MCP server %s was not listed yet", b.name), err)
	}
	return b.manifest, nil
}

// pin writes down what of these is still what the server says.
func (b *Box) pin(m *manifest, held []Held) (done []string, _ error) {
	// Of pins that cannot be believed nothing is taken over: what a person
	// approves now is all there is.
	p, doubt := b.loadPins()
	if doubt != nil {
		b.hub.needs.Log.Warn("what was approved of an MCP server before cannot be believed, and is left behind", "server", b.name, "err", doubt)
	}
	list, _ := b.read(m)
	var errs []error
	for _, h := range held {
		at := slices.IndexFunc(list, func(d definition) bool { return d.Name == h.Tool })
		if at < 0 {
			errs = append(errs, fmt.Errorf("the MCP server %s has no tool %s", b.name, h.Tool))
			continue
		}
		seen, err := pinned.Canonical(h.Is)
		is, errIs := pinned.Canonical(list[at].raw)
		if err != nil || errIs != nil || seen != is || h.Hash != "" && h.Hash != list[at].sum {
			errs = append(errs, fmt.Errorf("%s of the MCP server %s is not approved: it has changed again", h.Tool, b.name))
			continue
		}
		if p.Tools[h.Tool].Hash != list[at].sum {
			p.add(list[at], b.now(), false)
			done = append(done, h.Tool)
		}
	}
	if len(done) == 0 {
		return nil, errors.Join(errs...)
	}
	p.Seen = true
	if err := b.hub.store.Save("pins-"+b.name, p); err != nil {
		return nil, errors.Join(append(errs, err)...)
	}
	return done, errors.Join(errs...)
}

// Gone is what was approved and the server does not offer any more.
func (b *Box) Gone() []string {
	if !b.listed() {
		return nil
	}
	p, err := b.loadPins()
	if err != nil {
		return nil // then everything is held back, and that is told
	}
	offered := b.approvable()
	var out []string
	for _, name := range slices.Sorted(maps.Keys(p.Tools)) {
		if !slices.ContainsFunc(offered, func(d definition) bool { return d.Name == name }) {
			out = append(out, name)
		}
	}
	return out
}

// ForgetGone drops the approvals of tools that are gone: one that comes back has to
// be looked at again.
func (b *Box) ForgetGone(tools []string) error {
	if b.hub.needs.ReadOnly {
		return errors.New("servers are only looked at here")
	}
	b.learning.Lock()
	defer b.learning.Unlock()
	m, err := b.latest()
	if err != nil {
		return err
	}
	p, err := b.loadPins()
	if err != nil {
		return err
	}
	list, _ := b.read(m)
	for _, tool := range tools {
		if !slices.ContainsFunc(list, func(d definition) bool { return d.Name == tool }) {
			delete(p.Tools, tool)
		}
	}
	p.Seen = true
	return b.hub.store.Save("pins-"+b.name, p)
}

// Forget removes what is kept of a server: its manifest and its pins.
func (h *Hub) Forget(name string) error {
	for _, kind := range []string{"manifest-", "failed-", "pins-", "restart-"} {
		if err := h.store.Remove(kind + name); err != nil {
			return err
		}
	}
	return nil
}

// restartMark is a wish of another process, kept beside the manifests.
type restartMark struct {
	At time.Time `json:"at"`
}

// AskRestart has whichever process runs the server start it anew.
func (b *Box) AskRestart() error {
	return b.hub.store.Save("restart-"+b.name, restartMark{At: b.now()})
}

// Follow looks from time to time whether another process has approved
// definitions, listed a server anew, or wants one restarted. The function it
// gives ends it.
func (h *Hub) Follow(every time.Duration) (stop func()) {
	end, ended := make(chan struct{}), make(chan struct{})
	seen := map[string]string{}
	for _, b := range h.Boxes() {
		seen[b.name] = h.keptStamp(b.name)
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
				if at := h.restartWanted(b.name); at.After(restarts[b.name]) {
					restarts[b.name] = at
					h.needs.Log.Info("an MCP server is started anew, as it was asked for", "server", b.name)
					b.Restart()
				}
				if is := h.keptStamp(b.name); is != seen[b.name] {
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

func (h *Hub) restartWanted(name string) time.Time {
	var m restartMark
	if _, err := h.store.Load("restart-"+name, &m); err != nil {
		return time.Time{} // half a file is none; the next look reads it
	}
	return m.At
}

// keptStamp tells whether the pins of a server are others now.
func (h *Hub) keptStamp(name string) string {
	if h.store.Root == nil {
		return ""
	}
	var b strings.Builder
	for _, kind := range []string{"pins-", "manifest-"} {
		if info, err := h.store.Root.Stat(kind + name + ".json"); err == nil {
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

// Row is a server in a list.
type Row struct {
	Status
	Where string `json:"where"`
}

// Rows lists the servers.
func (h *Hub) Rows() []Row {
	out := []Row{}
	for _, b := range h.Boxes() {
		out = append(out, Row{b.Status(), b.server.Where()})
	}
	return out
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
	if !s.Listed { // another process may have tried
		if was, ok := b.failed(); ok {
			s.Failures, s.Err = was.Times, was.Err
		}
	}
	for _, i := range b.running() {
		i.mu.Lock()
		if i.session != nil {
			s.Running++
		}
		if i.fails > 0 && i.startErr != nil {
			s.Failures, s.Err = i.fails, b.hub.redact(i.startErr.Error())
		}
		i.mu.Unlock()
		s.Stderr = b.hub.redact(i.stderr.String())
	}
	return s
}
