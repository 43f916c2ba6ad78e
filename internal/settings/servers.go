package settings

import (
	"errors"
	"fmt"

	"github.com/toolcrib/toolcrib/internal/config"
	"github.com/toolcrib/toolcrib/internal/mcp/clientfiles"
)

// ErrServerThere says that a server cannot be added, since one of its name is
// in the file by now.
var ErrServerThere = errors.New("there is a server of this name already")

// AddServer writes a server into the text of a file of settings. One that is
// there is never overwritten: it is a person's.
func AddServer(text []byte, name string, entry map[string]any) ([]byte, error) {
	_, there, err := config.Entry(text, "mcp_servers", name)
	if err != nil {
		return nil, err
	}
	if there {
		return nil, fmt.Errorf("%s: %w", name, ErrServerThere)
	}
	return config.SetEntry(text, "mcp_servers", name, entry)
}

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
	put("oauth", loginEntry(s.OAuth), !s.OAuth.IsZero())
	put("timeout", s.Timeout.String(), s.Timeout > 0)
	put("enabled_tools", s.EnabledTools, len(s.EnabledTools) > 0)
	put("disabled_tools", s.DisabledTools, len(s.DisabledTools) > 0)
	put("assign_to_agents", s.Agents, len(s.Agents) > 0)
	put("disabled", true, s.Disabled)
	return e
}

// loginEntry writes how one logs in to a server.
func loginEntry(l clientfiles.Login) map[string]any {
	e := map[string]any{}
	for key, text := range map[string]string{"client_id": l.ClientID, "client_secret": l.ClientSecret, "issuer": l.Issuer, "redirect_url": l.RedirectURL} {
		if text != "" {
			e[key] = text
		}
	}
	if len(l.Scopes) > 0 {
		e["scopes"] = l.Scopes
	}
	if l.RedirectPort > 0 {
		e["redirect_port"] = l.RedirectPort
	}
	if l.Off {
		e["flow"] = "off"
	}
	return e
}
