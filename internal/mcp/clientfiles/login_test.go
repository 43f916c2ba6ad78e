package clientfiles

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestReadLogins: how one logs in is taken over from the forms that clients
// document, and what is not is named.
func TestReadLogins(t *testing.T) {
	remote := func(entry string) string { return `{"mcpServers":{"a":{"url":"https://a.example/mcp",` + entry + `}}}` }
	tests := []struct {
		client, text string
		want         Login
		said         string // a part of what is noted or dropped; "": nothing is
	}{
		{ClaudeCode, remote(`"type":"http","oauth":{"clientId":"id","callbackPort":8080,"scopes":"read write:all"}`),
			Login{ClientID: "id", RedirectURL: "http://localhost:8080/callback", Scopes: []string{"read", "write:all"}}, ""},
		{ClaudeCode, remote(`"type":"http","oauth":{"clientId":"id"}`), Login{ClientID: "id"}, "registered for the redirect address of Claude Code"},
		{ClaudeCode, remote(`"type":"http","oauth":{"authServerMetadataUrl":"https://i.example/t/.well-known/openid-configuration"}`), Login{Issuer: "https://i.example/t"}, ""},
		{ClaudeCode, remote(`"type":"http","oauth":{"authServerMetadataUrl":"https://i.example/.well-known/oauth-authorization-server/t"}`), Login{Issuer: "https://i.example/t"}, ""},
		{ClaudeCode, remote(`"type":"http","oauth":{"authServerMetadataUrl":"http://i.example/x"}`), Login{}, "oauth.authServerMetadataUrl: it is no address of an issuer"},
		{ClaudeCode, remote(`"type":"http","oauth":{"callbackPort":70000}`), Login{}, "oauth.callbackPort: it is no port"},
		{ClaudeCode, remote(`"type":"http","oauth":{}`), Login{}, ""},
		{Codex, "mcp_oauth_callback_port = 4321\n[mcp_servers.a]\nurl='https://a.example/mcp'\nscopes=['r','w']\n", Login{RedirectPort: 4321, Scopes: []string{"r", "w"}}, ""},
		{Codex, "mcp_oauth_callback_url = 'https://devbox.example/cb'\n[mcp_servers.a]\nurl='https://a.example/mcp'\n", Login{}, "mcp_oauth_callback_url: the login page answers over http to this machine only"},
		{Codex, "mcp_oauth_callback_url = 'http://localhost:5/cb'\nmcp_oauth_callback_port = 6\n[mcp_servers.a]\nurl='https://a.example/mcp'\n", Login{RedirectURL: "http://localhost:5/cb"}, ""},
		{Codex, "[mcp_servers.a]\nurl='https://a.example/mcp'\noauth_resource='https://r.example'\n", Login{}, "oauth_resource: it is about logging in"},
		{Codex, "[mcp_servers.a]\nurl='https://a.example/mcp'\noauth={client_id='id'}\n", Login{ClientID: "id"}, "redirect address of Codex"},
		{Cursor, remote(`"auth":{"CLIENT_ID":"id","CLIENT_SECRET":"${env:S}","scopes":["r","w"]}`), Login{ClientID: "id", ClientSecret: "${S}", Scopes: []string{"r", "w"}}, "redirect address of Cursor"},
		{VSCode, `{"servers":{"a":{"type":"http","url":"https://a.example/mcp","oauth":{"clientId":"id"}}}}`, Login{ClientID: "id"}, "redirect address of"},
		{Gemini, `{"mcpServers":{"a":{"httpUrl":"https://a.example/mcp","oauth":{"enabled":true,"clientId":"id","clientSecret":"sesame","redirectUri":"http://localhost:7777/oauth/callback","scopes":["r"],"tokenUrl":"https://i.example/t"}}}}`,
			Login{ClientID: "id", ClientSecret: "sesame", RedirectURL: "http://localhost:7777/oauth/callback", Scopes: []string{"r"}}, "oauth.tokenUrl: where one logs in"},
		{Gemini, `{"mcpServers":{"a":{"httpUrl":"https://a.example/mcp","oauth":{"audiences":["x"],"tokenParamName":"t","colour":"red"}}}}`, Login{}, "oauth.colour: it is not known here"},
		{Gemini, `{"mcpServers":{"a":{"httpUrl":"https://a.example/mcp","oauth":{"enabled":false,"clientId":"id"}}}}`, Login{Off: true}, ""},
		{OpenCode, `{"mcp":{"a":{"type":"remote","url":"https://a.example/mcp","oauth":{"clientId":"{env:ID}","clientSecret":"{env:S}","scope":"r w","callbackPort":9}}}}`,
			Login{ClientID: "${ID}", ClientSecret: "${S}", Scopes: []string{"r", "w"}, RedirectURL: "http://127.0.0.1:9/mcp/oauth/callback"}, ""},
		{OpenCode, `{"mcp":{"a":{"type":"remote","url":"https://a.example/mcp","oauth":false}}}`, Login{Off: true}, ""},
		{Kiro, remote(`"oauthScopes":["r"],"oauth":{"redirectUri":"127.0.0.1:8080"}`), Login{Scopes: []string{"r"}, RedirectPort: 8080}, ""},
		{CopilotCLI, remote(`"type":"http","oauthClientId":"id","oauthPublicClient":true`), Login{ClientID: "id"}, "a client without a secret is a public one"},
		{Cursor, remote(`"auth":{"CLIENT_SECRET":"sesame"}`), Login{}, "there is no client ID"},
		{Cursor, remote(`"oauth":{"redirectUri":"http://169.254.169.254:80/x"}`), Login{}, "oauth.redirectUri: the login page answers"},
		{Cursor, remote(`"oauth":{"redirectUri":"javascript:alert(1)"}`), Login{}, "oauth.redirectUri: the login page answers"},
		{Cursor, remote(`"oauth":{"scopes":["a\"b"]}`), Login{}, "a scope is one word of plain ASCII"},
		{Cursor, remote(`"oauth":{"scopes":7,"clientId":[1]}`), Login{}, "oauth.clientId: it is a list"},
	}
	for _, tt := range tests {
		servers, problems := yamlCodec().Read(tt.client, []byte(tt.text))
		if len(servers) != 1 {
			t.Errorf("%s %s: %d servers; %v", tt.client, tt.text, len(servers), problems)
			continue
		}
		s := servers[0]
		if diff := cmp.Diff(tt.want, s.OAuth); diff != "" {
			t.Errorf("%s %s: (-want +got)\n%s", tt.client, tt.text, diff)
		}
		said := strings.Join(append(s.Notes, s.Dropped...), "\n")
		if (tt.said == "") != (said == "") || !strings.Contains(said, tt.said) {
			t.Errorf("%s %s: it says %q, want %q in it", tt.client, tt.text, said, tt.said)
		}
		if strings.Contains(said, "sesame") {
			t.Errorf("%s: a secret is told: %s", tt.client, said)
		}
	}
}

// TestTheSecretOfAClient goes to the vault, whatever it looks like.
func TestTheSecretOfAClient(t *testing.T) {
	s := Server{Name: "a", URL: "https://a.example", OAuth: Login{ClientID: "id", ClientSecret: "plain"}}
	moved, found := Secrets(s, nil)
	if len(found) != 1 || found[0].Value != "plain" || moved.OAuth.ClientSecret != "${secret:"+found[0].Name+"}" || moved.OAuth.ClientID != "id" {
		t.Errorf("%+v, %+v", moved.OAuth, found)
	}
	s.OAuth.ClientSecret = "${S}"
	if moved, found := Secrets(s, nil); len(found) != 0 || moved.OAuth.ClientSecret != "${S}" {
		t.Errorf("%+v, %+v", moved.OAuth, found)
	}
}

// TestLoginsOfTwoFiles: what one of them narrows holds.
func TestLoginsOfTwoFiles(t *testing.T) {
	one := Server{OAuth: Login{ClientID: "id", Scopes: []string{"r", "w"}}}
	for name, tt := range map[string]struct {
		a, b, want Login
		keys       int
	}{
		"more in one":    {one.OAuth, Login{}, one.OAuth, 0},
		"more in other":  {Login{}, one.OAuth, one.OAuth, 1},
		"fewer scopes":   {one.OAuth, Login{Scopes: []string{"w"}}, Login{ClientID: "id", Scopes: []string{"w"}}, 1},
		"switched off":   {one.OAuth, Login{Off: true}, Login{ClientID: "id", Scopes: []string{"r", "w"}, Off: true}, 1},
		"nothing common": {one.OAuth, Login{Scopes: []string{"x"}}, one.OAuth, 0},
	} {
		got, keys := Server{OAuth: tt.a}.Narrowed(Server{OAuth: tt.b})
		if diff := cmp.Diff(tt.want, got.OAuth); diff != "" || len(keys) != tt.keys {
			t.Errorf("%s: %s %v", name, diff, keys)
		}
	}
}
