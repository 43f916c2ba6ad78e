package httpauth

import (
	"testing"

	"github.com/toolcrib/toolcrib/internal/settings"
)

// TestKnownKeysAreKept: other settings do not make us forget the keys of an issuer,
// which may be down just now; those of another issuer are not taken for its own.
func TestKnownKeysAreKept(t *testing.T) {
	with := func(change func(*settings.Config)) *settings.Layers {
		cfg := settings.Defaults()
		cfg.Serve.OIDC.Issuer, cfg.Serve.OIDC.Audience = "https://login.example", "tools"
		cfg.Serve.OIDC.Access = []settings.OIDCEntry{{Has: "*"}}
		change(&cfg)
		return &settings.Layers{User: cfg}
	}
	first := with(func(*settings.Config) {})
	before, err := AccessOf(first, first.User, "ann", nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		change func(*settings.Config)
		kept   bool
	}{
		"nothing":  {func(*settings.Config) {}, true},
		"entries":  {func(c *settings.Config) { c.Serve.OIDC.Access[0].Profile = "minimal" }, true},
		"open":     {func(c *settings.Config) { c.Serve.Open = true }, true},
		"issuer":   {func(c *settings.Config) { c.Serve.OIDC.Issuer = "https://other.example" }, false},
		"audience": {func(c *settings.Config) { c.Serve.OIDC.Audience = "other" }, false},
	} {
		l := with(c.change)
		now, err := AccessOf(l, l.User, "ann", before)
		if err != nil {
			t.Fatal(err)
		}
		if kept := now.Issuer.Verifier == before.Issuer.Verifier; kept != c.kept {
			t.Errorf("%s: kept %v", name, kept)
		}
	}
}
