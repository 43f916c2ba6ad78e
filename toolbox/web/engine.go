package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// engine is one way to search.
type engine struct {
	endpoint string // where it is for everyone
	secret   string // the usual name of its key; empty: it needs none
	request  func(ctx context.Context, endpoint, key string, in searchIn) (*http.Request, error)
	parse    func(a *answer) ([]result, error)
}

func engineOf(name string) (engine, bool) {
	switch name {
	case DuckDuckGo:
		return engine{"https://html.duckduckgo.com/html/", "", askDuckDuckGo, parseDuckDuckGo}, true
	case Brave:
		return engine{"https://api.search.brave.com/res/v1/web/search", "brave_api_key", askBrave, parseBrave}, true
	case SearXNG:
		return engine{"", "", askSearXNG, parseContent}, true
	case Tavily:
		return engine{"https://api.tavily.com/search", "tavily_api_key", askTavily, parseContent}, true
	}
	return engine{}, false
}

// get asks with a query in the address.
func get(ctx context.Context, endpoint string, params url.Values) (*http.Request, error) {
	u, err := url.Parse(endpoint)
	if err != nil {
		return nil, err
	}
	all := u.Query()
	maps.Copy(all, params)
	u.RawQuery = all.Encode()
	return http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
}

func askBrave(ctx context.Context, endpoint, key string, in searchIn) (*http.Request, error) {
	req, err := get(ctx, endpoint, url.Values{"q": {in.Query}, "count": {strconv.Itoa(in.MaxResults)}})
	if err == nil {
		req.Header.Set("Accept", "application/json")
		req.Header.Set("X-Subscription-Token", key)
	}
	return req, err
}

func parseBrave(a *answer) ([]result, error) {
	var got struct {
		Web struct {
			Results []struct {
				Title, URL, Description string
			}
		}
	}
	if err := readJSON(a, &got); err != nil {
		return nil, err
	}
	var list []result
	for _, r := range got.Web.Results {
		list = append(list, result{unmarked(r.Title), r.URL, unmarked(r.Description)})
	}
	return list, nil
}

// askSearXNG: an endpoint is that of the instance, or of its search page.
func askSearXNG(ctx context.Context, endpoint, key string, in searchIn) (*http.Request, error) {
	if u, err := url.Parse(endpoint); err == nil && !strings.HasSuffix(strings.TrimSuffix(u.Path, "/"), "/search") {
		endpoint = u.JoinPath("search").String()
	}
	req, err := get(ctx, endpoint, url.Values{"q": {in.Query}, "format": {"json"}})
	if err == nil {
		req.Header.Set("Accept", "application/json")
		if key != "" {
			req.Header.Set("Authorization", "Bearer "+key)
		}
	}
	return req, err
}

func askTavily(ctx context.Context, endpoint, key string, in searchIn) (*http.Request, error) {
	body, err := json.Marshal(map[string]any{"query": in.Query, "max_results": in.MaxResults})
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, endpoint, bytes.NewReader(body))
	if err == nil {
		req.Header.Set("Accept", "application/json")
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Authorization", "Bearer "+key)
	}
	return req, err
}

// parseContent reads the answers of SearXNG and Tavily, which agree in what is
// used here.
func parseContent(a *answer) ([]result, error) {
	var got struct {
		Results *[]struct {
			Title, URL, Content string
		}
	}
	if err := readJSON(a, &got); err != nil {
		return nil, err
	}
	if got.Results == nil {
		return nil, errors.New("its answer has no list of results")
	}
	var list []result
	for _, r := range *got.Results {
		list = append(list, result{unmarked(r.Title), r.URL, unmarked(r.Content)})
	}
	return list, nil
}

func readJSON(a *answer, into any) error {
	if a.cut != "" {
		return fmt.Errorf("its answer was not read to its end: %s", a.cut)
	}
	if err := json.Unmarshal(a.body, into); err != nil {
		return errors.New("its answer cannot be read as JSON")
	}
	return nil
}

// unmarked takes the tags out of a snippet, which some engines put around the
// words that were searched for.
func unmarked(text string) string {
	if !strings.ContainsAny(text, "<&") {
		return text
	}
	var b strings.Builder
	z := newTokenizer(strings.NewReader(text))
	for {
		t, ok := z.next()
		if !ok {
			return b.String()
		}
		if t.kind == textToken {
			b.WriteString(t.text)
		}
	}
}
