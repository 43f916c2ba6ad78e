package settings

// Market sets up toolcrib market.
type Market struct {
	Registries map[string]Registry `yaml:"registries" doc:"Where toolcrib market looks for skills, bundles and MCP servers, by a name of your own. toolcrib market registry lists, adds and removes them. Nothing is asked unless you run toolcrib market, or toolcrib hub add with the name of a server."`
}

// Registry is one place that has skills, bundles or servers. A project file that nobody
// trusted has no say in any: what is searched for is sent there.
type Registry struct {
	Type     string `yaml:"type" enum:"agenticx,clawhub,claude,mcp,well-known,index" doc:"What it speaks. agenticx: the registry of AgenticX. clawhub: ClawHub. claude: a marketplace.json of Claude Code, Codex or Cursor. mcp: the API of the MCP registry. well-known: a site with /.well-known/agent-skills/index.json. index: a signed index that toolcrib market index made."`
	URL      string `yaml:"url" doc:"Its address: https, or http on this machine. For claude and index also a directory; for claude also https://github.com/OWNER/REPOSITORY."`
	Key      string `yaml:"key" doc:"The public key that its index is signed with, as ed25519:BASE64. Empty: the key that it had when it was used first. Only index has one."`
	Disabled bool   `yaml:"disabled" doc:"Leave it out of searches."`
}

// DefaultMarket is what a fresh machine looks in: the official registry of MCP servers.
// ClawHub is there and switched off, since anybody may publish there.
func DefaultMarket() Market {
	return Market{Registries: map[string]Registry{
		"mcp":     {Type: "mcp", URL: "https://registry.modelcontextprotocol.io"},
		"clawhub": {Type: "clawhub", URL: "https://clawhub.ai/api", Disabled: true},
	}}
}
