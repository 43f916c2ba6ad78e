package cli

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib/internal/mcp/clientfiles"
	"github.com/toolcrib/toolcrib/internal/setup"
)

// ask sends a message to a server and gives the status, and the session.
func (s *site) ask(url, token, session, body string) (status int, began string) {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if session != "" {
		r.Header.Set("Mcp-Session-Id", session)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	return resp.StatusCode, resp.Header.Get("Mcp-Session-Id")
}

// TestTokensOfOthers: a token that is made lets its holder into a server that runs,
// reaches nothing of another's, and opens nothing once it is revoked: from the very
// next request on.
func TestTokensOfOthers(t *testing.T) {
	const (
		begin = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}}`
		ping  = `{"jsonrpc":"2.0","id":2,"method":"ping"}`
	)
	s := newSite(t)
	url := s.serve()
	fresh := func(args ...string) string {
		t.Helper()
		out := s.toolcrib(append([]string{"token", "new"}, args...)...)
		token := regexp.MustCompile(`toolcrib_[A-Z0-9]{40,}`).FindString(out)
		if token == "" {
			t.Fatal(out)
		}
		if found := filesWith(t, homeOf(s), token); found != nil {
			t.Errorf("the token itself is kept in %q", found)
		}
		return token
	}
	ann, bob := fresh("ann", "--profile", "minimal"), fresh("bob")
	if ann == bob {
		t.Fatal("two people have one token")
	}
	status, session := s.ask(url, ann, "", begin)
	if other, _ := s.ask(url, bob, "", begin); status != 200 || other != 200 || session == "" {
		t.Fatalf("%d, %d", status, other)
	}
	if own, _ := s.ask(url, ann, session, ping); own != 200 {
		t.Errorf("ann in her session: %d", own)
	}
	for name, token := range map[string]string{"bob": bob, "the account": strings.TrimSpace(s.toolcrib("token", "show"))} {
		if status, _ := s.ask(url, token, session, ping); status != 404 {
			t.Errorf("%s in ann's session: %d", name, status)
		}
	}
	if list := s.toolcrib("token", "list"); !regexp.MustCompile(`(?m)^ann +minimal `).MatchString(list) || !strings.Contains(list, "bob") || strings.Contains(list, ann) {
		t.Error(list)
	}
	for _, args := range [][]string{{"token", "new", "ann"}, {"token", "new", "eve", "--profile", "none"}, {"token", "new", "eve", "--agent", "none"}, {"token", "new", "a b"}, {"token", "new", "oidc:x"}, {"token", "new", "--profile", "minimal"}, {"token", "revoke", "eve"}} {
		if out, err := s.command(args...).CombinedOutput(); err == nil {
			t.Errorf("%q: %s", args, out)
		}
	}
	s.toolcrib("token", "revoke", "ann")
	if status, _ := s.ask(url, ann, session, ping); status != 401 {
		t.Errorf("ann's token, revoked: %d", status)
	}
	if status, _ := s.ask(url, bob, "", begin); status != 200 {
		t.Errorf("bob's token: %d", status)
	}
	// The name again is another token, and none of what was hers.
	again := fresh("ann")
	if status, _ := s.ask(url, again, session, ping); status != 404 {
		t.Errorf("the session of the token before: %d", status)
	}
	if status, _ := s.ask(url, ann, "", begin); status != 401 {
		t.Errorf("the token before: %d", status)
	}
}

// TestConnectByVariable: a file that only names a variable holds no token, so that
// it may be the project's; of a client that has no variables it is refused. A new
// client has to be put into one of the two.
func TestConnectByVariable(t *testing.T) {
	s := newSite(t)
	const none = "variable"
	refuse := map[string]string{ // and what they say
		clientfiles.AgenticX: none, clientfiles.Continue: none, clientfiles.Junie: none, clientfiles.LMStudio: none, clientfiles.Zed: none,
		clientfiles.ClaudeDesktop: "only programs, no addresses",
	}
	for _, client := range setup.Connectable() {
		args := []string{"connect", client, "--http", "--token-env", "TEAM_TOKEN", "--url", "https://tools.example.com/mcp", "--dry-run"}
		if why := refuse[client]; why != "" {
			if out := s.fails(args...); !strings.Contains(out, why) {
				t.Errorf("%s does not say why: %s", client, out)
			}
			continue
		}
		out, err := s.command(args...).Output()
		if err != nil {
			t.Errorf("%s takes no variable: %v: %s", client, err, s.fails(args...))
			continue
		}
		if client == clientfiles.Goose && strings.Contains(string(out), "Bearer ${TEAM_TOKEN}") {
			continue // it takes its variables from a keyring too, which is how they are read
		}
		servers, problems := (&command{}).codec().Read(client, out)
		if len(servers) != 1 || len(problems) > 0 || servers[0].URL != "https://tools.example.com/mcp" || servers[0].Headers["Authorization"] != "Bearer ${TEAM_TOKEN}" {
			t.Errorf("%s: %+v, %v\n%s", client, servers, problems, out)
		}
	}
	s.toolcrib("connect", clientfiles.ClaudeCode, "--http", "--project", "--token-env", "TEAM_TOKEN")
	if text := s.read(".mcp.json"); !strings.Contains(text, "Bearer ${TEAM_TOKEN}") {
		t.Error(text)
	}
	for _, args := range [][]string{
		{"--url", "https://tools.example.com/mcp"},                              // no --http
		{"--http", "--url", "https://tools.example.com/mcp"},                    // the own token would go to another machine
		{"--http", "--url", "http://tools.example.com/mcp", "--token-env", "T"}, // in the clear
		{"--http", "--token-env", "A-B"},
	} {
		if out := s.fails(append([]string{"connect", "cursor"}, args...)...); !strings.Contains(out, "--") {
			t.Errorf("%q: %s", args, out)
		}
	}
}

// fails runs a command that has to fail, and gives what it says.
func (s *site) fails(args ...string) string {
	s.t.Helper()
	out, err := s.command(args...).CombinedOutput()
	if err == nil {
		s.t.Errorf("%q is done: %s", args, out)
	}
	return string(out)
}
