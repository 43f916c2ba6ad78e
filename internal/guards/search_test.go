package guards

import (
	"testing"

	"github.com/toolcrib/toolcrib/internal/settings"
)

// TestGrantedSearch: only an engine that is granted by name is searched unasked.
func TestGrantedSearch(t *testing.T) {
	for _, c := range []struct {
		on               bool
		engine, endpoint string
		hosts            []string
		want             bool
	}{
		{true, "duckduckgo", "", []string{"html.duckduckgo.com"}, true},
		{true, "duckduckgo", "", []string{"*.duckduckgo.com"}, true},
		{true, "", "", []string{"html.duckduckgo.com"}, true},
		{true, "searxng", "http://127.0.0.1:8080/search", []string{"127.0.0.1"}, true},
		{true, "duckduckgo", "", []string{"*"}, false},
		{true, "duckduckgo", "", []string{"duckduckgo.com"}, false},
		{true, "duckduckgo", "", nil, false},
		{true, "duckduckgo", "https://other.example/", []string{"html.duckduckgo.com"}, false},
		{true, "brave", "", []string{"html.duckduckgo.com"}, false},
		{true, "searxng", "", []string{"html.duckduckgo.com"}, false},
		{true, "searxng", "http://127.0.0.1:8080/search", []string{"*"}, false},
		{false, "duckduckgo", "", []string{"html.duckduckgo.com"}, false},
	} {
		cfg := settings.Defaults()
		cfg.Toolboxes.Web.Enabled, cfg.Toolboxes.Web.Engine, cfg.Toolboxes.Web.Endpoint, cfg.Grant.Hosts = c.on, c.engine, c.endpoint, c.hosts
		if got := GrantedSearch(cfg) != nil; got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
