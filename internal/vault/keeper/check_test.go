package keeper

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/vault"
	"github.com/toolcrib/toolcrib/internal/vault/vaulttest"
)

// TestWanted: the settings name secrets in many places, and what is switched off wants none.
func TestWanted(t *testing.T) {
	cfg := settings.Defaults()
	cfg.MCPServers = map[string]settings.MCPServer{
		"on":  {Command: "x", Env: map[string]string{"K": "a ${secret:of_server}"}, Args: []string{"$${secret:not_one}", "${VAR:-x}"}},
		"off": {Command: "x", Env: map[string]string{"K": "${secret:of_off}"}, Disabled: true},
	}
	cfg.Models = map[string]settings.Model{"m": {Key: "secret:of_model"}, "n": {Key: ""}}
	cfg.OpenAPI = map[string]settings.OpenAPI{"api": {Auth: map[string]settings.OpenAPIAuth{"key": {Secret: "of_api"}}}}
	cfg.Vault.Grants = map[string][]string{"web": {"of_grant", "*"}}
	var names, where []string
	for _, w := range Wanted(cfg) {
		names, where = append(names, w.Name), append(where, w.Where)
	}
	if want := []string{"of_api", "of_grant", "of_model", "of_server"}; !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
	if want := []string{"openapi.api.auth.key", "vault.grants.web", "models.m.key", "mcp_servers.on.env.K"}; !slices.Equal(where, want) {
		t.Errorf("%q, want %q", where, want)
	}
}

// TestCheck: what a tool would not get is known before, and says which command sets it.
func TestCheck(t *testing.T) {
	crib := &toolcrib.Crib{}
	state := t.TempDir()
	from := Source{Env: vaulttest.Env(t)}
	k, err := Open(crib, settings.Vault{Grants: map[string][]string{"web": {"have", "lack"}}}, state, from)
	if err != nil {
		t.Fatal(err)
	}
	if err := k.vault.Set(t.Context(), vault.Ref{Name: "have"}, "a-long-enough-value"); err != nil {
		t.Fatal(err)
	}
	call := toolcrib.Call{Tool: "web_search", Caller: toolcrib.Caller{Subject: "ann"}}
	for _, tt := range []struct {
		name string
		own  bool
		want string
	}{
		{"have", false, ""}, {"have", true, ""}, {"lack", false, "toolcrib secret set lack"}, {"other", true, "toolcrib secret set other"}, {"other", false, "vault.grants.web"},
	} {
		if err := k.Check(t.Context(), call, "web", "web_search", tt.name, tt.own); (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s, own %v: %v", tt.name, tt.own, err)
		}
	}
	if err := k.CheckSetting(t.Context(), "Bearer ${secret:have}"); err != nil {
		t.Error(err)
	}
	if err := k.CheckSetting(t.Context(), "Bearer ${secret:lack}"); err == nil || !strings.Contains(err.Error(), "toolcrib secret set lack") {
		t.Error(err)
	}
	if got := k.Missing(t.Context(), []string{"have", "lack"}); !slices.Equal(got, []string{"lack"}) {
		t.Error(got)
	}
}

// TestRemedySparesTheVault: a vault is set aside where its key is gone, not where the
// keyring cannot be asked, as over ssh.
func TestRemedySparesTheVault(t *testing.T) {
	k, err := Open(&toolcrib.Crib{}, settings.Vault{}, t.TempDir(), Source{Env: func(string) (string, bool) { return "", false }})
	if err != nil {
		t.Fatal(err)
	}
	if fix := k.Remedy(fmt.Errorf("%w: %w", vault.ErrKey, vault.ErrUnread)); fix != "toolcrib secret list" {
		t.Error(fix)
	}
	if fix := k.Remedy(vault.ErrKey); !strings.HasPrefix(fix, "mv ") && !strings.HasPrefix(fix, "move ") {
		t.Error(fix)
	}
}
