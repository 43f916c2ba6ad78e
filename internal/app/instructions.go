package app

import (
	"fmt"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/text"
)

// Instructions tells a model what it has here, so that it need not find out by
// being refused.
func (a *App) Instructions() string {
	var b strings.Builder
	switch dirs := a.Crib.Grant.Dirs; len(dirs) {
	case 0:
		b.WriteString("No directory is granted, so the file tools have nothing to work on.")
	default:
		fmt.Fprintf(&b, "Relative paths begin in %s. Granted directories:", a.Crib.Files.Base)
		for _, d := range dirs {
			how := "to read"
			if d.Write {
				how = "to read and change"
			}
			fmt.Fprintf(&b, " %s (%s);", d.Path, how)
		}
		b.WriteString(" nothing else can be reached, and files with secrets are out of reach.")
	}
	if a.shell != nil {
		b.WriteString(" Commands run in a sandbox with these directories, a private /tmp and a small environment.")
		switch hosts := a.Crib.Grant.Hosts; {
		case len(hosts) == 0:
			b.WriteString(" They have no network.")
		case !slices.Contains(hosts, "*"):
			fmt.Fprintf(&b, " They reach these hosts and no others, over http and https by the proxy that HTTPS_PROXY names: %s.", text.Clip(strings.ReplaceAll(strings.Join(hosts, ", "), "private:", ""), 500))
		}
	}
	b.WriteString(" Some calls have to be approved by a person. If nobody answers in time, the refusal names the question: tell the person how to answer it, and repeat the same call afterwards.")
	return b.String()
}

// serverInstructions are what MCP servers whose tools a caller has tell models.
func (a *App) serverInstructions(caller toolcrib.Caller) string {
	seen := map[string]bool{}
	for spec := range a.Crib.Tools(caller) {
		seen[spec.Box] = true
	}
	return a.Hub.Instructions(seen)
}
