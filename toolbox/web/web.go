// Package web is the toolbox that searches the web and reads pages.
//
// It is for whoever wires up a crib; other toolboxes never import it. Its one
// invariant: whatever a server sends, the work on it and the text made of it
// are bounded, and that text holds nothing that cannot be seen.
package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/text"
)

// The search engines.
const (
	DuckDuckGo = "duckduckgo" // its page for browsers without scripts; needs no key
	Brave      = "brave"
	SearXNG    = "searxng" // your own, or one that lets you: Endpoint says where
	Tavily     = "tavily"
)

// Config sets up the box. The zero value of each field is its default.
type Config struct {
	Engine string // default DuckDuckGo
	// Endpoint is the address of the engine. Default: where it is for everyone;
	// SearXNG has none.
	Endpoint string
	// Secret is the name of the credential with the engine's key. Default
	// brave_api_key and tavily_api_key; the others use one only if it is named.
	Secret string

	// Shown gives text[from:to] as callers may see it, judged with what stands
	// around it. Nil: as it is.
	Shown func(text string, from, to int) (string, error)

	// Ready says why the engine at an address could not be asked, or its key not be
	// had, so that nobody is asked about a search. Nil: that shows when it is made.
	Ready func(ctx context.Context, call toolcrib.Call, address, secret string) error

	UserAgent string        // default names the program
	MaxBody   int           // bytes read of an answer, after unpacking; default 4 MiB
	MaxText   int           // bytes of text in one result of web_fetch; default 48 KiB
	Timeout   time.Duration // for one answer; default 20 s. What came until then is used
}

// box holds what its tools need.
type box struct {
	cfg    Config
	engine engine
}

// Open makes the box. It fails for an engine that cannot work as configured.
func Open(_ context.Context, cfg Config) (toolcrib.Toolbox, error) {
	if cfg.MaxBody < 0 || cfg.MaxText < 0 || cfg.Timeout < 0 {
		return nil, errors.New("opening toolbox web: a bound is negative")
	}
	cfg.Engine = cmp.Or(cfg.Engine, DuckDuckGo)
	cfg.UserAgent = cmp.Or(cfg.UserAgent, "Mozilla/5.0 (compatible; toolcrib; +https://github.com/toolcrib/toolcrib)")
	cfg.MaxBody = cmp.Or(cfg.MaxBody, 4<<20)
	cfg.MaxText = cmp.Or(cfg.MaxText, 48<<10)
	cfg.Timeout = cmp.Or(cfg.Timeout, 20*time.Second)
	e, ok := engineOf(cfg.Engine)
	if !ok {
		return nil, fmt.Errorf("opening toolbox web: unknown search engine %q: want %s, %s, %s or %s", cfg.Engine, DuckDuckGo, Brave, SearXNG, Tavily)
	}
	cfg.Endpoint = cmp.Or(cfg.Endpoint, e.endpoint)
	cfg.Secret = cmp.Or(cfg.Secret, e.secret)
	if err := checkEndpoint(cfg); err != nil {
		return nil, fmt.Errorf("opening toolbox web: %w", err)
	}
	b := box{cfg: cfg, engine: e}
	return toolcrib.NewBox("web", b.webSearch(), b.webFetch()), nil
}

// Address is where a box of these settings asks for results; empty: nowhere.
func Address(cfg Config) string {
	e, ok := engineOf(cmp.Or(cfg.Engine, DuckDuckGo))
	if !ok {
		return ""
	}
	return cmp.Or(cfg.Endpoint, e.endpoint)
}

// checkEndpoint: a key must not go over a line that anyone can listen on.
func checkEndpoint(cfg Config) error {
	if cfg.Endpoint == "" {
		return fmt.Errorf("the search engine %s needs its address (endpoint)", cfg.Engine)
	}
	u, err := url.Parse(cfg.Endpoint)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
		return fmt.Errorf("the endpoint %q is no address of the form https://host/path", cfg.Endpoint)
	}
	if addr, err := netip.ParseAddr(u.Hostname()); u.Scheme == "http" && cfg.Secret != "" && (err != nil || !addr.IsLoopback()) && u.Hostname() != "localhost" {
		return fmt.Errorf("the endpoint %q would be sent a key without encryption: want https", cfg.Endpoint)
	}
	return nil
}

// notGranted is the refusal of a call that may reach no host at all. It says
// what the client says of a single host.
func notGranted(address string) error {
	host := "of the address"
	if u, err := url.Parse(address); err == nil && u.Hostname() != "" {
		host = text.Clip(strings.ToLower(line(u.Hostname())), 100)
	}
	return &toolcrib.Error{Code: toolcrib.CodeDenied, Message: "the host " + host + " was not granted; to allow it, add it to grant.hosts"}
}
