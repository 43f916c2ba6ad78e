package web

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolcrib/toolcrib"
)

// recorded is a page of testdata.
func recorded(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func search(t testing.TB, cfg Config, env *toolcrib.Env, in searchIn) (searchOut, string, error) {
	t.Helper()
	if in.MaxResults == 0 {
		in.MaxResults = 5
	}
	return call[searchOut](t, tools(t, cfg)["web_search"], env, in)
}

func TestDuckDuckGo(t *testing.T) {
	var asked string
	body, status := recorded(t, "duckduckgo.html"), http.StatusOK
	home := serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked = r.Method + " " + r.URL.RequestURI()
		w.Header().Set("Content-Type", "text/html; charset=UTF-8")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	})
	cfg := Config{Endpoint: home + "/html/"}
	all := []result{
		{"What is a tool crib? & more", "https://one.example/crib?a=1&b=2", "A tool crib is a place where tools are kept's."},
		{"Direct link", "https://two.example/", "Second snippet."},
		{"No scheme, no snippet", "https://three.example/path", ""},
	}
	got, failed, err := search(t, cfg, local(t), searchIn{Query: "tool crib & <more>"})
	if diff := cmp.Diff(searchOut{Results: all, Query: "tool crib & <more>"}, got); diff != "" || failed != "" || err != nil {
		t.Errorf("%q, %v\n%s", failed, err, diff)
	}
	if asked != "GET /html/?q=tool+crib+%26+%3Cmore%3E" {
		t.Errorf("asked for %s", asked)
	}
	if got, _, err = search(t, cfg, local(t), searchIn{Query: "x", MaxResults: 2}); err != nil || len(got.Results) != 2 {
		t.Errorf("two results: %+v, %v", got, err)
	}
	for _, c := range []struct {
		body   string
		status int
		want   string
	}{
		{recorded(t, "duckduckgo_none.html"), 200, ""},
		{recorded(t, "duckduckgo_robot.html"), 200, "wants to see that a person is searching"},
		{"<html>", 202, "wants to see that a person is searching"},
		{"<html><p>hello", 200, "no results in the form known here"},
		{"<html>", 500, "the server answered 500 Internal Server Error"},
		{"slow down", 429, "answers no more searches for now"},
		{"\x00\xff", 200, "no results in the form"},
	} {
		body, status = c.body, c.status
		got, failed, err := search(t, cfg, local(t), searchIn{Query: "x"})
		if err != nil || !strings.Contains(failed, c.want) || (failed == "") != (c.want == "") || c.want == "" && (got.Results == nil || len(got.Results) > 0) {
			t.Errorf("%.30q: %+v, %q, %v", c.body, got, failed, err)
		}
	}
	if _, failed, err := search(t, cfg, local(t), searchIn{Query: " \u200b\t"}); err != nil || failed != "the query is empty" {
		t.Errorf("an empty query: %q, %v", failed, err)
	}
}

// Each engine is asked as its documentation says, with its key in a header.
func TestOtherEngines(t *testing.T) {
	const key = "k-123"
	var path, header, body, answer string
	status := http.StatusOK
	home := serve(t, func(w http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		path, body = r.Method+" "+r.URL.RequestURI(), string(text)
		header = r.Header.Get("X-Subscription-Token") + r.Header.Get("Authorization")
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, answer)
	})
	want := []result{{"One & only", "https://one.example/", "a bold word"}}
	for _, c := range []struct {
		cfg                        Config
		answer, path, header, body string
	}{
		{Config{Engine: Brave, Endpoint: home + "/res/v1/web/search"},
			`{"type":"search","web":{"results":[{"title":"One &amp; only","url":"https://one.example/","description":"a <strong>bold</strong> word","extra":[1]}]}}`,
			"GET /res/v1/web/search?count=5&q=a+b", key, ""},
		{Config{Engine: SearXNG, Endpoint: home},
			`{"query":"a b","results":[{"title":"One & only","url":"https://one.example/","content":"a bold word","score":1.5}]}`,
			"GET /search?format=json&q=a+b", "", ""},
		{Config{Engine: SearXNG, Endpoint: home + "/x/search?language=de", Secret: "mine"},
			`{"results":[{"title":"One & only","url":"https://one.example/","content":"a bold word"},{"title":"bad","url":"file:///etc","content":null}]}`,
			"GET /x/search?format=json&language=de&q=a+b", "Bearer " + key, ""},
		{Config{Engine: Tavily, Endpoint: home + "/search"},
			`{"query":"a b","answer":null,"results":[{"title":"One & only","url":"https://one.example/","content":"a bold word","score":0.9}]}`,
			"POST /search", "Bearer " + key, `{"max_results":5,"query":"a b"}`},
	} {
		env := local(t)
		var name string
		env.Secret = func(_ context.Context, n string) (string, error) { name = n; return key, nil }
		answer, status = c.answer, http.StatusOK
		got, failed, err := search(t, c.cfg, env, searchIn{Query: "a b"})
		if diff := cmp.Diff(searchOut{want, "a b"}, got); diff != "" || failed != "" || err != nil {
			t.Errorf("%s: %q, %v\n%s", c.cfg.Engine, failed, err, diff)
		}
		if path != c.path || header != c.header || body != c.body {
			t.Errorf("%s was asked %s with %q and %s", c.cfg.Engine, path, header, body)
		}
		if c.header != "" && name != map[string]string{Brave: "brave_api_key", Tavily: "tavily_api_key", SearXNG: "mine"}[c.cfg.Engine] {
			t.Errorf("%s took the secret %q", c.cfg.Engine, name)
		}
		for _, bad := range []string{"", "no json", "[]", `{"results":"x"}`, `{"web":{"results":3},"results":3}`, `{"results":[1]` + strings.Repeat(" ", 1000)} {
			answer = bad
			if _, failed, err := search(t, c.cfg, env, searchIn{Query: "a b"}); err != nil || failed == "" && c.cfg.Engine != Brave {
				t.Errorf("%s with the answer %.20q: %q, %v", c.cfg.Engine, bad, failed, err)
			}
		}
		answer, status = `{"error":"bad key"}`, http.StatusUnauthorized
		if _, failed, err := search(t, c.cfg, env, searchIn{Query: "a b"}); err != nil || !strings.Contains(failed, "does not accept the key") || strings.Contains(failed, key) {
			t.Errorf("%s with a bad key: %q, %v", c.cfg.Engine, failed, err)
		}
	}
}

// A key that is not there, not granted, or no key stops the search before
// anything is sent.
func TestSearchKeys(t *testing.T) {
	home := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("the engine was asked") })
	cfg := Config{Engine: Brave, Endpoint: home}
	_, _, err := search(t, cfg, local(t), searchIn{Query: "x"})
	if toolcrib.CodeOf(err) != toolcrib.CodeDenied || !strings.Contains(err.Error(), "brave_api_key") || !strings.Contains(err.Error(), "vault.grants") {
		t.Errorf("no secret granted: %v", err)
	}
	refusal := &toolcrib.Error{Code: toolcrib.CodeNotFound, Message: "there is no such secret"}
	for _, c := range []struct {
		key  string
		err  error
		want string
	}{{"", refusal, "no such secret"}, {"", errors.New("locked"), "locked"}, {"", nil, "is not a key"}, {"a\nX-Evil: 1", nil, "is not a key"}} {
		env := local(t)
		env.Secret = func(context.Context, string) (string, error) { return c.key, c.err }
		_, failed, err := search(t, cfg, env, searchIn{Query: "x"})
		if err != nil {
			failed = err.Error()
		}
		if !strings.Contains(failed, c.want) || strings.Contains(failed, "Evil") {
			t.Errorf("key %q, %v: %q", c.key, c.err, failed)
		}
	}
}

func FuzzResults(f *testing.F) {
	f.Add(`<a class="result__a" href="//duckduckgo.com/l/?uddg=https%3A%2F%2Fx.example">t</a><a class="result__snippet">s</a>`, 0)
	f.Add(`{"web":{"results":[{"title":"a","url":"https://x.example","description":"b"}]}}`, 1)
	f.Add(`{"results":[{"title":"a\u001b","url":"https://x.example","content":"<b>b"}]}`, 2)
	f.Fuzz(func(t *testing.T, body string, which int) {
		names := []string{DuckDuckGo, Brave, SearXNG, Tavily}
		e, ok := engineOf(names[uint(which)%uint(len(names))])
		if !ok {
			t.Fatal("no such engine")
		}
		found, err := e.parse(&answer{body: []byte(body), status: 200})
		if err != nil {
			return
		}
		for _, r := range tidy(found, 20) {
			for _, text := range []string{r.Title, r.URL, r.Snippet} {
				if line(text) != text || len(text) > maxLink+len("…") {
					t.Errorf("%q is not plain", text)
				}
			}
			if !strings.HasPrefix(r.URL, "http://") && !strings.HasPrefix(r.URL, "https://") {
				t.Errorf("the address %q", r.URL)
			}
			if _, err := json.Marshal(r); err != nil {
				t.Error(err)
			}
		}
	})
}
