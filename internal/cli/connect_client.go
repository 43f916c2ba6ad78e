package cli

import (
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/mcp/clientfiles"
	"github.com/toolcrib/toolcrib/internal/setup"
)

// nearClients names the clients that a name may be meant for: the program of Claude
// Code is called claude.
func nearClients(name string) string {
	near := slices.DeleteFunc(setup.Connectable(), func(known string) bool { return name == "" || !strings.HasPrefix(known, name+"-") })
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

// clientFile is the file of a client.
func (c *command) clientFile(client string, project bool) (string, error) {
	dir := ""
	if project {
		dir = c.dir
	}
	file, err := c.machine().ClientFile(client, dir)
	if err != nil {
		return "", usage(err)
	}
	return file, nil
}
