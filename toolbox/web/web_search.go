package web

import (
	"context"
	_ "embed" // the description
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/text"
)

//go:embed web_search.md
var webSearchText string

type searchIn struct {
	Query      string `json:"query" minlen:"1" maxlen:"2000" doc:"What to search for, as you would type it into a search engine."`
	MaxResults int    `json:"max_results,omitempty" default:"5" min:"1" max:"20" doc:"The most results to give."`
}

type searchOut struct {
	Results []result `json:"results" doc:"What was found, best first."`
	Query   string   `json:"query" doc:"What was searched for."`
}

type result struct {
	Title   string `json:"title" doc:"The title of the page."`
	URL     string `json:"url" doc:"Its address."`
	Snippet string `json:"snippet" doc:"A few words from it."`
}

// Bounds on one result, whatever the engine sends.
const maxSnippet = 1000

func (b box) webSearch() toolcrib.Tool {
	effects := toolcrib.Reads | toolcrib.Network
	if b.cfg.Secret != "" {
		effects |= toolcrib.UsesSecrets
	}
	t := toolcrib.Define(toolcrib.Spec{
		Name: "web_search", Title: "Search the web", Description: webSearchText, Group: "web",
		Effects: effects, Idempotent: true, Timeout: 3 * b.cfg.Timeout,
	}, func(ctx context.Context, env *toolcrib.Env, in searchIn) (searchOut, error) {
		out := searchOut{Query: in.Query, Results: []result{}}
		if strings.TrimSpace(plain(in.Query)) == "" {
			return out, errors.New("the query is empty")
		}
		found, err := b.search(ctx, env, in)
		if err != nil {
			return out, err
		}
		out.Results = tidy(found, in.MaxResults)
		return out, nil
	})
	if b.cfg.Ready != nil {
		t.Preview = func(ctx context.Context, env *toolcrib.Env, _ json.RawMessage) (string, error) {
			return "", b.cfg.Ready(ctx, env.Call, b.cfg.Endpoint, b.cfg.Secret)
		}
	}
	return t
}

func (b box) search(ctx context.Context, env *toolcrib.Env, in searchIn) ([]result, error) {
	if env == nil || env.HTTP == nil {
		return nil, notGranted(b.cfg.Endpoint)
	}
	key, err := b.key(ctx, env)
	if err != nil {
		return nil, err
	}
	req, err := b.engine.request(ctx, b.cfg.Endpoint, key, in)
	if err != nil {
		return nil, err
	}
	a, err := b.fetch(ctx, env, req, false) // the engine is the person's choice, and the grant holds where it may lead
	if err != nil {
		return nil, err
	}
	if err := b.status(a); err != nil {
		return nil, err
	}
	found, err := b.engine.parse(a)
	if err != nil {
		return nil, fmt.Errorf("the search engine %s: %w", b.cfg.Engine, err)
	}
	return found, nil
}

// key gets the engine's key, which is known here by name only.
func (b box) key(ctx context.Context, env *toolcrib.Env) (string, error) {
	if b.cfg.Secret == "" {
		return "", nil
	}
	if env.Secret == nil {
		return "", &toolcrib.Error{Code: toolcrib.CodeDenied, Message: "the secret " + b.cfg.Secret + " was not granted; the search engine " + b.cfg.Engine +
			" needs it: store it with 'toolcrib secret set " + b.cfg.Secret + "', and list it under vault.grants for the box web"}
	}
	key, err := env.Secret(ctx, b.cfg.Secret)
	if err != nil {
		return "", err
	}
	if key == "" || plain(key) != key || strings.ContainsAny(key, "\n\t") {
		return "", fmt.Errorf("the secret %s is not a key as %s gives them out", b.cfg.Secret, b.cfg.Engine)
	}
	return key, nil
}

// status words what engines say by a status alone.
func (b box) status(a *answer) error {
	name := b.cfg.Engine
	switch {
	case a.status == http.StatusUnauthorized || a.status == http.StatusForbidden && b.cfg.Secret != "":
		return fmt.Errorf("the search engine %s does not accept the key in the secret %q", name, b.cfg.Secret)
	case a.status == http.StatusForbidden && name == SearXNG:
		return fmt.Errorf("the search engine %s refuses programs: its settings must allow the format json", name)
	case a.status == http.StatusTooManyRequests || a.status == http.StatusPaymentRequired || a.status == 432 || a.status == 433:
		return fmt.Errorf("the search engine %s answers no more searches for now; try again later", name)
	}
	if err := a.failure(); err != nil {
		return fmt.Errorf("the search engine %s: %w", name, err)
	}
	return nil
}

// tidy bounds and cleans what was found: one result an address, with an
// address that can be fetched.
func tidy(found []result, limit int) []result {
	list := []result{}
	seen := map[string]bool{}
	for _, r := range found {
		if len(list) >= limit {
			break
		}
		u, err := address(r.URL)
		if err != nil || len(r.URL) > maxLink || seen[r.URL] {
			continue
		}
		seen[r.URL] = true
		r = result{Title: text.Clip(line(r.Title), maxTitle), URL: shown(u), Snippet: text.Clip(line(r.Snippet), maxSnippet)}
		if r.Title == "" {
			r.Title = r.URL
		}
		list = append(list, r)
	}
	return list
}
