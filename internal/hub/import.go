package hub

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/toolcrib/toolcrib/internal/config"
	"github.com/toolcrib/toolcrib/internal/mcp/clientfiles"
	"github.com/toolcrib/toolcrib/internal/rewrite"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/toolbox/mcphub"
)

// Files is where the settings lie, and those of other clients.
type Files struct {
	Settings  string   // the person's file of settings; empty: nothing is imported
	Home, Dir string   // of the person, and of the project
	Boxes     []string // the names that toolboxes of ours have
}

// Imports takes servers over on behalf of a tool: switched off, since a model
// may have been talked into it, and without secrets, which it would have read.
// Servers are those that there were when this process began.
func (f Files) Imports(servers map[string]settings.MCPServer) mcphub.Imports {
	if f.Settings == "" {
		return nil
	}
	return func(_ context.Context, path string, text []byte) (mcphub.ImportReport, error) {
		report := mcphub.ImportReport{Added: []string{}, Left: []string{}}
		client, ok := clientfiles.Detect(path, text)
		if !ok {
			return report, mcphub.ErrUnknownFile
		}
		codec := clientfiles.Codec{YAML: config.Decode, Home: f.Home, Project: f.Dir, Exists: func(path string) bool {
			info, err := os.Stat(path)
			return err == nil && info.Mode().IsRegular() && filepath.IsAbs(path)
		}}
		found, problems := codec.Read(client, text)
		for _, p := range problems {
			report.Left = append(report.Left, p.String())
		}
		var take []clientfiles.Server
		for _, s := range found {
			_, secrets := clientfiles.Secrets(s, nil)
			_, there := servers[s.Name]
			bad := CheckName(s.Name, f.Boxes)
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
				for _, d := range s.Dropped {
					report.Left = append(report.Left, s.Name+": dropped "+d)
				}
			}
		}
		if len(take) == 0 {
			return report, nil
		}
		var added, late []string
		err := rewrite.File(f.Settings, func(text []byte) ([]byte, error) {
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
