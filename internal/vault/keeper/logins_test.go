package keeper

import (
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/vault"
	"github.com/toolcrib/toolcrib/internal/vault/vaulttest"
)

// storedLogin is a login as the hub writes it; TestTheFormOfALogin of its package
// oauth has the same text.
const storedLogin = `{"v":1,"url":"https://mcp.example/mcp","grants":[{"issuer":"https://id.example","resource":"https://mcp.example/mcp",` +
	`"client":{"id":"public-id","secret":"client-s3cret-Qx","method":"none","from":"registered","manage":"https://id.example/reg/1","registration_access_token":"manage-s3cret-Wy"},` +
	`"token_endpoint":"https://id.example/token","access":"access-s3cret-Ez","refresh":"refresh-s3cret-Rt","asked":["read"],"granted":["read"]}],"wanted":["write"]}`

// TestTokensOfALoginAreRedacted one by one, and nothing else of it.
func TestTokensOfALoginAreRedacted(t *testing.T) {
	state, from := t.TempDir(), Source{Env: vaulttest.Env(t)}
	k, err := Open(&toolcrib.Crib{Log: slog.New(slog.DiscardHandler)}, settings.Defaults().Vault, state, from)
	if err != nil {
		t.Fatal(err)
	}
	vaulttest.Fill(t, Dir(state), from.Env, map[vault.Ref]string{{Name: "mcp-oauth.x"}: storedLogin, {Name: "openapi-oauth.x.y"}: strings.ReplaceAll(storedLogin, "-s3cret-", "-of-api-"), {Name: "mcp-oauth.broken"}: `{"grants":`, {Name: "other"}: `{"grants":[{"access":"not-a-login"}]}`})
	for _, secret := range []string{"client-s3cret-Qx", "manage-s3cret-Wy", "access-s3cret-Ez", "refresh-s3cret-Rt", "access-of-api-Ez", "refresh-of-api-Rt"} {
		for _, around := range []string{"%s", "Bearer %s", "https://x.example/?t=%s&u=1", "[%s]", strings.ToUpper("%s")} {
			text, err := json.Marshal(strings.Replace(around, "%s", secret, 1))
			if err != nil {
				t.Fatal(err)
			}
			if out, known := k.Hide(text); !known || strings.Contains(string(out), secret) {
				t.Errorf("%s: %s", around, out)
			}
		}
	}
	for _, plain := range []string{"public-id", "https://id.example", "read", "not-a-login", "registered"} {
		if out, _ := k.Hide(json.RawMessage(`"` + plain + `"`)); string(out) != `"`+plain+`"` {
			t.Errorf("%s became %s", plain, out)
		}
	}
}

// FuzzLoginSecrets: whatever lies in the vault, it is read or passed over.
func FuzzLoginSecrets(f *testing.F) {
	f.Add("mcp-oauth.x", storedLogin)
	f.Add("mcp-oauth.x", `{"grants":[{"access":1}]}`)
	f.Add("x", storedLogin)
	f.Fuzz(func(t *testing.T, name, value string) {
		if slices.Contains(loginSecrets(name, value), "") {
			t.Error("the empty text is a secret")
		}
	})
}
