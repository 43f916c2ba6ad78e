package openapis

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/settings"
)

// issuer is a strict authorization server, and the API that takes its tokens.
type issuer struct {
	as, api *httptest.Server

	mu      sync.Mutex
	codes   map[string]url.Values
	access  map[string]bool
	refresh map[string]bool
	counts  map[string]int
	scope   string
	life    int
	meta    func(map[string]any)
}

func newIssuer(t *testing.T) *issuer {
	i := &issuer{codes: map[string]url.Values{}, access: map[string]bool{}, refresh: map[string]bool{}, counts: map[string]int{}, life: 3600}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /authorize", i.authorize)
	mux.HandleFunc("POST /token", i.token)
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		m := map[string]any{"issuer": i.as.URL, "authorization_endpoint": i.as.URL + "/authorize", "token_endpoint": i.as.URL + "/token", "jwks_uri": i.as.URL + "/keys"}
		if i.meta != nil {
			i.meta(m)
		}
		answer(w, http.StatusOK, m)
	})
	i.as = httptest.NewServer(mux)
	t.Cleanup(i.as.Close)
	i.api = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		i.mu.Lock()
		defer i.mu.Unlock()
		i.counts["api"]++
		if !i.access[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")] {
			answer(w, http.StatusUnauthorized, map[string]any{"error": "no such token: " + r.Header.Get("Authorization")})
			return
		}
		answer(w, http.StatusOK, map[string]any{"hello": "ann"})
	}))
	t.Cleanup(i.api.Close)
	return i
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client may be gone
}

func (i *issuer) authorize(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.counts["authorize"]++
	q := r.URL.Query()
	if q.Get("client_id") != "me" || q.Get("response_type") != "code" || q.Get("code_challenge_method") != "S256" || len(q.Get("state")) < 32 || q.Has("resource") {
		http.Error(w, "bad request", http.StatusBadRequest)
		return
	}
	code := "code-" + rand.Text()
	i.codes[code], i.scope = q, q.Get("scope")
	http.Redirect(w, r, q.Get("redirect_uri")+"?"+url.Values{"code": {code}, "state": {q.Get("state")}}.Encode(), http.StatusFound)
}

func (i *issuer) token(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	defer i.mu.Unlock()
	id, secret, _ := r.BasicAuth()
	if r.ParseForm() != nil || id != "me" || secret != "client-secret" {
		answer(w, http.StatusUnauthorized, map[string]any{"error": "invalid_client", "error_description": secret})
		return
	}
	f := r.PostForm
	i.counts[f.Get("grant_type")]++
	switch f.Get("grant_type") {
	case "authorization_code":
		q := i.codes[f.Get("code")]
		delete(i.codes, f.Get("code"))
		sum := sha256.Sum256([]byte(f.Get("code_verifier")))
		if q == nil || q.Get("code_challenge") != base64.RawURLEncoding.EncodeToString(sum[:]) || q.Get("redirect_uri") != f.Get("redirect_uri") {
			answer(w, http.StatusBadRequest, map[string]any{"error": "invalid_grant"})
			return
		}
	default:
		if !i.refresh[f.Get("refresh_token")] {
			answer(w, http.StatusBadRequest, map[string]any{"error": "invalid_grant"})
			return
		}
		delete(i.refresh, f.Get("refresh_token")) // rotated
	}
	access, refresh := "access-"+rand.Text(), "refresh-"+rand.Text()
	i.access[access], i.refresh[refresh] = true, true
	answer(w, http.StatusOK, map[string]any{"access_token": access, "refresh_token": refresh, "token_type": "Bearer", "expires_in": i.life})
}

func (i *issuer) count(what string) int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.counts[what]
}

// vaultOf is a place for logins.
type vaultOf struct {
	mu     sync.Mutex
	values map[string][]byte
}

func (v *vaultOf) Load(_ context.Context, name string) ([]byte, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.values[name], nil
}

func (v *vaultOf) Save(_ context.Context, name string, value []byte) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.values[name] = value
	return nil
}

func (v *vaultOf) Delete(_ context.Context, name string) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.values, name)
	return nil
}

// loginDoc is a document whose operations want a login.
func loginDoc(api, scheme string) string {
	return `{"openapi":"3.1.0","info":{"title":"Mail","version":"1"},"servers":[{"url":"` + api + `/v1"}],"security":[{"person":["mail.read","profile"]}],
"components":{"securitySchemes":{"person":` + scheme + `}},"paths":{"/me":{"get":{"operationId":"me","responses":{"200":{"description":"ok"}}}},
"/elsewhere":{"get":{"operationId":"elsewhere","servers":[{"url":"http://127.0.0.2:1/v1"}],"responses":{"200":{"description":"ok"}}}}}}`
}

// loginPlace is a place with a vault and a person at a browser.
func loginPlace(t *testing.T, i *issuer, v *vaultOf) *place {
	p := newPlace(t)
	p.needs.Login = Login{
		Tokens: v, Secret: func(context.Context, string) (string, error) { return "client-secret", nil },
		Page: func(ctx context.Context, page string) error {
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, page, nil)
			if err != nil {
				return err
			}
			resp, err := i.as.Client().Do(req)
			if err != nil {
				return err
			}
			if resp.StatusCode != http.StatusOK {
				err = fmt.Errorf("the page says %s", resp.Status)
			}
			return errors.Join(err, resp.Body.Close())
		},
	}
	return p
}

// callTool calls a tool as a crib would, with the secrets that it was granted.
func callTool(t *testing.T, api *API, tool string) (*toolcrib.Result, error) {
	t.Helper()
	tools, err := api.Tools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(tools, func(t toolcrib.Tool) bool { return t.Name == tool })
	env := &toolcrib.Env{Secret: func(_ context.Context, name string) (string, error) {
		if name != "client" {
			return "", fmt.Errorf("the secret %s was not granted", name)
		}
		return "client-secret", nil
	}}
	return tools[at].Run(t.Context(), env, json.RawMessage(`{}`))
}

func shownResult(r *toolcrib.Result, err error) string {
	if err != nil {
		return err.Error()
	}
	out := string(r.Value)
	for _, c := range r.Content {
		out += c.Text
	}
	return out
}

func TestLogin(t *testing.T) {
	for name, of := range map[string]func(i *issuer) (scheme string, auth settings.OpenAPIAuth){
		"authorization code": func(i *issuer) (string, settings.OpenAPIAuth) {
			return `{"type":"oauth2","flows":{"authorizationCode":{"authorizationUrl":"` + i.as.URL + `/authorize","tokenUrl":"` + i.as.URL + `/token","scopes":{}}}}`,
				settings.OpenAPIAuth{TokenURL: i.as.URL + "/token"}
		},
		"another refresh address": func(i *issuer) (string, settings.OpenAPIAuth) {
			return `{"type":"oauth2","flows":{"authorizationCode":{"authorizationUrl":"` + i.as.URL + `/authorize","tokenUrl":"` + i.as.URL + `/token","refreshUrl":"` + i.as.URL + `/token?again","scopes":{}}}}`,
				settings.OpenAPIAuth{TokenURL: i.as.URL + "/token"}
		},
		"openid": func(i *issuer) (string, settings.OpenAPIAuth) {
			return `{"type":"openIdConnect","openIdConnectUrl":"` + i.as.URL + `/.well-known/openid-configuration"}`,
				settings.OpenAPIAuth{OpenIDURL: i.as.URL + "/.well-known/openid-configuration"}
		},
	} {
		t.Run(name, func(t *testing.T) {
			i, v := newIssuer(t), &vaultOf{values: map[string][]byte{}}
			p := loginPlace(t, i, v)
			now := time.Now()
			p.needs.Now = func() time.Time { return now }
			scheme, auth := of(i)
			auth.Flow, auth.ClientID, auth.Secret = "code", "me", "client"
			s := settings.OpenAPI{Document: loginDoc(i.api.URL, scheme), Hosts: []string{"127.0.0.1", "127.0.0.2"}, Auth: map[string]settings.OpenAPIAuth{"person": auth}}
			api := p.open(s)
			if said := shownResult(callTool(t, api, "me")); !strings.Contains(said, "toolcrib openapi login shop") || i.count("api") != 0 {
				t.Errorf("before the login: %s", said)
			}
			status, err := api.LogIn(t.Context(), "", 0)
			if err != nil || !status.LoggedIn || !status.Renewable || i.scope != "mail.read profile" {
				t.Fatalf("%+v, %v, asked for %q", status, err, i.scope)
			}
			works := func(what string, api *API) {
				t.Helper()
				if said := shownResult(callTool(t, api, "me")); !strings.Contains(said, "ann") {
					t.Errorf("%s: %s", what, said)
				}
			}
			works("after the login", api)
			works("after a restart", p.open(s))
			if n := i.count("authorize"); n != 1 {
				t.Errorf("%d pages", n)
			}
			// Over: renewed with the refresh token, without a person.
			now = now.Add(2 * time.Hour)
			works("when the token is over", api)
			// Refused before its end: renewed, and the call made again.
			i.mu.Lock()
			clear(i.access)
			i.mu.Unlock()
			works("when the token is refused", api)
			if i.count("refresh_token") != 2 || i.count("authorize") != 1 {
				t.Errorf("%v", i.counts)
			}
			// Another process has the new refresh token from the vault.
			i.mu.Lock()
			clear(i.access)
			i.mu.Unlock()
			works("in another process", p.open(s))
			// All is void: a person is needed, and is told how. No token is told.
			i.mu.Lock()
			tokens := slices.Concat(slices.Collect(maps.Keys(i.access)), slices.Collect(maps.Keys(i.refresh)))
			clear(i.access)
			clear(i.refresh)
			i.mu.Unlock()
			said := shownResult(callTool(t, api, "me"))
			if !strings.Contains(said, "toolcrib openapi login shop") {
				t.Errorf("when all is void: %s", said)
			}
			for _, token := range append(tokens, "client-secret", "access-", "refresh-") {
				if strings.Contains(said, token) {
					t.Errorf("a token is told: %s", said)
				}
			}
			if err := api.LogOut(t.Context(), ""); err != nil || len(v.values) != 0 {
				t.Errorf("%v, %d logins are left", err, len(v.values))
			}
		})
	}
}

// A login is for one API, by the settings that it was made with.
func TestLoginStaysWhereItBelongs(t *testing.T) {
	i, v := newIssuer(t), &vaultOf{values: map[string][]byte{}}
	p := loginPlace(t, i, v)
	var seen []string
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.Header.Get("Authorization")+r.URL.RawQuery)
	}))
	t.Cleanup(other.Close)
	scheme := `{"type":"oauth2","flows":{"authorizationCode":{"authorizationUrl":"` + i.as.URL + `/authorize","tokenUrl":"` + i.as.URL + `/token","scopes":{}}}}`
	auth := settings.OpenAPIAuth{Flow: "code", ClientID: "me", Secret: "client", TokenURL: i.as.URL + "/token"}
	s := settings.OpenAPI{Document: strings.ReplaceAll(loginDoc(i.api.URL, scheme), "http://127.0.0.2:1", other.URL), Hosts: []string{"127.0.0.1"}, Pins: "off", Auth: map[string]settings.OpenAPIAuth{"person": auth}}
	api := p.open(s)
	if _, err := api.LogIn(t.Context(), "person", 0); err != nil {
		t.Fatal(err)
	}
	// An operation that the document has at another host gets nothing.
	if _, err := callTool(t, api, "elsewhere"); err != nil || !slices.Equal(seen, []string{""}) {
		t.Errorf("%v, sent %q", err, seen)
	}
	// The API moves: the login is not for the new place.
	moved := s
	moved.BaseURL = other.URL
	if said := shownResult(callTool(t, p.open(moved), "me")); !strings.Contains(said, "openapi login") || len(seen) != 1 {
		t.Errorf("moved: %s, sent %q", said, seen)
	}
	// Tokens come from elsewhere now: so is the refresh token not sent there.
	turned := s
	auth.TokenURL, auth.AuthorizationURL = other.URL+"/token", i.as.URL+"/authorize"
	turned.Auth = map[string]settings.OpenAPIAuth{"person": auth}
	if said := shownResult(callTool(t, p.open(turned), "me")); !strings.Contains(said, "openapi login") || len(seen) != 1 {
		t.Errorf("turned: %s, sent %q", said, seen)
	}
}

// What a document says alone sends nobody anywhere.
func TestLoginOfDocuments(t *testing.T) {
	i := newIssuer(t)
	for name, of := range map[string]struct {
		scheme string
		auth   settings.OpenAPIAuth
		want   string
	}{
		"page elsewhere":  {`{"type":"oauth2","flows":{"authorizationCode":{"authorizationUrl":"https://evil.example/a","tokenUrl":"https://evil.example/t","scopes":{}}}}`, settings.OpenAPIAuth{}, "authorization_url"},
		"token elsewhere": {`{"type":"oauth2","flows":{"authorizationCode":{"authorizationUrl":"` + i.as.URL + `/authorize","tokenUrl":"https://evil.example/t","scopes":{}}}}`, settings.OpenAPIAuth{AuthorizationURL: i.as.URL + "/authorize"}, "token_url"},
		"openid":          {`{"type":"openIdConnect","openIdConnectUrl":"https://evil.example/.well-known/openid-configuration"}`, settings.OpenAPIAuth{}, "openid_url"},
		"swagger":         {`{"type":"oauth2","flow":"accessCode","authorizationUrl":"https://evil.example/a","tokenUrl":"https://evil.example/t"}`, settings.OpenAPIAuth{}, "authorization_url"},
		"nothing":         {`{"type":"oauth2","flows":{}}`, settings.OpenAPIAuth{}, "does not say where"},
		"metadata":        {`{"type":"oauth2","flows":{}}`, settings.OpenAPIAuth{AuthorizationURL: "http://169.254.169.254/a", TokenURL: "http://169.254.169.254/t"}, "https"},
	} {
		p := loginPlace(t, i, &vaultOf{values: map[string][]byte{}})
		of.auth.Flow, of.auth.ClientID = "code", "me"
		doc := loginDoc(i.api.URL, of.scheme)
		if name == "swagger" {
			doc = `{"swagger":"2.0","info":{"title":"Mail","version":"1"},"host":"` + strings.TrimPrefix(i.api.URL, "http://") + `","schemes":["http"],"securityDefinitions":{"person":` + of.scheme + `},"paths":{"/me":{"get":{"operationId":"me","responses":{"200":{"description":"ok"}}}}}}`
		}
		api := p.open(settings.OpenAPI{Document: doc, Hosts: []string{"127.0.0.1"}, Auth: map[string]settings.OpenAPIAuth{"person": of.auth}})
		if _, err := api.LogIn(t.Context(), "", 0); err == nil || !strings.Contains(err.Error(), of.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// A discovery document is of its own issuer.
	for name, meta := range map[string]func(map[string]any){
		"another issuer": func(m map[string]any) { m["issuer"] = "https://evil.example" },
		"no S256":        func(m map[string]any) { m["code_challenge_methods_supported"] = []string{"plain"} },
		"metadata":       func(m map[string]any) { m["token_endpoint"] = "http://169.254.169.254/t" },
		"no page":        func(m map[string]any) { delete(m, "authorization_endpoint") },
	} {
		i.meta = meta
		p := loginPlace(t, i, &vaultOf{values: map[string][]byte{}})
		api := p.open(settings.OpenAPI{Document: loginDoc(i.api.URL, `{"type":"openIdConnect","openIdConnectUrl":"x"}`), Hosts: []string{"127.0.0.1"},
			Auth: map[string]settings.OpenAPIAuth{"person": {Flow: "code", ClientID: "me", Secret: "client", OpenIDURL: i.as.URL + "/.well-known/openid-configuration"}}})
		if _, err := api.LogIn(t.Context(), "", 0); err == nil || i.count("authorize") != 0 {
			t.Errorf("%s: %v, %d pages", name, err, i.count("authorize"))
		}
	}
	// Only schemes with logins have one.
	p := loginPlace(t, i, &vaultOf{values: map[string][]byte{}})
	if _, err := p.try(settings.OpenAPI{Document: loginDoc(i.api.URL, `{"type":"http","scheme":"bearer"}`), Auth: map[string]settings.OpenAPIAuth{"person": {Flow: "code"}}}); err == nil || !strings.Contains(err.Error(), "log in") {
		t.Errorf("%v", err)
	}
}
