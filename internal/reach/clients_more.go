package reach

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"

	"github.com/toolcrib/toolcrib/internal/mcp/clientfiles"
	"github.com/toolcrib/toolcrib/internal/named"
)

// Some clients keep their servers in the form of another one, in a file that hub
// import does not read.
const (
	scopeMore   = "more"
	scopeStatus = "status" // the line at the foot of Claude Code, a command at every turn
)

func morePlaces(home string) (list []clientfiles.Place) {
	if home == "" {
		return nil
	}
	clients := map[string]string{
		".vscode-server/data/User/mcp.json":          clientfiles.VSCode,
		".vscode-server-insiders/data/User/mcp.json": clientfiles.VSCode,
		".qwen/settings.json":                        clientfiles.ClaudeDesktop,
	}
	for _, path := range slices.Sorted(maps.Keys(clients)) {
		list = append(list, clientfiles.Place{Client: clients[path], Path: filepath.Join(home, filepath.FromSlash(path)), Scope: scopeMore})
	}
	return append(list, clientfiles.Place{Path: filepath.Join(home, ".claude", "settings.json"), Scope: scopeStatus})
}

// clientTitle is how the client of a place is called.
func clientTitle(p clientfiles.Place) string {
	if p.Scope == scopeMore {
		return p.Path
	}
	return clientfiles.Title(p.Client)
}

// statusTaken reads the command of the status line. Hooks are not read: npx in one
// means the project's own tools.
func statusTaken(text []byte) named.Taken {
	var settings struct {
		StatusLine struct{ Command string }
	}
	if json.Unmarshal(text, &settings) != nil || settings.StatusLine.Command == "" {
		return named.Taken{}
	}
	return named.TakenBy("the status line of Claude Code", "sh", []string{"-c", settings.StatusLine.Command + " "}, nil)
}
