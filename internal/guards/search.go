package guards

import (
	"slices"

	"github.com/toolcrib/toolcrib/httpclient"
	"github.com/toolcrib/toolcrib/internal/policy"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/toolbox/web"
)

// GrantedSearch is the rule that lets searches go unasked whose engine is granted by name:
// who wrote its host into grant.hosts and switched the box on has said yes to it. That
// every host is granted (*) says nothing about this one. Rules that ask or deny
// count over it, and what guards the flow of private data judges as before.
func GrantedSearch(cfg settings.Config) []policy.Layer {
	box := cfg.Toolboxes.Web
	address := web.Address(web.Config{Engine: box.Engine, Endpoint: box.Endpoint})
	named := slices.DeleteFunc(slices.Clone(cfg.Grant.Hosts), func(host string) bool { return host == "*" })
	if !box.Enabled || address == "" || httpclient.CheckHosts(named) != nil || httpclient.NewGate(named, httpclient.Options{}).Check(address) != nil {
		return nil
	}
	return []policy.Layer{{Rank: policy.RankUser, Source: "grant.hosts, which has the search engine", Permissions: policy.Permissions{Allow: []string{"web/web_search"}}}}
}
