package hub

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/toolcrib/toolcrib/internal/mcp/clientfiles"
	"github.com/toolcrib/toolcrib/internal/vault"
)

// TestSecretNames: whatever a server is called in the file of a client, the vault
// takes the names that its secrets are given.
func TestSecretNames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		server := rapid.String().Draw(t, "server")
		_, found := clientfiles.Secrets(clientfiles.Server{Name: server, Env: map[string]string{"API_TOKEN": "s3cret"}}, nil)
		if len(found) != 1 {
			t.Fatalf("%q: %d secrets were found", server, len(found))
		}
		if err := vault.CheckName(found[0].Name); err != nil {
			t.Fatalf("%q became %q: %v", server, found[0].Name, err)
		}
	})
}
