package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	"github.com/toolcrib/toolcrib/internal/config"
	"github.com/toolcrib/toolcrib/internal/mcpconf"
	"github.com/toolcrib/toolcrib/toolbox/mcphub"
)

// serverNames is what a server may be called.
var serverNames = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,48}$`)

// imports takes servers over on behalf of a tool: switched off, since a model
// may have been talked into it, and without secrets, which it would have read.
func (a *App) imports(cfg Config, needs Needs) mcphub.Imports {
	if needs.Settings == "" {
		return nil
	}
	return func(_ context.Context, path string, text []byte) (mcphub.ImportReport, error) {
		report := mcphub.ImportReport{Added: []string{}, Left: []string{}}
		client, ok := mcpconf.Detect(path, text)
		if !ok {
			return report, errors.New("whose file this is cannot be told; a person can say it: toolcrib hub import --from CLIENT FILE")
		}
		codec := mcpconf.Codec{YAML: config.Decode, Home: needs.Home, Project: needs.Dir, Exists: func(path string) bool {
			info, err := os.Stat(path)
			return err == nil && info.Mode().IsRegular() && filepath.IsAbs(path)
		}}
		servers, problems := codec.Read(client, text)
		for _, p := range problems {
			if !p.Skipped {
				report.Left = append(report.Left, p.String())
			}
		}
		var take []mcpconf.Server
		for _, s := range servers {
			_, secrets := mcpconf.Secrets(s, nil)
			_, there := cfg.MCPServers[s.Name]
			switch {
			case !serverNames.MatchString(s.Name):
				report.Left = append(report.Left, fmt.Sprintf("%q cannot be the name of a server here", s.Name))
			case there:
				report.Left = append(report.Left, s.Name+": there is a server of this name already")
			case len(secrets) > 0:
				report.Left = append(report.Left, s.Name+": a secret is written into its entry; a person takes it over with toolcrib hub import")
			default:
				s.Disabled = true
				take = append(take, s)
			}
		}
		if len(take) == 0 {
			return report, nil
		}
		err := RewriteFile(needs.Settings, func(text []byte) ([]byte, error) {
			for _, s := range take {
				var err error
				if text, err = config.SetEntry(text, "mcp_servers", s.Name, ServerEntry(s)); err != nil {
					return nil, err
				}
			}
			return text, nil
		})
		if err != nil {
			return report, errors.New("the configuration cannot be changed by a tool: a person has to do it (toolcrib hub import)")
		}
		for _, s := range take {
			report.Added = append(report.Added, s.Name)
		}
		return report, nil
	}
}
