package coding

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/toolbox/lsp"
)

// Finding is something that a person who asks how things are is told.
type Finding struct {
	Check   string
	Warning bool
	Detail  string
	Fix     string // empty: nothing is to be done
}

// Report says what there is here for people who program. The boxes are those that were
// opened.
func Report(ctx context.Context, cfg settings.Config, n Needs, boxes []toolcrib.Toolbox) []Finding {
	out := reportAbsent(boxes)
	for _, f := range reportLSP(ctx, cfg.Toolboxes.LSP, n) {
		said := slices.ContainsFunc(out, func(o Finding) bool { return o.Check == f.Check && o.Warning && f.Warning })
		if !said {
			out = append(out, f)
		}
	}
	return out
}

// reportLSP says which language servers are installed, and which are wanted.
func reportLSP(ctx context.Context, cfg settings.LSPBox, n Needs) []Finding {
	const check = "lsp"
	found, err := LanguageServers(ctx, cfg, n)
	if err != nil {
		return []Finding{{check, true, err.Error(), "mend it in your configuration"}}
	}
	var there, wanted, missing []string
	served := map[string]bool{}
	for _, f := range found {
		if f.Path != "" {
			for _, l := range f.Languages {
				served[l] = true
			}
		}
	}
	for _, f := range found {
		switch {
		case f.Path != "" && len(f.Languages) > 0:
			wanted = append(wanted, fmt.Sprintf("%s for %s", f.Name, strings.Join(f.Languages, ", ")))
		case f.Path != "":
			there = append(there, f.Name)
		case lacks(f, served):
			missing = append(missing, f.Command)
			for _, l := range f.Languages { // one of several would do
				served[l] = true
			}
		}
	}
	detail := "the files here are for: " + strings.Join(wanted, "; ")
	if len(wanted) == 0 {
		detail = "no language server is installed for the files here"
	}
	if len(there) > 0 {
		detail += "; also installed: " + strings.Join(there, ", ")
	}
	if !cfg.Enabled {
		if len(wanted) == 0 {
			return nil
		}
		return []Finding{{check, false, "off; " + detail, "toolboxes.lsp.enabled: true gives agents definitions, references and errors"}}
	}
	out := []Finding{{Check: check, Warning: len(wanted)+len(there) == 0, Detail: detail}}
	if len(missing) > 0 {
		out = append(out, Finding{check, false, "files here have no language server that commands find: " + strings.Join(missing, ", "),
			"install it, and name its directory under sandbox.toolchains or its path under toolboxes.lsp.servers"})
	}
	return out
}

// lacks: nothing that is installed is for the files that this one is for.
func lacks(f lsp.Found, served map[string]bool) bool {
	for _, l := range f.Languages {
		if !served[l] {
			return true
		}
	}
	return false
}
