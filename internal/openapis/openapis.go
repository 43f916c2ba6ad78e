// Package openapis makes toolboxes of the OpenAPI documents of the settings: it reads or
// fetches a document, keeps what became of it so that the next start is quick, and holds
// operations back that have changed since a person approved them. The wiring and the command
// line import it.
//
// Its one invariant: a box reaches the hosts that a person wrote for it, and no other; no
// document, and nothing that is kept of one, adds to them.
package openapis

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/httpclient"
	"github.com/toolcrib/toolcrib/internal/pattern"
	"github.com/toolcrib/toolcrib/internal/pinned"
	"github.com/toolcrib/toolcrib/internal/seal"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/toolname"
	"github.com/toolcrib/toolcrib/internal/watch"
)

// Needs is what Open takes besides the settings.
type Needs struct {
	State    string             // the directory of state. Empty: nothing is kept
	Config   string             // the directory of the settings, which relative files begin in
	Home     string             // what ~ stands for
	Own      []string           // names that toolboxes of ours have
	ReadOnly bool               // nothing is written
	Fetch    bool               // documents that were never fetched are, now
	Follow   bool               // documents are fetched again when they are old, and approvals of others are noticed
	HTTP     httpclient.Options // how hosts are reached
	// HasSecret says why a call of a tool would not get a secret. Nil: that shows then.
	HasSecret func(ctx context.Context, call toolcrib.Call, box, tool, secret string) error
	Login     Login            // how people log in to APIs
	Version   string           // of this program
	Log       *slog.Logger     // nil: nothing is logged
	Now       func() time.Time // nil: time.Now
}

// APIs are the documents of the settings.
type APIs struct {
	needs    Needs
	store    *pinned.Store
	build    string // of this program
	closers  []io.Closer
	stop     context.CancelFunc
	ended    chan struct{}
	watchers watch.List[func()]

	updating sync.Mutex
	failed   map[string]failure // for who updates
	mu       sync.Mutex
	list     []*API
}

// Dir is where documents are kept, and what was approved of them.
func Dir(state string) string { return filepath.Join(state, "openapi") }

var boxName = pattern.Of(`^[a-zA-Z0-9_][a-zA-Z0-9_-]{0,47}$`)

// CheckName refuses what no document can be called.
func CheckName(name string, cfg settings.Config, own []string) error {
	_, server := cfg.MCPServers[name]
	switch {
	case !boxName.MatchString(name) || strings.Contains(name, "__"):
		return fmt.Errorf("%q cannot be the name of an API: take letters, digits, - and single _, 48 at most, and no - at the beginning", name)
	case name == toolname.OwnServer || slices.Contains(own, name):
		return fmt.Errorf("%q cannot be the name of an API: a toolbox of Toolcrib's own has it", name)
	case server:
		return fmt.Errorf("%q cannot be the name of an API: an MCP server has it", name)
	}
	return nil
}

// Open opens the documents. One that cannot be used is left out and told; the error is for a
// state that nothing can be kept in.
func Open(ctx context.Context, cfg settings.Config, needs Needs) (*APIs, []toolcrib.LoadError, error) {
	a := &APIs{needs: needs, build: thisBuild(), store: &pinned.Store{ReadOnly: needs.ReadOnly, Most: pinned.MostKept, What: "an OpenAPI document", Under: "openapi/", Sealed: []string{"pins-", "meta-", "was-"}}}
	if a.needs.Now == nil {
		a.needs.Now = time.Now
	}
	if a.needs.Log == nil {
		a.needs.Log = slog.New(slog.DiscardHandler)
	}
	faults, err := a.Update(ctx, cfg)
	if err != nil {
		return nil, nil, errors.Join(err, a.Close())
	}
	return a, faults, nil
}

// Look reads one document, and keeps nothing of it.
func Look(ctx context.Context, name string, s settings.OpenAPI, needs Needs) (*API, error) {
	needs.State, needs.Fetch, needs.Follow, s.Disabled = "", true, false, false
	a, faults, err := Open(ctx, settings.Config{OpenAPI: map[string]settings.OpenAPI{name: s}}, needs)
	if err != nil {
		return nil, err
	}
	if len(faults) > 0 {
		return nil, faults[0].Err
	}
	return a.List()[0], nil
}

// Propose says which hosts of a document may be proposed to a person, and which only a person
// can name: private ones, unless an address that the person typed is there.
func Propose(hosts []string, typed ...string) (proposed, withheld []string) {
	own := map[string]bool{}
	for _, address := range typed {
		if u, err := url.Parse(address); err == nil {
			own[strings.ToLower(u.Hostname())] = true
		}
	}
	for _, h := range hosts {
		u, err := url.Parse("https://" + h)
		if err != nil {
			continue
		}
		name := strings.ToLower(u.Hostname())
		into := &proposed
		if !own[name] && !public(name) {
			into = &withheld
		}
		if !slices.Contains(*into, name) {
			*into = append(*into, name)
		}
	}
	return proposed, withheld
}

// public reports whether a host looks like one of the public internet.
func public(name string) bool {
	if ip, err := netip.ParseAddr(name); err == nil {
		return ip.IsGlobalUnicast() && !ip.IsPrivate() && !ip.IsLoopback() && !ip.IsLinkLocalUnicast()
	}
	if !strings.Contains(name, ".") {
		return false
	}
	for _, end := range []string{".localhost", ".local", ".internal", ".lan", ".home", ".arpa", ".test", ".invalid"} {
		if strings.HasSuffix(name, end) {
			return false
		}
	}
	return true
}

// keepIn opens the directory of state.
func (a *APIs) keepIn(state string) error {
	if state == "" {
		return nil
	}
	dir := Dir(state)
	if !a.needs.ReadOnly {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("keeping OpenAPI documents: %w", err)
		}
	}
	root, err := os.OpenRoot(dir)
	if a.needs.ReadOnly && errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("keeping OpenAPI documents: %w", err)
	}
	a.closers = append(a.closers, root)
	box, err := seal.OfState(state, !a.needs.ReadOnly)
	if err != nil {
		return err
	}
	a.store.Root, a.store.Seals = root, box
	return nil
}

// Boxes are the documents as toolboxes.
func (a *APIs) Boxes() []toolcrib.Toolbox {
	var out []toolcrib.Toolbox
	for _, api := range a.List() {
		out = append(out, api)
	}
	return out
}

// List gives the documents that can be used, by name.
func (a *APIs) List() []*API {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.list)
}

// Get gives one of them.
func (a *APIs) Get(name string) (*API, bool) {
	for _, api := range a.List() {
		if api.name == name {
			return api, true
		}
	}
	return nil, false
}

// Names says whose tools are called with the name of the box, and whose without it where
// nobody else has that name.
func (a *APIs) Names() (qualify, yield []string) {
	for _, api := range a.List() {
		if api.settings.Names == "bare" {
			yield = append(yield, api.name)
		} else {
			qualify = append(qualify, api.name)
		}
	}
	return qualify, yield
}

// Aside are the boxes whose tools are found and not listed.
func Aside(cfg settings.Config) map[string]bool {
	out := map[string]bool{}
	for name, s := range cfg.OpenAPI {
		if s.Expose == settings.ExposeSearch && !s.Disabled {
			out[name] = true
		}
	}
	return out
}

// AsideNow is Aside of the settings of the moment it is asked.
func AsideNow(now func() *settings.Config) func() map[string]bool {
	return func() map[string]bool {
		if cfg := now(); cfg != nil {
			return Aside(*cfg)
		}
		return nil
	}
}

// Close ends what runs in the background.
func (a *APIs) Close() error {
	if a.stop != nil {
		a.stop()
		<-a.ended
	}
	var errs []error
	for _, c := range a.closers {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}

// Forget removes what is kept of a document.
func (a *APIs) Forget(name string) error {
	var errs []error
	for _, kind := range []string{"pins-", "meta-", "was-"} {
		errs = append(errs, a.store.Remove(kind+name))
	}
	if a.store.Root != nil && !a.needs.ReadOnly {
		for _, kind := range []string{"doc-", "ready-"} {
			if err := a.store.Root.Remove(kind + name); err != nil && !errors.Is(err, os.ErrNotExist) {
				errs = append(errs, err)
			}
		}
	}
	return errors.Join(errs...)
}

// reaches says why the client of a call would not reach an address.
func (a *APIs) reaches(api *API) func(address string) error {
	hosts := api.settings.Hosts
	return func(address string) error {
		if len(hosts) == 0 {
			return &toolcrib.Error{Code: toolcrib.CodeDenied, Message: "no host was granted to it; to allow one, add it to openapi." + api.name + ".hosts"}
		}
		gate := httpclient.NewGate(hosts, a.needs.HTTP)
		defer gate.Close()
		return gate.Check(address)
	}
}

// client is the handle of one call: the hosts of this document, and no other.
func (a *APIs) client(hosts []string) func(*toolcrib.Env) (*http.Client, func()) {
	return func(env *toolcrib.Env) (*http.Client, func()) {
		if len(hosts) == 0 {
			return nil, func() {}
		}
		gate := httpclient.NewGate(hosts, a.needs.HTTP)
		gate.Tool, gate.Call = env.Call.Tool, env.Call.ID
		return gate.Client(), gate.Close
	}
}
