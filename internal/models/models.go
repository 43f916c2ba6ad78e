// Package models is the language models of the settings as the program asks them: with
// keys from the vault, over a connection to their host alone, and with every request a
// call.
//
// A request to a model is a call of the tool ask_model, through a crib that has nothing
// else on its shelves. So the journal records it, budgets count its tokens and its cost,
// and telemetry sees it. The conversation travels beside the call. The wiring and what
// runs agents import it.
//
// The invariant: what the vault knows as a secret is taken out of every request. If the
// vault cannot say what it knows, nothing is sent.
package models

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/httpclient"
	"github.com/toolcrib/toolcrib/internal/safety/secrets"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/text"
	"github.com/toolcrib/toolcrib/internal/vault"
	"github.com/toolcrib/toolcrib/model"
	"github.com/toolcrib/toolcrib/model/anthropic"
	"github.com/toolcrib/toolcrib/model/gemini"
	"github.com/toolcrib/toolcrib/model/openai"
)

// Needs is what models need besides their settings.
type Needs struct {
	// Crib is the program's own: requests go into its journal, and are watched as its
	// calls are.
	Crib *toolcrib.Crib
	// Guards and Around are what requests stand under: budgets, and rules that name them.
	Guards []toolcrib.Guard
	Rules  func() []toolcrib.Guard
	Around []func(toolcrib.Entry, toolcrib.Tool) toolcrib.Tool
	// Watch hangs on the crib of requests what watches them. Nil: nobody does.
	Watch func(*toolcrib.Crib)
	// Secret gives a key of the vault.
	Secret func(ctx context.Context, name string) (string, error)
	// Known gives the values that are in no request, or says why it does not know them.
	Known func() (*secrets.Known, error)
	HTTP  httpclient.Options
	// Change is what tests change of an endpoint. Nil: nothing.
	Change func(*model.Endpoint)
}

// Models are the models of the settings.
type Models struct {
	needs  Needs
	set    map[string]*entry
	choice string // the one that is used if none is named
	crib   *toolcrib.Crib
	table  table
}

// entry is one model.
type entry struct {
	name   string
	model  model.Model
	host   string
	prices settings.ModelPrices
}

// Open makes the models of the settings. One that makes no sense is told in faults, and
// the others work.
func Open(ctx context.Context, cfg settings.Config, needs Needs) (*Models, []toolcrib.LoadError) {
	m := &Models{needs: needs, set: map[string]*entry{}, choice: cfg.Model}
	m.table.pending = map[string]*pending{}
	var faults []toolcrib.LoadError
	for _, name := range slices.Sorted(maps.Keys(cfg.Models)) {
		e, err := m.entry(name, cfg.Models[name])
		if err != nil {
			faults = append(faults, toolcrib.LoadError{Tool: "models." + name, Err: err})
			continue
		}
		m.set[name] = e
	}
	if m.choice == "" && len(cfg.Models) == 1 {
		for name := range cfg.Models {
			m.choice = name
		}
	}
	if _, there := cfg.Models[m.choice]; m.choice != "" && !there {
		faults = append(faults, toolcrib.LoadError{Tool: "model", Err: fmt.Errorf("%q is none of models: %s", m.choice, m.names())})
	}
	if err := m.openCrib(ctx, cfg.Limits); err != nil {
		faults = append(faults, toolcrib.LoadError{Box: box, Err: err})
	}
	return m, faults
}

// Names lists the models that work.
func (m *Models) Names() []string { return slices.Sorted(maps.Keys(m.set)) }

// Default is the model that is used if none is named; empty: there is none.
func (m *Models) Default() string { return m.choice }

// names is a list of them for a person.
func (m *Models) names() string {
	if len(m.set) == 0 {
		return "there is none; 'toolcrib models' finds those on this machine, and 'toolcrib models set' adds one"
	}
	return "there " + map[bool]string{true: "is ", false: "are "}[len(m.set) == 1] + strings.Join(m.Names(), ", ")
}

// ErrNone: there is no model of this name.
var ErrNone = errors.New("there is no such model")

// noneError is ErrNone in words that say what to do.
type noneError string

func (e noneError) Error() string { return string(e) }

// Is makes it ErrNone.
func (noneError) Is(target error) bool { return target == ErrNone }

// Model gives a model, for requests in the name of a caller. Empty: the default one.
func (m *Models) Model(name string, caller toolcrib.Caller) (*Governed, error) {
	if name == "" {
		name = m.choice
	}
	e := m.set[name]
	switch {
	case name == "" && len(m.set) > 1:
		return nil, noneError(fmt.Sprintf("there are several models (%s): name one, or 'toolcrib models set NAME --default' makes one the default", strings.Join(m.Names(), ", ")))
	case name == "":
		return nil, noneError("no model is set up. 'toolcrib models' finds those on this machine, and 'toolcrib models set NAME --base-url URL --model MODEL' adds one")
	case e == nil:
		return nil, noneError(fmt.Sprintf("there is no model %s in the configuration: %s", text.Clip(text.ShowLine(name), 100), m.names()))
	}
	return &Governed{models: m, entry: e, Caller: caller}, nil
}

// entry makes one model.
func (m *Models) entry(name string, s settings.Model) (*entry, error) {
	e := &entry{name: name, prices: s.Prices}
	key, err := KeyName(s.Key)
	if err != nil {
		return nil, err
	}
	end := model.Endpoint{BaseURL: s.BaseURL, Model: s.Model, Idle: s.Timeout, NoStream: s.Whole, Header: http.Header{}}
	if end.Model == "" {
		end.Model = name
	}
	for k, v := range s.Headers {
		end.Header.Set(k, v)
	}
	if key != "" {
		end.Key = func(ctx context.Context) (string, error) { return m.key(ctx, name, key) }
	}
	base := Base(s)
	u, err := url.Parse(base)
	if err != nil || u.Hostname() == "" {
		return nil, errors.New("base_url cannot be read as an address: write it as https://host/v1")
	}
	if key != "" && readable(u) {
		return nil, errors.New("base_url begins with http://, so that everybody on the way could read the key: write https://, or leave the key out")
	}
	e.host = strings.ToLower(u.Hostname())
	end.HTTP = httpclient.New(hosts(e.host), m.http(s))
	end.HTTP.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	end.Traits = model.Traits{Tools: s.Tools != "react", Images: takesImages(s, e.host), Context: s.Context, Output: s.Output}
	if m.needs.Change != nil {
		m.needs.Change(&end)
	}
	switch s.API {
	case "anthropic":
		e.model, err = anthropic.New(end)
	case "gemini":
		e.model, err = gemini.New(end)
	case "", "openai":
		e.model, err = openai.New(end)
	default:
		err = fmt.Errorf("api: %q is neither openai nor anthropic nor gemini", text.Clip(s.API, 40))
	}
	return e, err
}

// Check says what makes no sense in the settings of a model.
func Check(name string, s settings.Model) error {
	if !slices.Contains([]string{"", "auto", "native", "react"}, s.Tools) {
		return errors.New("tools: want auto, native or react")
	}
	if !slices.Contains([]string{"", "auto", "yes", "no"}, s.Images) {
		return errors.New("images: want auto, yes or no")
	}
	_, err := (&Models{}).entry(name, s)
	return err
}

// http is how the host is reached. The head of an answer may take as long as anything:
// a service may read the whole request first.
func (m *Models) http(s settings.Model) httpclient.Options {
	opt := m.needs.HTTP
	opt.Header = max(s.Timeout, opt.Header, defaultIdle) + opt.Header
	return opt
}

// Base is the address of a model's service.
func Base(s settings.Model) string {
	if s.BaseURL != "" {
		return s.BaseURL
	}
	switch s.API {
	case "anthropic":
		return "https://api.anthropic.com"
	case "gemini":
		return "https://generativelanguage.googleapis.com/v1beta"
	}
	return "https://api.openai.com/v1"
}

// hosts is what a connection may reach: this host, wherever its name leads, and no other.
func hosts(host string) []string {
	if _, err := netip.ParseAddr(host); err == nil || host == "localhost" {
		return []string{host}
	}
	return []string{host, "private:" + host}
}

func takesImages(s settings.Model, host string) bool {
	switch s.Images {
	case "yes":
		return true
	case "no":
		return false
	}
	return s.API == "anthropic" || s.API == "gemini" || host == "api.openai.com"
}

// KeyName reads how the settings name a key: secret:NAME, or ${secret:NAME}. What is none
// is not told again, because it may be the key itself.
func KeyName(key string) (string, error) {
	if key == "" {
		return "", nil
	}
	name := key
	if inner, ok := strings.CutPrefix(name, "${"); ok {
		name = strings.TrimSuffix(inner, "}")
	}
	name, ok := strings.CutPrefix(name, "secret:")
	if !ok || vault.CheckName(name) != nil {
		return "", errors.New("key: write secret:NAME here, and keep the key itself in the vault with 'toolcrib secret set NAME'")
	}
	return name, nil
}

// key gets the key of a model, or says what to do.
func (m *Models) key(ctx context.Context, of, name string) (string, error) {
	value, err := m.needs.Secret(ctx, name)
	switch {
	case errors.Is(err, vault.ErrNotFound):
		return "", fmt.Errorf("the key of the model %s is not in the vault: 'toolcrib secret set %s' puts it there", of, name)
	case err != nil:
		return "", fmt.Errorf("the key of the model %s cannot be read: %w", of, err)
	}
	return strings.TrimSpace(value), nil
}
