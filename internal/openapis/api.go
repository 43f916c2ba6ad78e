package openapis

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/httpclient"
	"github.com/toolcrib/toolcrib/internal/config"
	"github.com/toolcrib/toolcrib/internal/pinned"
	"github.com/toolcrib/toolcrib/internal/safety"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/text"
	"github.com/toolcrib/toolcrib/internal/watch"
	"github.com/toolcrib/toolcrib/internal/wording"
	"github.com/toolcrib/toolcrib/toolbox/openapi"
)

// API is one document as a toolbox.
type API struct {
	apis     *APIs
	name     string
	settings settings.OpenAPI
	source   source
	watchers watch.List[func()]
	logins   logins

	mu    sync.Mutex
	known meta // of a document that was fetched
	sum   string
	box   *openapi.Box
	held  []pinned.Held
	quick bool // it came from what was kept
	stamp string
}

// ErrUnfetched says that a document was not fetched yet.
var ErrUnfetched = errors.New("the document was not fetched yet")

// open opens one document.
func (a *APIs) open(ctx context.Context, name string, s settings.OpenAPI) (*API, error) {
	from, err := readSource(s.Document, a.needs.Config, a.needs.Home)
	if err != nil {
		return nil, err
	}
	api := &API{apis: a, name: name, settings: s, source: from}
	api.logins.api = api
	content, err := api.find(ctx)
	if err != nil {
		return nil, err
	}
	err = api.use(ctx, content)
	if errors.Is(err, errKept) && a.needs.Fetch && !a.needs.ReadOnly {
		// What is fetched now is held against the pins as any other.
		a.needs.Log.Warn("what was kept of an OpenAPI document is not what was fetched; it is fetched anew", "api", name, "err", err)
		api.known = meta{}
		if content, err = api.refresh(ctx); err == nil {
			api.sum = sumOf(content)
			err = api.use(ctx, content)
		}
	}
	if err != nil {
		return nil, err
	}
	api.stamp = api.marks()
	return api, nil
}

// find settles which document it is. Of one that was fetched the text is not read: it may not
// be needed.
func (api *API) find(ctx context.Context) (content []byte, err error) {
	switch from := api.source; {
	case from.inline != "":
		content = []byte(from.inline)
	case from.file != "":
		if content, err = readBeside(filepath.Dir(from.file), filepath.Base(from.file)); err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				return nil, fmt.Errorf("there is no file %s", text.ShowLine(from.file))
			}
			return nil, fmt.Errorf("document: %w", err)
		}
	default:
		ok, err := api.apis.store.Load("meta-"+api.name, &api.known)
		if err == nil && ok && api.known.URL == from.url.String() {
			api.sum = api.known.Sum
			return nil, nil
		}
		if !api.apis.needs.Fetch {
			return nil, errors.Join(fmt.Errorf("%w: 'toolcrib openapi diff %s' does it", ErrUnfetched, api.name), err)
		}
		api.known = meta{}
		if content, err = api.refresh(ctx); err != nil {
			return nil, err
		}
	}
	api.sum = sumOf(content)
	return content, nil
}

// refresh fetches the document and keeps it; nil: it is the one that is known. What is kept is
// not used yet.
func (api *API) refresh(ctx context.Context) ([]byte, error) {
	a := api.apis
	got, err := a.fetch(ctx, api.source.url, api.known.ETag)
	if err != nil {
		return nil, err
	}
	now := meta{URL: api.source.url.String(), ETag: got.etag, At: a.needs.Now().UTC()}
	if got.same || sumOf(got.body) == api.known.Sum {
		now.Sum, got.body = api.known.Sum, nil
	} else {
		// Before it counts: a page that says that something is wrong is no document.
		if _, err := openapi.Open(ctx, openapi.Config{Name: api.name, URL: now.URL, BaseURL: api.settings.BaseURL, Methods: []string{"head"}}, openapi.Needs{Document: got.body, YAML: config.Decode}); err != nil {
			return nil, err
		}
		now.Sum = sumOf(got.body)
		if err := a.keep("doc-"+api.name, got.body); err != nil {
			return nil, err
		}
	}
	if err := a.store.Save("meta-"+api.name, now); err != nil {
		return nil, err
	}
	api.mu.Lock()
	api.known = now
	api.mu.Unlock()
	return got.body, nil
}

// Config says how the toolbox is set up by the settings.
func Config(name string, s settings.OpenAPI) (openapi.Config, error) {
	cfg := openapi.Config{
		Name: name, BaseURL: s.BaseURL, Variables: s.Variables, Operations: s.Operations, Tags: s.Tags, Methods: s.Methods, Paths: s.Paths,
		AuthHosts: s.AuthHosts, Headers: s.Headers, Save: s.Save, Timeout: s.Timeout,
	}
	if err := httpclient.CheckHosts(s.Hosts); err != nil {
		return cfg, fmt.Errorf("hosts: %w", err)
	}
	for _, scheme := range slices.Sorted(maps.Keys(s.Auth)) {
		c := s.Auth[scheme]
		if cfg.Auth == nil {
			cfg.Auth = map[string]openapi.Credential{}
		}
		cfg.Auth[scheme] = openapi.Credential{Secret: c.Secret, User: c.User, ClientID: c.ClientID, TokenURL: c.TokenURL, Scopes: c.Scopes, Type: c.Type, In: c.In, Name: c.Name,
			Login: c.Flow == "code", AuthorizeURL: c.AuthorizationURL, OpenIDURL: c.OpenIDURL}
	}
	for _, tool := range slices.Sorted(maps.Keys(s.Effects)) {
		var e toolcrib.Effects
		if err := e.UnmarshalText([]byte(s.Effects[tool])); err != nil {
			return cfg, fmt.Errorf("effects.%s: %w", tool, err)
		}
		if cfg.Effects == nil {
			cfg.Effects = map[string]toolcrib.Effects{}
		}
		cfg.Effects[tool] = e
	}
	return cfg, nil
}

// use makes the tools of the document, from what was kept of it if that is still good.
func (api *API) use(ctx context.Context, content []byte) error {
	a := api.apis
	cfg, err := Config(api.name, api.settings)
	if err != nil {
		return err
	}
	needs := openapi.Needs{Reaches: a.reaches(api), YAML: config.Decode, Harmless: safety.Neutral, HTTP: a.client(api.settings.Hosts), Logins: &api.logins, Hosts: "openapi." + api.name + ".hosts", Log: a.needs.Log, Now: a.needs.Now}
	if has := a.needs.HasSecret; has != nil {
		needs.HasSecret = func(ctx context.Context, call toolcrib.Call, tool, secret string) error {
			return has(ctx, call, api.name, tool, secret)
		}
	}
	beside := &siblings{sums: map[string]string{}}
	switch {
	case api.source.url != nil:
		cfg.URL = api.source.url.String()
	case api.source.file != "":
		cfg.File, beside.dir = filepath.Base(api.source.file), filepath.Dir(api.source.file)
		needs.ReadFile = beside.read
	}
	box := a.thaw(api, cfg, needs)
	quick := box != nil
	if !quick {
		if content == nil {
			if content, err = a.kept("doc-"+api.name, api.sum); err != nil {
				return err
			}
		}
		needs.Document = content
		if box, err = openapi.Open(ctx, cfg, needs); err != nil {
			return err
		}
		a.freeze(api, cfg, box, beside.sums, len(content))
	}
	return api.take(box, quick)
}

// Name is the name of the box.
func (api *API) Name() string { return api.name }

// Tools are the operations that nobody holds back.
func (api *API) Tools(ctx context.Context) ([]toolcrib.Tool, error) {
	api.mu.Lock()
	defer api.mu.Unlock()
	tools, err := api.box.Tools(ctx)
	if err != nil || len(api.held) == 0 {
		return tools, err
	}
	held := map[string]bool{}
	for _, h := range api.held {
		held[h.Tool] = true
	}
	return slices.DeleteFunc(tools, func(t toolcrib.Tool) bool { return held[t.Name] }), nil
}

// Faults tells what was left out or is held back, and hosts that are called and not granted.
func (api *API) Faults() []toolcrib.LoadError {
	api.mu.Lock()
	defer api.mu.Unlock()
	var out []toolcrib.LoadError
	tell := func(tool, format string, args ...any) {
		out = append(out, toolcrib.LoadError{Box: api.name, Tool: tool, Err: fmt.Errorf(format, args...)})
	}
	left := 0
	for _, f := range api.box.Faults() {
		if f.Left {
			left++
		}
	}
	if left > 0 {
		tell("", "%d operations are left out: see toolcrib openapi show %s", left, api.name)
	}
	if n := len(api.held); n > 0 {
		tell("", "%d operations are kept back, since the document has changed: see toolcrib openapi diff %s, and toolcrib openapi approve %s", n, api.name, api.name)
	}
	for _, host := range Ungranted(api.box.Hosts(), api.settings.Hosts) {
		tell("", "calls to %s are refused, since openapi.%s.hosts does not list it", host, api.name)
	}
	return out
}

// Ungranted are the hosts of a document that a list does not have.
func Ungranted(hosts, granted []string) []string {
	gate := httpclient.NewGate(granted, httpclient.Options{})
	defer gate.Close()
	var out []string
	for _, h := range hosts {
		if gate.Check("https://"+h+"/") != nil {
			out = append(out, h)
		}
	}
	return out
}

// Notify tells when the tools are others.
func (api *API) Notify(changed func()) (stop func()) { return api.watchers.Add(changed) }

// Box is what became of the document.
func (api *API) Box() *openapi.Box {
	api.mu.Lock()
	defer api.mu.Unlock()
	return api.box
}

// Where is the place of the document.
func (api *API) Where() string { return api.source.String() }

// Quick reports whether the document did not have to be read.
func (api *API) Quick() bool {
	api.mu.Lock()
	defer api.mu.Unlock()
	return api.quick
}

// Hosts are those that its tools reach.
func (api *API) Hosts() []string { return slices.Clone(api.settings.Hosts) }

// Fault is a part of a document that is left out, or was repaired.
type Fault = openapi.Fault

// Warning is something about an operation that a person should know.
type Warning struct {
	Tool string `json:"tool"`
	Text string `json:"text"`
}

// Warnings reads what a document says of its operations for words that are not about them.
func Warnings(box *openapi.Box) []Warning {
	reader := wording.New()
	var out []Warning
	for _, o := range box.Operations() {
		definition := box.Definition(o.Tool)
		var words strings.Builder
		err := pinned.Texts(definition, func(s string) error {
			words.WriteString(s)
			words.WriteByte('\n')
			return nil
		})
		if err != nil {
			out = append(out, Warning{o.Tool, err.Error()})
			continue
		}
		for _, why := range reader.Warnings(words.String()) {
			out = append(out, Warning{o.Tool, why})
		}
	}
	return out
}

// fingerprint is what tells two set-ups of a box apart.
func fingerprint(cfg openapi.Config) string {
	text, err := json.Marshal(cfg)
	if err != nil { // texts and numbers always have a form
		return ""
	}
	return string(text)
}
