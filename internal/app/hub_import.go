package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/rewrite"

	"github.com/toolcrib/toolcrib/internal/settings"

	"github.com/toolcrib/toolcrib/internal/config"
	"github.com/toolcrib/toolcrib/internal/mcp/clientfiles"
	"github.com/toolcrib/toolcrib/internal/toolname"
	"github.com/toolcrib/toolcrib/toolbox/mcphub"
)

// serverNames is what a server may be called.
var serverNames = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,48}$`)

// CheckServerName refuses what no MCP server can be called here.
func CheckServerName(name string) error {
	switch {
	case !serverNames.MatchString(name) || strings.Contains(name, "__"):
		return fmt.Errorf("%q cannot be the name of a server: take letters, digits, - and single _, 48 at most", name)
	case name == toolname.OwnServer:
		return fmt.Errorf("%q cannot be the name of a server: clients show Toolcrib's own tools by it (mcp__toolcrib__read_file)", name)
	case slices.Contains(ownBoxes(), name) || name == ovosBoxName:
		return fmt.Errorf("%q cannot be the name of a server: a toolbox of Toolcrib's own has it", name)
	}
	return nil
}

// imports takes servers over on behalf of a tool: switched off, since a model
// may have been talked into it, and without secrets, which it would have read.
func (a *App) imports(cfg settings.Config, needs Needs) mcphub.Imports {
	if needs.Settings == "" {
		return nil
	}
	return func(_ context.Context, path string, text []byte) (mcphub.ImportReport, error) {
		report := mcphub.ImportReport{Added: []string{}, Left: []string{}}
		client, ok := clientfiles.Detect(path, text)
		if !ok {
			return report, errors.New("whose file this is cannot be told; a person can say it: toolcrib hub import --from CLIENT FILE")
		}
		codec := clientfiles.Codec{YAML: config.Decode, Home: needs.Home, Project: needs.Dir, Exists: func(path string) bool {
			info, err := os.Stat(path)
			return err == nil && info.Mode().IsRegular() && filepath.IsAbs(path)
		}}
		servers, problems := codec.Read(client, text)
		for _, p := range problems {
			if !p.Skipped {
				report.Left = append(report.Left, p.String())
			}
		}
		var take []clientfiles.Server
		for _, s := range servers {
			_, secrets := clientfiles.Secrets(s, nil)
			_, there := cfg.MCPServers[s.Name]
			bad := CheckServerName(s.Name)
			switch {
			case bad != nil:
				report.Left = append(report.Left, bad.Error())
			case there:
				report.Left = append(report.Left, s.Name+": "+settings.ErrServerThere.Error())
			case len(secrets) > 0:
				report.Left = append(report.Left, s.Name+": a secret is written into its entry; a person takes it over with toolcrib hub import")
			case len(clientfiles.SecretNames(s)) > 0:
				report.Left = append(report.Left, s.Name+": its entry refers to a secret; a person takes it over with toolcrib hub import")
			default:
				s.Disabled = true
				take = append(take, s)
			}
		}
		if len(take) == 0 {
			return report, nil
		}
		var added, late []string
		err := rewrite.File(needs.Settings, func(text []byte) ([]byte, error) {
			for _, s := range take {
				// The file counts, not what was read of it when this process began.
				changed, err := settings.AddServer(text, s.Name, settings.ServerEntry(s))
				if errors.Is(err, settings.ErrServerThere) {
					late = append(late, err.Error())
					continue
				}
				if err != nil {
					return nil, err
				}
				text, added = changed, append(added, s.Name)
			}
			return text, nil
		})
		if err != nil { // it may repeat what stands in the file, which is none of a tool's business
			return report, errors.New("the configuration cannot be changed by a tool: a person has to do it (toolcrib hub import)")
		}
		report.Added = append(report.Added, added...)
		report.Left = append(report.Left, late...)
		return report, nil
	}
}
