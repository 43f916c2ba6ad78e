package settings

import (
	"cmp"
	"path/filepath"
	"strings"
)

// ToolsBox sets up the tools that files declare.
type ToolsBox struct {
	Enabled bool   `yaml:"enabled" project:"off" doc:"Offer the tools of your own folder: NAME.yaml, and scripts with a header that begins with # toolcrib:."`
	Dir     string `yaml:"dir" doc:"The folder. Empty: tools, beside your configuration file. It must lie where tools cannot write."`
	Project bool   `yaml:"project" project:"off" doc:"Offer those of the project too, in .toolcrib/tools. Each counts once you have trusted its content (toolcrib trust)."`
}

// DefaultToolsBox is that of a fresh machine.
func DefaultToolsBox() ToolsBox { return ToolsBox{Enabled: true, Project: true} }

// Folder is where the person's own tools lie; empty: nowhere. It is never in a working directory, which may be anybody's.
func (b ToolsBox) Folder(settingsDir, home string) string {
	dir := cmp.Or(b.Dir, "tools")
	if rest, ok := strings.CutPrefix(dir, "~/"); ok && home != "" {
		dir = filepath.Join(home, rest)
	}
	switch {
	case filepath.IsAbs(dir):
		return filepath.Clean(dir)
	case settingsDir == "":
		return ""
	}
	return filepath.Join(settingsDir, dir)
}
