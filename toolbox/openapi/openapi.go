// Package openapi is the toolbox that makes tools of the operations of an HTTP API, from its
// OpenAPI document (3.0, 3.1, or Swagger 2.0).
//
// It is for whoever wires up a crib; other toolboxes never import it. What it needs from
// outside it gets in Needs, and a call reaches hosts, files and secrets only through its
// Env. Its one invariant: a document decides what is asked of its API and nothing else. It
// names no secret, widens no grant, and gets no credential sent to a host that a person
// did not mean.
package openapi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/find"
	"github.com/toolcrib/toolcrib/internal/schema"
	"github.com/toolcrib/toolcrib/toolbox/openapi/internal/spec"
)

// Config sets up a box for one API. The zero value of each field is its default.
type Config struct {
	Name string // of the box
	// File is the document's name in its own directory, for references to other files there.
	File string
	// URL is where the document came from. Relative addresses of servers begin there.
	URL string
	// BaseURL is used instead of the servers that the document names.
	BaseURL   string
	Variables map[string]string // values of server variables

	// Which operations become tools: those that match each list that is not empty. A * stands
	// for any characters, and a pattern after ! leaves out what it matches.
	Operations, Tags, Methods, Paths []string

	// Auth is the credential for each security scheme, by the name of the scheme.
	Auth map[string]Credential
	// AuthHosts are hosts that get credentials, beside the one that the API is at.
	AuthHosts []string
	Headers   map[string]string // sent with every request; no secrets
	// Effects is what tools may do, by name or pattern, instead of what follows from the method. What
	// several patterns say counts together.
	Effects map[string]toolcrib.Effects

	// Save gives operations that answer with a file an argument to write it to a granted
	// directory. They then declare to write.
	Save     bool
	NoSelect bool // no argument _select
	NoOutput bool // no output schemas

	MaxDescription int           // characters of a tool's description; default 500
	MaxBody        int           // bytes of an answer that is given out; default 4 MiB
	MaxRead        int           // bytes of an answer that is cut by _select; default 64 MiB
	MaxSave        int           // bytes of an answer that is written to a file; default 1 GiB
	MaxUpload      int           // bytes of a file that is sent; default 256 MiB
	Timeout        time.Duration // for one answer; default 60 s
	Retries        int           // after a 429 or 503 that says when to come back; default 2, negative: none
}

// Credential says how a security scheme is satisfied. Secrets are named, never held.
type Credential struct {
	// Secret is the name of the secret: the key, the token, the password, or for client
	// credentials the client's secret.
	Secret string
	User   string // for basic; empty: the secret is user:password
	// ClientID asks for a token with client credentials, at TokenURL. The document's own address
	// is used where TokenURL is empty, if it is at the host of the API.
	ClientID, TokenURL string
	Scopes             []string
	// Login: a person logs in, and Needs.Logins has the tokens. Secret is that of the client then, or
	// empty. AuthorizeURL and TokenURL are where, or OpenIDURL, the discovery document; what
	// the document says of them is used where they are empty, if it is at the host of the API or at one
	// that they name.
	Login                   bool
	AuthorizeURL, OpenIDURL string
	// Type, In, Name: a scheme that the document does not have. Type is apiKey, basic or
	// bearer; In and Name are those of an apiKey. It is used for every operation.
	Type, In, Name string
}

// Needs is what Open needs from outside.
type Needs struct {
	Document []byte
	// YAML decodes YAML. Nil: only JSON is read.
	YAML func(text []byte, into any) error
	// ReadFile reads a file of the document's own directory, by its slash-separated name; it is
	// never asked for one outside. Nil: references to other files are not followed.
	ReadFile func(name string) ([]byte, error)
	// HTTP gives the client of one call, and what ends it. Nil: the one of the call's Env.
	HTTP func(*toolcrib.Env) (*http.Client, func())
	// Reaches says why that client would not reach an address, and HasSecret why a call of a
	// tool would not get a secret, so that nobody is asked about it. Nil: that shows when it is called.
	Reaches   func(address string) error
	HasSecret func(ctx context.Context, call toolcrib.Call, tool, secret string) error
	// Harmless makes a text that models read harmless. Nil: it is as the document has it, with what
	// cannot be seen written out.
	Harmless func(string) string
	// Logins has the tokens of people who logged in. Nil: nobody can.
	Logins Logins
	// Hosts names the setting that has to list a host, in refusals. Empty: grant.hosts.
	Hosts string
	Log   *slog.Logger     // nil: nothing is logged
	Now   func() time.Time // nil: time.Now
}

// Fault is a part of a document that is left out, or was repaired.
type Fault struct {
	Where  string `json:"where"` // such as GET /pets/{id}
	Reason string `json:"reason"`
	Left   bool   `json:"left,omitempty"` // the operation is left out
}

// Operation is what became of an operation.
type Operation struct {
	Tool       string           `json:"tool"`
	ID         string           `json:"operation_id,omitempty"`
	Method     string           `json:"method"`
	Path       string           `json:"path"`
	Tags       []string         `json:"tags,omitempty"`
	Effects    toolcrib.Effects `json:"effects"`
	Tokens     int              `json:"tokens"` // what a model's context has to hold for it
	Host       string           `json:"host"`
	Schemes    []string         `json:"schemes,omitempty"` // security schemes, of which one set has to be satisfied
	Deprecated bool             `json:"deprecated,omitempty"`
	// Sum is a fingerprint of all that the document says of it.
	Sum string `json:"-"`
}

// Scheme is a security scheme of a document.
type Scheme struct {
	Name string `json:"name"`
	Type string `json:"type"` // apiKey, basic, bearer, oauth2 or openIdConnect
	Set  bool   `json:"set"`  // a credential is configured
}

// Box is the tools of one API.
type Box struct {
	cfg   Config
	needs Needs
	title string
	tools []toolcrib.Tool
	ops   []Operation
	// operations are what the tools were made of, in the same order.
	operations []*spec.Operation
	faults     []Fault
	hosts      []string
	schemes    map[string]spec.Scheme
	home       map[string]bool // hosts that get credentials
	tokens     tokenCache
	scratch    []byte // while it is opened: room for fingerprints
}

// Open reads the document and makes the tools. A broken operation is left out and told in
// Faults; the error is for a document, or a Config, that nothing can be had of.
func Open(_ context.Context, cfg Config, needs Needs) (*Box, error) {
	b := &Box{cfg: cfg, needs: needs}
	if err := b.open(); err != nil {
		return nil, fmt.Errorf("opening the OpenAPI document of %s: %w", cfg.Name, err)
	}
	return b, nil
}

func (b *Box) open() error {
	if err := b.prepare(); err != nil {
		return err
	}
	c := &b.cfg
	src := spec.Source{Text: b.needs.Document, Name: c.File, YAML: b.needs.YAML, ReadFile: b.needs.ReadFile}
	if c.URL != "" {
		u, err := url.Parse(c.URL)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return fmt.Errorf("the address %q of the document is not one of the form https://host/path", c.URL)
		}
		u.User = nil
		src.URL = u
	}
	if err := spec.CheckBase(c.BaseURL); err != nil {
		return fmt.Errorf("base_url: %w", err)
	}
	d, err := spec.Parse(src)
	if err != nil {
		return err
	}
	d.Select, d.Save = !c.NoSelect, c.Save
	b.title, b.schemes = d.Title, d.Schemes()
	if err := b.checkAuth(); err != nil {
		return err
	}
	f, err := newFilter(*c)
	if err != nil {
		return err
	}
	names := newNamer()
	d.Load(spec.Addressing{Base: c.BaseURL, Variables: c.Variables}, func(o *spec.Operation) bool {
		names.count(o)
		return f.wants(o)
	}, b.setByCredential)
	for _, fault := range d.Faults {
		b.faults = append(b.faults, Fault{fault.Where, fault.Reason, fault.Left})
	}
	b.faults = append(b.faults, f.unused()...)
	if reason := sameReason(d); reason != "" {
		return fmt.Errorf("no operation can be called: %s", reason)
	}
	b.findHome(d.Operations)
	for _, o := range d.Operations {
		b.add(o, names.of(o))
	}
	b.needs.Document, b.scratch = nil, nil // they are large, and were read
	slices.Sort(b.hosts)
	return nil
}

// prepare fills in what a Config leaves open.
func (b *Box) prepare() error {
	c := &b.cfg
	if c.MaxDescription < 0 || c.MaxBody < 0 || c.MaxRead < 0 || c.MaxSave < 0 || c.MaxUpload < 0 || c.Timeout < 0 {
		return errors.New("a bound is negative")
	}
	c.MaxDescription = cmp.Or(c.MaxDescription, 500)
	c.MaxBody = cmp.Or(c.MaxBody, 4<<20)
	c.MaxRead = max(cmp.Or(c.MaxRead, 64<<20), c.MaxBody)
	c.MaxSave = cmp.Or(c.MaxSave, 1<<30)
	c.MaxUpload = cmp.Or(c.MaxUpload, 256<<20)
	c.Timeout = cmp.Or(c.Timeout, time.Minute)
	c.Retries = max(0, cmp.Or(c.Retries, 2))
	if b.needs.Now == nil {
		b.needs.Now = time.Now
	}
	return nil
}

// sameReason is why every operation was left out, if that is one thing: then it is a matter of the
// whole document.
func sameReason(d *spec.Document) string {
	reason := ""
	for _, f := range d.Faults {
		if f.Left && reason == "" {
			reason = f.Reason
		}
		if len(d.Operations) > 0 || f.Left && f.Reason != reason {
			return ""
		}
	}
	return reason
}

// findHome decides which hosts get credentials: the one that the person named, or else the
// one that most of the operations are at.
func (b *Box) findHome(ops []*spec.Operation) {
	b.home = map[string]bool{}
	for _, h := range b.cfg.AuthHosts {
		b.home[strings.ToLower(h)] = true
	}
	counts, most := map[string]int{}, ""
	for _, o := range ops {
		h := hostOf(o.Base)
		if counts[h]++; counts[h] > counts[most] {
			most = h
		}
	}
	if most != "" {
		b.home[most] = true
	}
}

// hostOf is the host of an address, with its port if it has one, in lower case.
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Host)
}

// add makes a tool of an operation.
func (b *Box) add(o *spec.Operation, name string) {
	if b.cfg.NoOutput {
		o.Output = nil
	}
	t := b.newTool(o, name)
	def := t.definition()
	b.tools = append(b.tools, def)
	host := hostOf(o.Base)
	if !slices.Contains(b.hosts, host) {
		b.hosts = append(b.hosts, host)
	}
	report := Operation{
		Tool: name, ID: o.ID, Method: o.Method, Path: o.Path, Tags: o.Tags, Effects: def.Effects, Host: host, Deprecated: o.Deprecated,
		Tokens: find.Tokens(def.Name) + find.Tokens(def.Description) + find.Tokens(string(def.Input)),
	}
	for _, r := range o.Security {
		for scheme := range r {
			if !slices.Contains(report.Schemes, scheme) {
				report.Schemes = append(report.Schemes, scheme)
			}
		}
	}
	slices.Sort(report.Schemes)
	report.Sum = b.sum(def.Spec, o)
	b.ops = append(b.ops, report)
	b.operations = append(b.operations, o)
}

func (b *Box) newTool(o *spec.Operation, name string) *tool {
	t := &tool{box: b, op: o, name: name}
	t.schema = sync.OnceValue(func() *schema.Schema {
		if o.Output == nil {
			return nil
		}
		s, err := schema.Compile(o.Output)
		if err != nil {
			return nil
		}
		return s
	})
	return t
}

// Name is the name of the box.
func (b *Box) Name() string { return b.cfg.Name }

// Tools gives the tools.
func (b *Box) Tools(context.Context) ([]toolcrib.Tool, error) { return slices.Clone(b.tools), nil }

// Title is what the document calls its API.
func (b *Box) Title() string { return b.title }

// Operations tells what became tools, in the order of the document.
func (b *Box) Operations() []Operation { return slices.Clone(b.ops) }

// Faults tells what was left out or repaired, and patterns that match nothing.
func (b *Box) Faults() []Fault { return slices.Clone(b.faults) }

// Hosts lists the hosts, with their ports, that calls go to. Somebody has to grant them.
func (b *Box) Hosts() []string { return slices.Clone(b.hosts) }
