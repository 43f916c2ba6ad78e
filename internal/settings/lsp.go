package settings

import "time"

// LSPBox sets up toolbox/lsp.
type LSPBox struct {
	Enabled      bool                 `yaml:"enabled" project:"off" doc:"Offer this box. Its programs run in the sandbox, with the granted directories to read and without network."`
	Servers      map[string]LSPServer `yaml:"servers" doc:"Language servers, by a name of your own. Under one of the names that are known (gopls, typescript, tsc, pyright, basedpyright, pylsp, rust-analyzer, clangd) only what differs has to be written. Yours are asked before the known ones."`
	IdleTimeout  time.Duration        `yaml:"idle_timeout" project:"lower" min:"1s" max:"24h" doc:"How long a server is kept that nobody asks anything."`
	StartTimeout time.Duration        `yaml:"start_timeout" project:"lower" min:"1s" max:"10m" doc:"How long a server may take to start."`
	MaxServers   int                  `yaml:"max_servers" project:"lower" min:"1" max:"64" doc:"How many run at once. Where one more is needed, that which was asked the longest ago has to go."`
}

// LSPServer is one language server.
type LSPServer struct {
	Disabled   bool              `yaml:"disabled" doc:"Never ask this one."`
	Command    string            `yaml:"command" doc:"Its program: a name that commands find, or a whole path."`
	Args       []string          `yaml:"args" doc:"What it is called with, such as --stdio."`
	Extensions map[string]string `yaml:"extensions" doc:"The extensions of its files, each with the name that the protocol has for the language, such as .vue: vue."`
	Roots      []string          `yaml:"roots" doc:"Names of files at the top of a project, such as Cargo.toml. The first that lies beside a file or above it says where the server works. None: the granted directory."`
	Read       []string          `yaml:"read" doc:"Further directories of this machine that it may read in the linux sandbox, such as ~/go/pkg/mod."`
	Env        map[string]string `yaml:"env" doc:"Variables that it gets besides those that commands have, such as GOMODCACHE."`
	Options    string            `yaml:"options" doc:"What it is handed at its start (initializationOptions), as JSON."`
	Settings   string            `yaml:"settings" doc:"What it is told when it asks for its settings, as JSON: an object by section."`
}

// DefaultLSPBox is that of a fresh machine.
func DefaultLSPBox() LSPBox {
	return LSPBox{IdleTimeout: 10 * time.Minute, StartTimeout: 30 * time.Second, MaxServers: 6}
}
