package app

import "github.com/toolcrib/toolcrib/internal/mcp/clientfiles"

// ServerEntry writes a server as an entry of mcp_servers.
func ServerEntry(s clientfiles.Server) map[string]any {
	e := map[string]any{}
	put := func(key string, value any, set bool) {
		if set {
			e[key] = value
		}
	}
	put("command", s.Command, s.Command != "")
	put("args", s.Args, len(s.Args) > 0)
	put("env", s.Env, len(s.Env) > 0)
	put("cwd", s.Cwd, s.Cwd != "")
	put("url", s.URL, s.URL != "")
	put("transport", s.Transport, s.Transport == clientfiles.SSE || s.Transport == clientfiles.HTTP)
	put("headers", s.Headers, len(s.Headers) > 0)
	put("timeout", s.Timeout.String(), s.Timeout > 0)
	put("enabled_tools", s.EnabledTools, len(s.EnabledTools) > 0)
	put("disabled_tools", s.DisabledTools, len(s.DisabledTools) > 0)
	put("assign_to_agents", s.Agents, len(s.Agents) > 0)
	put("disabled", true, s.Disabled)
	return e
}
