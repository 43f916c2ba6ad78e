package cli

import (
	"context"
	"errors"
	"testing"

	"github.com/toolcrib/toolcrib/internal/market"
	"github.com/toolcrib/toolcrib/internal/mcp/clientfiles"
	"github.com/toolcrib/toolcrib/internal/settings"
)

// FuzzNoReferences: whatever a registry writes into a server and its defaults, either it is
// refused, or no secret and no variable of the person's is asked for when it is expanded.
func FuzzNoReferences(f *testing.F) {
	for _, seed := range [][2]string{
		{"${ask:x}", "${secret:s}"}, {"$${ask:x}", "{secret:s}"}, {"${ask:x}secret:s}", "$" + "{"}, {"${ask:-${secret:s}}", ""}, {"$${secret:s}", "x"}, {"a${HOME}", "b"},
		{"$${ask:x}{secret:s}", "$"}, {"${ask:${secret:s}}", ""}, {"plain", "plain"},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, text, fallback string) {
		s := clientfiles.Server{Args: []string{text}, URL: text, Env: map[string]string{"A": text}, Headers: map[string]string{"H": text}}
		fillServer(&s, defaultsOf([]market.Ask{{Name: "x", Default: fallback}}, nil))
		if noReferences(s) != nil {
			return
		}
		for _, out := range append([]string{s.URL, s.Env["A"], s.Headers["H"]}, s.Args...) {
			_, _ = settings.Expand(context.Background(), out, func(name string) (string, bool) {
				if name != "ask" {
					t.Errorf("%q asks for the variable %s", out, name)
				}
				return "", false
			}, func(_ context.Context, name string) (string, error) {
				t.Errorf("%q asks for the secret %s", out, name)
				return "", errors.New("no")
			})
		}
	})
}
