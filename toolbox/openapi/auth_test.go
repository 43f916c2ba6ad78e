package openapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/config"
)

// withSchemes is a document of one operation that needs one of these schemes.
func withSchemes(server, method, security, schemes string) string {
	doc := oneOp(server, method, "/x", `,"security":`+security)
	return strings.TrimSuffix(doc, "}") + `,"components":{"securitySchemes":` + schemes + `}}`
}

const allSchemes = `{"key":{"type":"apiKey","in":"header","name":"X-Key"},"inquery":{"type":"apiKey","in":"query","name":"key"},"incookie":{"type":"apiKey","in":"cookie","name":"sid"},
	"basic":{"type":"http","scheme":"Basic"},"bearer":{"type":"http","scheme":"bearer"},"oauth":{"type":"oauth2","flows":{"clientCredentials":{"tokenUrl":"TOKENS","scopes":{}}}}}`

func TestCredentials(t *testing.T) {
	var last *http.Request
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		last = r
		w.WriteHeader(http.StatusTeapot)
		_, _ = fmt.Fprintf(w, "you sent %s %v", r.URL, r.Header) // a server that repeats everything
	})
	secrets := map[string]string{"s": "s3cr3t-value", "up": "user:p4ssw0rd"}
	for name, c := range map[string]struct {
		security string
		auth     map[string]Credential
		look     func() string
		want     string
	}{
		"header":        {`[{"key":[]}]`, map[string]Credential{"key": {Secret: "s"}}, func() string { return last.Header.Get("X-Key") }, "s3cr3t-value"},
		"query":         {`[{"inquery":[]}]`, map[string]Credential{"inquery": {Secret: "s"}}, func() string { return last.URL.RawQuery }, "key=s3cr3t-value"},
		"cookie":        {`[{"incookie":[]}]`, map[string]Credential{"incookie": {Secret: "s"}}, func() string { return last.Header.Get("Cookie") }, "sid=s3cr3t-value"},
		"basic":         {`[{"basic":[]}]`, map[string]Credential{"basic": {Secret: "up"}}, func() string { u, p, _ := last.BasicAuth(); return u + "|" + p }, "user|p4ssw0rd"},
		"basic, user":   {`[{"basic":[]}]`, map[string]Credential{"basic": {Secret: "s", User: "me"}}, func() string { u, p, _ := last.BasicAuth(); return u + "|" + p }, "me|s3cr3t-value"},
		"bearer":        {`[{"bearer":[]}]`, map[string]Credential{"bearer": {Secret: "s"}}, func() string { return last.Header.Get("Authorization") }, "Bearer s3cr3t-value"},
		"oauth, token":  {`[{"oauth":[]}]`, map[string]Credential{"oauth": {Secret: "s"}}, func() string { return last.Header.Get("Authorization") }, "Bearer s3cr3t-value"},
		"second set":    {`[{"key":[],"basic":[]},{"bearer":[]}]`, map[string]Credential{"bearer": {Secret: "s"}, "key": {Secret: "s"}}, func() string { return last.Header.Get("Authorization") + last.Header.Get("X-Key") }, "Bearer s3cr3t-value"},
		"both":          {`[{"key":[],"inquery":[]}]`, map[string]Credential{"inquery": {Secret: "s"}, "key": {Secret: "s"}}, func() string { return last.URL.RawQuery + last.Header.Get("X-Key") }, "key=s3cr3t-values3cr3t-value"},
		"nobody":        {`[]`, map[string]Credential{"key": {Secret: "s"}}, func() string { return last.Header.Get("X-Key") }, ""},
		"not in it":     {`[]`, map[string]Credential{"mine": {Secret: "s", Type: "bearer"}}, func() string { return last.Header.Get("Authorization") }, "Bearer s3cr3t-value"},
		"optional":      {`[{},{"key":[]}]`, map[string]Credential{"key": {Secret: "s"}}, func() string { return last.Header.Get("X-Key") }, "s3cr3t-value"},
		"optional, not": {`[{},{"key":[]}]`, nil, func() string { return last.Header.Get("X-Key") }, ""},
	} {
		b := newBox(t, withSchemes(s.URL, "get", c.security, allSchemes), Config{Auth: c.auth})
		r, err := use(t, b, newEnv(t, secrets), "op", `{}`)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := c.look(); got != c.want {
			t.Errorf("%s: sent %q, want %q", name, got, c.want)
		}
		if shown := r.String(); strings.Contains(shown, "s3cr3t") || strings.Contains(shown, "p4ssw0rd") || strings.Contains(shown, "dXNlcjpwNHNzdzByZA") {
			t.Errorf("%s: a secret is shown: %s", name, shown)
		}
		if uses := b.tools[0].Effects&toolcrib.UsesSecrets != 0; uses != (c.want != "") {
			t.Errorf("%s: effects %s", name, b.tools[0].Effects)
		}
	}
}

// TestEchoes: what a server repeats of a credential is not shown, in a success either.
func TestEchoes(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Query().Get("q") {
		case "location":
			w.Header().Set("Location", "http://[x"+r.Header.Get("X-Key"))
			w.WriteHeader(http.StatusFound)
		case "link":
			w.Header().Set("Link", "<"+r.Header.Get("X-Key")+">")
		default:
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(map[string]any{"headers": r.Header})
		}
	})
	doc := strings.Replace(withSchemes(s.URL, "get", `[{"key":[]}]`, allSchemes), `"operationId"`, `"parameters":[{"name":"q","in":"query","schema":{}}],"operationId"`, 1)
	b := newBox(t, doc, Config{Auth: map[string]Credential{"key": {Secret: "s"}}})
	for _, q := range []string{"", "location", "link"} {
		r, err := use(t, b, newEnv(t, map[string]string{"s": `s3cr3t"value`}), "op", `{"q":"`+q+`"}`)
		if e, ok := toolcrib.AsError(err); ok {
			err = errors.Join(err, e.Err)
		}
		if said := fmt.Sprintf("%v %v", r, err); strings.Contains(said, "s3cr3t") {
			t.Errorf("%q: %s", q, said)
		}
	}
}

// TestCredentialsStay: they go to the host of the API, over a line that nobody reads, and nowhere
// else.
func TestCredentialsStay(t *testing.T) {
	secrets := map[string]string{"s": "s3cr3t-value"}
	auth := map[string]Credential{"key": {Secret: "s"}, "inquery": {Secret: "s"}}
	var leaked atomic.Int32
	var arrived atomic.Int32
	elsewhere := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		arrived.Add(1)
		if strings.Contains(fmt.Sprint(r.Header, r.URL), "s3cr3t") {
			leaked.Add(1)
		}
	})
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, elsewhere.URL+"/y", http.StatusFound)
	})
	both := `[{"key":[],"inquery":[]}]`
	b := newBox(t, withSchemes(s.URL, "get", both, allSchemes), Config{Auth: auth})
	mustUse(t, b, newEnv(t, secrets), "op", `{}`)
	if arrived.Load() != 1 || leaked.Load() != 0 {
		t.Errorf("a redirect: %d arrived, %d with a credential", arrived.Load(), leaked.Load())
	}
	// A request that changes something does not go to another server.
	if r, err := use(t, newBox(t, withSchemes(s.URL, "post", both, allSchemes), Config{Auth: auth}), newEnv(t, secrets), "op", `{}`); err != nil || !r.Failed || arrived.Load() != 1 {
		t.Errorf("a redirect of a POST: %v %v", r, err)
	}
	// An operation at another server than the others.
	two := strings.Replace(withSchemes(s.URL, "get", both, allSchemes), `"paths":{`, `"paths":{"/z":{"servers":[{"url":"`+elsewhere.URL+`"}],"get":{"operationId":"other","security":`+both+`,"responses":{}}},"/w":{"get":{"responses":{}}},`, 1)
	b = newBox(t, two, Config{Auth: auth})
	mustUse(t, b, newEnv(t, secrets), "other", `{}`)
	if arrived.Load() != 2 || leaked.Load() != 0 {
		t.Errorf("another server: %d arrived, %d with a credential", arrived.Load(), leaked.Load())
	}
	// Nobody is kept from asking there for a secret that does not go there.
	lacks := func(context.Context, toolcrib.Call, string, string) error { return errors.New("not there") }
	b, err := Open(t.Context(), Config{Name: "api", Auth: auth}, Needs{Document: []byte(two), YAML: config.Decode, Log: slog.New(slog.DiscardHandler), HasSecret: lacks})
	if err != nil {
		t.Fatal(err)
	}
	tools, err := b.Tools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range tools {
		if _, err := tool.Preview(t.Context(), &toolcrib.Env{}, json.RawMessage(`{}`)); (err != nil) != (tool.Name == "op") {
			t.Errorf("%s: %v", tool.Name, err)
		}
	}
	// Without encryption.
	b = newBox(t, withSchemes("http://api.example.com", "get", both, allSchemes), Config{Auth: auth})
	if _, err := use(t, b, newEnv(t, secrets), "op", `{}`); toolcrib.CodeOf(err) != toolcrib.CodeDenied || !strings.Contains(err.Error(), "https") {
		t.Errorf("without encryption: %v", err)
	}
	// Not granted.
	b = newBox(t, withSchemes(s.URL, "get", both, allSchemes), Config{Auth: auth})
	if _, err := use(t, b, newEnv(t, nil), "op", `{}`); toolcrib.CodeOf(err) != toolcrib.CodeDenied || !strings.Contains(err.Error(), "vault.grants.") {
		t.Errorf("not granted: %v", err)
	}
	// An error of the connection does not repeat the address.
	gone := serve(t, func(http.ResponseWriter, *http.Request) {})
	gone.Close()
	b = newBox(t, withSchemes(gone.URL, "get", both, allSchemes), Config{Auth: auth})
	if _, err := use(t, b, newEnv(t, secrets), "op", `{}`); toolcrib.CodeOf(err) != toolcrib.CodeUnavailable || strings.Contains(fmt.Sprintf("%+v", err), "s3cr3t") {
		t.Errorf("gone: %v", err)
	}
	if got := withPair("a=1&k%65y=mine&key=mine&b=2", "&", "key", "s"); got != "a=1&b=2&key=s" {
		t.Errorf("a parameter of the same name: %s", got)
	}
	// A model does not set what a credential sets.
	doc := strings.Replace(withSchemes(s.URL, "get", both, allSchemes), `"operationId"`, `"parameters":[{"name":"x-key","in":"header","schema":{}},{"name":"Authorization","in":"header","schema":{}},{"name":"key","in":"query","schema":{}}],"operationId"`, 1)
	if input := string(newBox(t, doc, Config{Auth: auth}).tools[0].Input); strings.Contains(strings.ToLower(input), "key") || strings.Contains(input, "Auth") {
		t.Errorf("input: %s", input)
	}
}

func TestClientCredentials(t *testing.T) {
	var asked, valid atomic.Int32
	var scope string
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/token" {
			n := asked.Add(1)
			id, secret, _ := r.BasicAuth()
			if id != "me" || secret != "s3cr3t%2Fvalue" || r.FormValue("grant_type") != "client_credentials" {
				w.WriteHeader(http.StatusBadRequest)
				_, _ = w.Write([]byte(`{"error":"invalid_client s3cr3t/value"}`))
				return
			}
			scope = r.FormValue("scope")
			valid.Store(n)
			w.Header().Set("Content-Type", "application/json")
			_, _ = fmt.Fprintf(w, `{"access_token":"tok-%d","token_type":"Bearer","expires_in":100}`, n)
			return
		}
		if r.Header.Get("Authorization") != fmt.Sprintf("Bearer tok-%d", valid.Load()) {
			w.WriteHeader(http.StatusUnauthorized)
		}
	})
	schemes := strings.Replace(allSchemes, "TOKENS", s.URL+"/token", 1)
	cred := Credential{Secret: "s", ClientID: "me", Scopes: []string{"read", "write"}}
	secrets := map[string]string{"s": "s3cr3t/value", "bad": "another"}
	now := time.Now()
	open := func(c Credential, schemes string) *Box {
		b, err := Open(t.Context(), Config{Name: "api", Auth: map[string]Credential{"oauth": c}},
			Needs{Document: []byte(withSchemes(s.URL, "post", `[{"oauth":["read"]}]`, schemes)), Now: func() time.Time { return now }})
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	b := open(cred, schemes)
	for range 3 {
		mustUse(t, b, newEnv(t, secrets), "op", `{}`)
	}
	if asked.Load() != 1 || scope != "read write" {
		t.Errorf("asked %d times, for %q", asked.Load(), scope)
	}
	now = now.Add(95 * time.Second)
	mustUse(t, b, newEnv(t, secrets), "op", `{}`)
	if asked.Load() != 2 {
		t.Errorf("after it ended, asked %d times", asked.Load())
	}
	valid.Store(99) // revoked
	if _, err := use(t, b, newEnv(t, secrets), "op", `{}`); err != nil || asked.Load() != 3 {
		t.Errorf("revoked: %v, asked %d times", err, asked.Load())
	}
	wrong := cred
	wrong.Secret = "bad"
	if _, err := use(t, open(wrong, schemes), newEnv(t, map[string]string{"bad": "s3cr3t/valuX"}), "op", `{}`); err == nil || strings.Contains(err.Error(), "valuX") {
		t.Errorf("a wrong secret: %v", err)
	}
	// A document alone does not decide where a client's secret goes.
	n := asked.Load()
	evil := strings.Replace(allSchemes, "TOKENS", "https://evil.example/token", 1)
	if _, err := use(t, open(cred, evil), newEnv(t, secrets), "op", `{}`); err == nil || !strings.Contains(err.Error(), "token_url") || asked.Load() != n {
		t.Errorf("another host: %v", err)
	}
	named := cred
	named.TokenURL = s.URL + "/token"
	mustUse(t, open(named, evil), newEnv(t, secrets), "op", `{}`)
}

func TestAuthIsChecked(t *testing.T) {
	for name, auth := range map[string]map[string]Credential{
		"unknown": {"nope": {Secret: "s"}}, "no secret": {"key": {}}, "no place": {"mine": {Secret: "s", Type: "apiKey", Name: "x"}}, "odd": {"mine": {Secret: "s", Type: "mutualTLS"}},
	} {
		if _, err := Open(t.Context(), Config{Name: "api", Auth: auth}, Needs{Document: []byte(withSchemes("https://x.example", "get", `[]`, allSchemes))}); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
	b := newBox(t, withSchemes("https://x.example", "get", `[]`, allSchemes), Config{Auth: map[string]Credential{"key": {Secret: "s"}}})
	got, _ := json.Marshal(b.Schemes())
	if !strings.Contains(string(got), `{"name":"key","type":"apiKey","set":true}`) || !strings.Contains(string(got), `{"name":"basic","type":"basic","set":false}`) {
		t.Errorf("%s", got)
	}
}
