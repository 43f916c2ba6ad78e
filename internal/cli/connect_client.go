package cli

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/mcp/clientfiles"
)

// connectable are the clients that have a place for servers.
func connectable() []string {
	return slices.DeleteFunc(clientfiles.Clients(), func(name string) bool { return name == clientfiles.AgentPlugins })
}

// nearClients names the clients that a name may be meant for: the program of Claude
// Code is called claude.
func nearClients(name string) string {
	near := slices.DeleteFunc(connectable(), func(known string) bool { return name == "" || !strings.HasPrefix(known, name+"-") })
	if len(near) == 0 {
		return ""
	}
	return " (did you mean " + strings.Join(near, " or ") + "?)"
}

// ownQuestions says how a client that asks before each tool itself leaves that to
// Toolcrib. It is said and not done: to be asked less is for the person to decide.
func ownQuestions(client string) string {
	how := ""
	switch client {
	case clientfiles.ClaudeCode:
		how = `allow "mcp__toolcrib" in its settings (/permissions)`
	case clientfiles.Codex:
		how = `put default_tools_approval_mode = "approve" below [mcp_servers.toolcrib]; without it 'codex exec' refuses what it would ask about`
	case clientfiles.Gemini:
		how = `put "trust": true into the entry`
	default:
		return ""
	}
	return "It asks you before it uses a tool, and then Toolcrib asks by its own rules. To be asked by Toolcrib alone, " + how + "."
}

// clientFile is the file of a client: the first that is there, or where a new
// one goes.
func (c *command) clientFile(client string, project bool) (string, error) {
	scope, dir := clientfiles.ScopeUser, ""
	if project {
		scope, dir = clientfiles.ScopeProject, c.dir
	}
	first := ""
	for _, p := range clientfiles.Places(runtime.GOOS, c.home(), c.getenv, dir) {
		if p.Client != client || p.Scope != scope {
			continue
		}
		if p.Dir { // a server has a file of its own there
			return filepath.Join(p.Path, connectName+".json"), nil
		}
		if _, err := os.Stat(p.Path); err == nil {
			return p.Path, nil
		}
		if first == "" {
			first = p.Path
		}
	}
	if first == "" {
		return "", usagef("%s has no %s file that is known", clientfiles.Title(client), scope)
	}
	return first, nil
}
