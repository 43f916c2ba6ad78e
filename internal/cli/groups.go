package cli

import (
	"github.com/spf13/cobra"
)

// group sorts the commands for the help page: whoever sees it for the first time looks
// for what they want to do, and not for a letter.
func group(root *cobra.Command) {
	for _, g := range []struct {
		id, title string
		names     []string
	}{
		{"begin", "To begin:", []string{"setup", "doctor", "connect", "tools", "call"}},
		{"see", "What is asked and was done:", []string{"approvals", "remembered", "layers", "journal", "stats", "trash"}},
		{"rules", "What is allowed:", []string{"policy", "config", "secret", "token", "trust", "sandbox"}},
		{"tools", "Tools, servers and skills:", []string{"hub", "openapi", "new", "plugins", "skills", "scripts", "bundle", "market"}},
		{"agents", "Agents of your own:", []string{"chat", "run", "sessions", "models"}},
		{"serve", "Ways in:", []string{"mcp", "serve", "bus", "hook", "service"}},
		{"self", "This program:", []string{"upgrade", "uninstall", "version", "completion", "help"}},
	} {
		root.AddGroup(&cobra.Group{ID: g.id, Title: g.title})
		for _, name := range g.names {
			for _, cmd := range root.Commands() {
				if cmd.Name() == name {
					cmd.GroupID = g.id
				}
			}
		}
	}
	root.SetHelpCommandGroupID("self")
	root.SetCompletionCommandGroupID("self")
}
