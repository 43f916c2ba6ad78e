package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/service"
	"github.com/toolcrib/toolcrib/internal/setup"
)

// clientFindings looks at the files of other clients: which of them start
// Toolcrib, whether that is there, and what they start round it.
func clientFindings(s *setup.Survey) (out []finding) {
	var connected, gone, round []string
	for _, t := range s.Ours {
		name := t.Server.Source
		if cmd := t.Server.Command; filepath.IsAbs(cmd) {
			if info, err := os.Stat(cmd); err != nil || info.IsDir() {
				gone = append(gone, name)
				out = append(out, finding{"clients", "problem", fmt.Sprintf("%s starts %s, which is not there (%s)", name, cmd, t.File), "toolcrib connect " + name})
				continue
			}
		}
		connected = append(connected, name)
	}
	for _, t := range s.Servers {
		if !t.Server.Disabled && !t.Project {
			round = append(round, fmt.Sprintf("%s (%s)", t.Server.Name, t.Server.Source))
		}
	}
	slices.Sort(connected)
	connected = slices.Compact(connected)
	switch {
	case len(connected) > 0:
		out = append(out, finding{"clients", "ok", "Toolcrib is in " + strings.Join(connected, ", "), ""})
	case len(s.Files) > 0 && len(gone) == 0:
		out = append(out, finding{"clients", "ok", "no client on this machine starts Toolcrib: 'toolcrib setup' connects them", ""})
	}
	if len(round) > 0 {
		slices.Sort(round)
		if more := len(round) - 5; more > 0 {
			round = append(round[:5], fmt.Sprintf("%d more", more))
		}
		out = append(out, finding{"clients", "warning", "these servers are started round Toolcrib, so no rule judges and no journal records what they do: " + strings.Join(round, ", "), "toolcrib setup"})
	}
	return out
}

// serviceFindings looks at the services that are installed.
func (c *command) serviceFindings(ctx context.Context) (out []finding) {
	for _, name := range serviceNames() {
		u, err := c.serviceUnit(name)
		if err != nil {
			continue // that it cannot be installed is no fault of this machine
		}
		s, err := service.Status(ctx, c.serviceNeeds(), u)
		if err == nil && s.Installed {
			out = append(out, serviceFinding(name, s))
		}
	}
	return out
}

func serviceFinding(name string, s service.State) finding {
	f := finding{Check: "service", Status: "ok", Detail: s.Service + " runs"}
	install := "toolcrib service install " + name
	switch {
	case !s.Manager:
		f.Status, f.Detail, f.Fix = "warning", s.Service+" is installed; "+s.Detail, lingerFix()
	case !s.Running:
		f.Status, f.Detail, f.Fix = "problem", s.Service+" is installed and does not run", install
	case s.Ours && len(s.Differs) > 0:
		f.Status, f.Detail, f.Fix = "warning", s.Service+" runs with other settings than it would be installed with now", install
	}
	return f
}

// lingerFix has the manager of this account's services run also while nobody is logged in.
func lingerFix() string {
	if runtime.GOOS == "linux" {
		return "loginctl enable-linger"
	}
	return ""
}
