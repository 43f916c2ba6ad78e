package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// TestOpenAPILogin logs in to an API with the program as a person has it. The token gets into the vault
// and to the API, and nowhere else.
func TestOpenAPILogin(t *testing.T) {
	const access, refresh = "access-0123456789abcdef", "refresh-0123456789abcdef"
	var mu sync.Mutex
	var served []string
	var server *httptest.Server
	server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		reply := func(v any) {
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(v) // the client may be gone
		}
		switch q := r.URL.Query(); r.URL.Path {
		case "/authorize":
			http.Redirect(w, r, q.Get("redirect_uri")+"?"+url.Values{"code": {"code-1"}, "state": {q.Get("state")}}.Encode(), http.StatusFound)
		case "/token":
			reply(map[string]any{"access_token": access, "refresh_token": refresh, "token_type": "Bearer", "expires_in": 3600})
		case "/me":
			served = append(served, r.Header.Get("Authorization"))
			reply(map[string]any{"you": "ann", "sent": r.Header.Get("Authorization")})
		case "/doc":
			reply(map[string]any{"openapi": "3.0.3", "info": map[string]any{"title": "Mail", "version": "1"}, "servers": []any{map[string]any{"url": server.URL}},
				"components": map[string]any{"securitySchemes": map[string]any{"person": map[string]any{"type": "oauth2", "flows": map[string]any{"authorizationCode": map[string]any{
					"authorizationUrl": server.URL + "/authorize", "tokenUrl": server.URL + "/token", "scopes": map[string]any{"read": "Read."}}}}}},
				"paths": map[string]any{"/me": map[string]any{"get": map[string]any{"operationId": "me", "security": []any{map[string]any{"person": []string{"read"}}},
					"responses": map[string]any{"200": map[string]any{"description": "ok"}}}}}})
		}
	}))
	t.Cleanup(server.Close)
	h := newHousehold(t, "TOOLCRIB_VAULT_KEY="+vaultKey(t))
	if err := os.WriteFile(filepath.Join(h.dir, "config.yaml"), []byte("permissions: {allow: [mail__me]}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if added := h.run(t, "", "openapi", "add", "mail", server.URL+"/doc", "--login", "person=me", "--yes"); !strings.Contains(added, "toolcrib openapi login mail") {
		t.Error(added)
	}
	cmd := h.command(t, "", "openapi", "login", "mail")
	var out bytes.Buffer
	cmd.Stdout = &out
	errs, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	for lines := bufio.NewScanner(errs); lines.Scan(); {
		said.WriteString(lines.Text() + "\n")
		if page := strings.TrimSpace(lines.Text()); strings.HasPrefix(page, server.URL+"/authorize") { // as the browser would
			resp, err := http.Get(page) //nolint:noctx // the test ends with it
			if err != nil {
				t.Fatal(err)
			}
			if err := resp.Body.Close(); err != nil || resp.StatusCode != http.StatusOK {
				t.Fatal(resp.Status, err)
			}
		}
	}
	if err := cmd.Wait(); err != nil || !strings.Contains(out.String(), "renewed by itself") {
		t.Fatalf("%v: %s%s", err, out.String(), said.String())
	}
	result := h.run(t, "", "call", "mail__me")
	if !strings.Contains(result, "ann") || len(served) != 1 || served[0] != "Bearer "+access {
		t.Errorf("%s, served %q", result, served)
	}
	// Not in what is printed, not in the journal, not in any other file.
	shown := out.String() + said.String() + result + h.run(t, "", "journal", "export")
	err = filepath.WalkDir(h.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		shown += string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, token := range []string{access, refresh, "code-1"} {
		if strings.Contains(shown, token) {
			t.Errorf("%s can be read", token)
		}
	}
	if forgotten := h.run(t, "", "openapi", "logout", "mail"); !strings.Contains(forgotten, "forgotten") {
		t.Error(forgotten)
	}
	again := h.command(t, "", "call", "mail__me")
	if text, err := again.CombinedOutput(); err == nil || !strings.Contains(string(text), "toolcrib openapi login mail") {
		t.Errorf("%v: %s", err, text)
	}
}
