package oauth

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// world is an authorization server and a server that takes its tokens. It is
// strict: what a real one may forgive is refused here.
type world struct {
	t      *testing.T
	clock  *clock
	store  *memory
	logs   *bytes.Buffer
	issuer *httptest.Server
	server *httptest.Server

	mu      sync.Mutex
	clients map[string]string // ID → secret
	codes   map[string]url.Values
	tokens  map[string]issued // access
	renewal map[string]issued // refresh
	secrets []string          // everything that must not be seen
	counts  map[string]int

	// What a test changes.
	life      int                                        // of a token, in seconds; 0: not told
	scope     string                                     // the server asks for in its 401
	meta      func(map[string]any)                       // changes the metadata of the issuer
	resource  func(map[string]any)                       // changes the metadata of the server
	answer    func(url.Values)                           // changes the answer of the login page
	token     func(http.ResponseWriter, url.Values) bool // answers in place of the token endpoint
	refuse    bool                                       // the server takes no token
	issuers   func() []string                            // in place of the one
	grants    func(scope string) string                  // what is given of what was asked for
	manages   bool                                       // registrations can be removed again
	unrevoked bool                                       // access tokens are not revoked
	unnamed   bool                                       // the server does not say which scope it lacks
	lastPage  url.Values                                 // what the login page was asked last
}

type issued struct {
	client, scope, resource string
	ends                    time.Time
}

func newWorld(t *testing.T) *world {
	w := &world{t: t, clock: newClock(), store: &memory{}, logs: &bytes.Buffer{}, clients: map[string]string{}, codes: map[string]url.Values{},
		tokens: map[string]issued{}, renewal: map[string]issued{}, counts: map[string]int{}, life: 3600}
	issuer := http.NewServeMux()
	issuer.HandleFunc("GET /.well-known/oauth-authorization-server", w.issuerMeta)
	issuer.HandleFunc("POST /register", w.register)
	issuer.HandleFunc("DELETE /register/{id}", w.unregister)
	issuer.HandleFunc("GET /authorize", w.authorize)
	issuer.HandleFunc("POST /token", w.tokenEndpoint)
	issuer.HandleFunc("POST /revoke", w.revoke)
	w.issuer = httptest.NewServer(issuer)
	t.Cleanup(w.issuer.Close)
	server := http.NewServeMux()
	server.HandleFunc("GET /.well-known/oauth-protected-resource/mcp", w.serverMeta)
	server.HandleFunc("/mcp", w.mcp)
	w.server = httptest.NewServer(server)
	t.Cleanup(w.server.Close)
	t.Cleanup(w.nothingToldSecrets)
	return w
}

// handler is one for this world; change may alter what it is made of.
func (w *world) handler(change func(*Config, *Needs)) *Handler {
	w.t.Helper()
	cfg := Config{Server: "test", URL: w.server.URL + "/mcp", Wait: 20 * time.Second}
	needs := Needs{HTTP: w.server.Client(), Store: w.store, Open: follow(w.server.Client()), Serve: serveLoopback, Now: w.clock.Now,
		Log: slog.New(slog.NewTextHandler(&lockedWriter{w: w.logs, mu: &w.mu}, &slog.HandlerOptions{Level: slog.LevelDebug}))}
	if change != nil {
		change(&cfg, &needs)
	}
	return must(New(cfg, needs))(w.t)
}

type lockedWriter struct {
	w  *bytes.Buffer
	mu *sync.Mutex
}

func (l *lockedWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}

// call makes one request as the MCP client would: with the token there is, and
// once more after a challenge. need is a scope that it wants.
func (w *world) call(ctx context.Context, h *Handler, need string) (int, error) {
	status := 0
	for range 2 {
		token, err := h.Token(ctx)
		if err != nil {
			return status, w.seen(err)
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.server.URL+"/mcp", http.NoBody)
		if err != nil {
			return status, err
		}
		req.Header.Set("Need", need)
		if token != "" {
			req.Header.Set("Authorization", "Bearer "+token)
		}
		resp, err := w.server.Client().Do(req)
		if err != nil {
			return status, err
		}
		resp.Body.Close()
		if status = resp.StatusCode; status != http.StatusUnauthorized && status != http.StatusForbidden {
			return status, nil
		}
		if err := h.Challenge(ctx, req, resp); err != nil {
			return status, w.seen(err)
		}
	}
	return status, nil
}

// works ends the test if a call does not.
func (w *world) works(h *Handler, need string) {
	w.t.Helper()
	if status, err := w.call(w.t.Context(), h, need); status != http.StatusOK || err != nil {
		w.t.Fatalf("the call ended with status %d and error %v", status, err)
	}
}

// seen puts an error to what people get to see.
func (w *world) seen(err error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.logs.WriteString("error: " + err.Error() + "\n")
	return err
}

func (w *world) nothingToldSecrets() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range w.secrets {
		if strings.Contains(w.logs.String(), s) {
			w.t.Errorf("a secret was told:\n%s", w.logs.String())
			return
		}
	}
}

func (w *world) secret(s string) string {
	w.secrets = append(w.secrets, s)
	return s
}

func (w *world) count(what string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.counts[what]
}

func (w *world) change(f func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f()
}

func (w *world) issuerMeta(rw http.ResponseWriter, _ *http.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	u := w.issuer.URL
	m := map[string]any{"issuer": u, "authorization_endpoint": u + "/authorize", "token_endpoint": u + "/token", "registration_endpoint": u + "/register",
		"revocation_endpoint": u + "/revoke", "code_challenge_methods_supported": []string{"S256"}, "authorization_response_iss_parameter_supported": true}
	if w.meta != nil {
		w.meta(m)
	}
	reply(rw, http.StatusOK, m)
}

func (w *world) serverMeta(rw http.ResponseWriter, _ *http.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	m := map[string]any{"resource": w.server.URL + "/mcp", "authorization_servers": []string{w.issuer.URL}}
	if w.issuers != nil {
		m["authorization_servers"] = w.issuers()
	}
	if w.resource != nil {
		w.resource(m)
	}
	reply(rw, http.StatusOK, m)
}

func (w *world) register(rw http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.counts["register"]++
	var got registration
	if err := json.NewDecoder(r.Body).Decode(&got); err != nil || len(got.Redirects) != 1 || got.Application != "native" {
		reply(rw, http.StatusBadRequest, map[string]any{"error": "invalid_client_metadata"})
		return
	}
	id := "client-" + rand.Text()
	w.clients[id] = ""
	out := map[string]any{"client_id": id, "token_endpoint_auth_method": got.Method, "redirect_uris": got.Redirects}
	if got.Method != "none" {
		w.clients[id] = w.secret("secret-" + rand.Text())
		out["client_secret"] = w.clients[id]
	}
	if w.manages {
		out["registration_client_uri"], out["registration_access_token"] = w.issuer.URL+"/register/"+id, w.secret("manage-"+id)
	}
	reply(rw, http.StatusCreated, out)
}

func (w *world) unregister(rw http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.counts["unregister"]++
	id := r.PathValue("id")
	if _, known := w.clients[id]; !known || r.Header.Get("Authorization") != "Bearer manage-"+id {
		rw.WriteHeader(http.StatusUnauthorized)
		return
	}
	delete(w.clients, id)
	rw.WriteHeader(http.StatusNoContent)
}

func (w *world) authorize(rw http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.counts["authorize"]++
	q := r.URL.Query()
	_, known := w.clients[q.Get("client_id")]
	if !known || q.Get("response_type") != "code" || q.Get("code_challenge_method") != "S256" || len(q.Get("code_challenge")) != 43 ||
		q.Get("resource") != w.server.URL+"/mcp" || len(q.Get("state")) < 32 {
		http.Error(rw, "bad request", http.StatusBadRequest)
		return
	}
	code := w.secret("code-" + rand.Text())
	w.codes[code], w.lastPage = q, q
	w.secret(q.Get("state"))
	back := url.Values{"code": {code}, "state": {q.Get("state")}, "iss": {w.issuer.URL}}
	if w.answer != nil {
		w.answer(back)
	}
	http.Redirect(rw, r, q.Get("redirect_uri")+"?"+back.Encode(), http.StatusFound)
}

func (w *world) tokenEndpoint(rw http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.counts["token"]++
	if err := r.ParseForm(); err != nil {
		reply(rw, http.StatusBadRequest, map[string]any{"error": "invalid_request"})
		return
	}
	f := r.PostForm
	w.counts[f.Get("grant_type")]++
	if w.token != nil && w.token(rw, f) {
		return
	}
	id, secret, basic := r.BasicAuth()
	if !basic {
		id, secret = f.Get("client_id"), f.Get("client_secret")
	}
	want, known := w.clients[id]
	refuse := func(code string) {
		reply(rw, http.StatusBadRequest, map[string]any{"error": code, "error_description": r.PostForm.Encode()})
	}
	switch {
	case !known || secret != want:
		refuse("invalid_client")
		return
	case f.Get("resource") != w.server.URL+"/mcp":
		refuse("invalid_target")
		return
	}
	var scope string
	switch f.Get("grant_type") {
	case "authorization_code":
		q, ok := w.codes[f.Get("code")]
		delete(w.codes, f.Get("code")) // once
		sum := sha256.Sum256([]byte(w.secret(f.Get("code_verifier"))))
		if !ok || base64.RawURLEncoding.EncodeToString(sum[:]) != q.Get("code_challenge") || f.Get("redirect_uri") != q.Get("redirect_uri") || id != q.Get("client_id") {
			refuse("invalid_grant")
			return
		}
		scope = q.Get("scope")
	case "refresh_token":
		old, ok := w.renewal[f.Get("refresh_token")]
		delete(w.renewal, f.Get("refresh_token")) // rotated
		if !ok || old.client != id {
			refuse("invalid_grant")
			return
		}
		scope = old.scope
	case "client_credentials":
		scope = f.Get("scope")
	default:
		refuse("unsupported_grant_type")
		return
	}
	if w.grants != nil {
		scope = w.grants(scope)
	}
	t := issued{id, scope, f.Get("resource"), w.clock.Now().Add(time.Duration(w.life) * time.Second)}
	access, refresh := w.secret("access-"+rand.Text()), w.secret("refresh-"+rand.Text())
	w.tokens[access] = t
	out := map[string]any{"access_token": access, "token_type": "bearer", "scope": scope}
	if w.life > 0 {
		out["expires_in"] = w.life
	}
	if f.Get("grant_type") != "client_credentials" {
		w.renewal[refresh] = t
		out["refresh_token"] = refresh
	}
	reply(rw, http.StatusOK, out)
}

func (w *world) revoke(rw http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.counts["revoke"]++
	if _, access := w.tokens[r.PostFormValue("token")]; access && w.unrevoked {
		reply(rw, http.StatusBadRequest, map[string]any{"error": "unsupported_token_type"})
		return
	}
	delete(w.tokens, r.PostFormValue("token"))
	delete(w.renewal, r.PostFormValue("token"))
}

// mcp is the server: it wants a token, and the scope that the call needs.
func (w *world) mcp(rw http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	told := `Bearer resource_metadata="` + w.server.URL + `/.well-known/oauth-protected-resource/mcp"`
	t, ok := w.tokens[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]
	if !ok || w.refuse || w.life > 0 && w.clock.Now().After(t.ends) {
		w.counts["401"]++
		if w.scope != "" {
			told += `, scope="` + w.scope + `"`
		}
		rw.Header().Set("WWW-Authenticate", told)
		rw.WriteHeader(http.StatusUnauthorized)
		return
	}
	if need := r.Header.Get("Need"); need != "" && !slices.Contains(strings.Fields(t.scope), need) {
		w.counts["403"]++
		told += `, error="insufficient_scope"`
		if !w.unnamed {
			told += `, scope="` + need + `"`
		}
		rw.Header().Set("WWW-Authenticate", told)
		rw.WriteHeader(http.StatusForbidden)
		return
	}
	w.counts["served"]++
}

// voidTokens makes every access token worthless, as a restart of a server does.
func (w *world) voidTokens() { w.change(func() { clear(w.tokens) }) }

func (w *world) knownClients() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Sorted(maps.Keys(w.clients))
}

func reply(rw http.ResponseWriter, status int, v any) {
	rw.Header().Set("Content-Type", "application/json")
	rw.WriteHeader(status)
	_ = json.NewEncoder(rw).Encode(v) // the client may be gone
}
