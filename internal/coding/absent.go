package coding

import (
	"slices"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/toolbox/code"
	"github.com/toolcrib/toolcrib/toolbox/codegen"
	"github.com/toolcrib/toolcrib/toolbox/codemode"
	"github.com/toolcrib/toolcrib/toolbox/lsp"
	"github.com/toolcrib/toolcrib/toolbox/saved"
)

// Names are the tools that a box may have, and their group.
type Names struct {
	Group string
	Tools []string
}

// Known are the tools of these boxes, for who has to know them and opens none. Scripts
// that were kept are not among them.
func Known() map[string]Names {
	return map[string]Names{
		code.Name:     {code.Group, code.ToolNames()},
		codegen.Name:  {codegen.Name, []string{codegen.Codegen, codegen.InstallTool}},
		codemode.Name: {codemode.Group, []string{codemode.RunScript}},
		lsp.Name:      {lsp.Group, lsp.ToolNames()},
		saved.Name:    {saved.Group, []string{saved.SaveTool}},
	}
}

// Absent says of tools that are switched off how one gets them.
func Absent(cfg settings.Config, why map[string]string) {
	boxes := cfg.Toolboxes
	known := Known()
	off := func(box, what, setting string) {
		for _, tool := range known[box].Tools {
			why[tool] = what + " switched off; " + setting + ": true in the configuration switches it on"
		}
	}
	if !boxes.Code.Enabled {
		off(code.Name, "running code is", "toolboxes.code.enabled")
	}
	if !boxes.Codegen.Enabled {
		off(codegen.Name, "generating tools, skills, agents and workflows is", "toolboxes.codegen.enabled")
	}
	if !boxes.LSP.Enabled {
		off(lsp.Name, "asking language servers is", "toolboxes.lsp.enabled")
	}
	switch {
	case !boxes.Codemode.Enabled:
		off(codemode.Name, "code mode is", "toolboxes.codemode.enabled")
		off(saved.Name, "code mode is", "toolboxes.codemode.enabled")
	case !boxes.Codemode.Saved:
		off(saved.Name, "keeping scripts is", "toolboxes.codemode.saved")
	}
}

// reportAbsent says which of these boxes are switched on and have no tools, and why.
func reportAbsent(boxes []toolcrib.Toolbox) (out []Finding) {
	known := Known()
	for _, box := range boxes {
		b, ok := box.(interface {
			Absent() (string, map[string]string)
		})
		if !ok {
			continue
		}
		_, why := b.Absent()
		for _, tool := range known[box.Name()].Tools {
			detail := "switched on, and has no tools: " + why[tool]
			said := slices.ContainsFunc(out, func(f Finding) bool { return f.Detail == detail }) // scripts and saved ones lack the same
			if why[tool] != "" && !said {
				out = append(out, Finding{Check: box.Name(), Warning: true, Detail: detail})
			}
		}
	}
	return out
}
