package settings

import (
	"path/filepath"
	"strings"
)

// ExpandHome puts a person's home in the place of a leading ~/ wherever a setting is the
// path of a file or a directory of this machine. What other parts expand by themselves is
// the same afterwards.
func (cfg *Config) ExpandHome(home string) {
	if !filepath.IsAbs(home) {
		return
	}
	expand := func(paths ...*string) {
		for _, p := range paths {
			if rest, ok := strings.CutPrefix(*p, "~/"); ok {
				*p = filepath.Join(home, rest)
			}
		}
	}
	boxes := &cfg.Toolboxes
	expand(&cfg.Hub.Plugins, &cfg.Serve.TLS.Cert, &cfg.Serve.TLS.Key, &boxes.Tools.Dir, &boxes.Memory.Dir, &boxes.Code.Python, &boxes.Code.Node)
	for i := range boxes.Skill.Paths {
		expand(&boxes.Skill.Paths[i])
	}
	for name, s := range cfg.MCPServers {
		expand(&s.Command, &s.Cwd)
		cfg.MCPServers[name] = s
	}
	for name, s := range boxes.LSP.Servers {
		expand(&s.Command)
		for i := range s.Read {
			expand(&s.Read[i])
		}
		boxes.LSP.Servers[name] = s
	}
	for name, p := range cfg.Python {
		expand(&p.Python)
		for i := range p.Files {
			expand(&p.Files[i])
		}
		cfg.Python[name] = p
	}
}
