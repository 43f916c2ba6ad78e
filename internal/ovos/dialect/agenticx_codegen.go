package dialect

import (
	"strings"

	"github.com/toolcrib/toolcrib"
)

// AgenticX' codegen writes one file and says where. It writes over a file that output_path names without a word, also where
// the path can only be read, and runs nothing of what it wrote. Here the path is judged as that of a write, the person sees the
// difference, and what does not pass its check is not written.

type codegenArgs struct {
	Description string `json:"description"`
	Target      string `json:"target,omitempty"`
	OutputPath  string `json:"output_path,omitempty"`
}

func agenticxCodegen() agenticxTool {
	return agenticxTool{
		box: "codegen", native: "codegen", name: "codegen",
		doc: "Generate a tool, a skill, an agent or a workflow from a description. It is checked before it is written.",
		args: []parameter{
			{name: "description", typ: "string", doc: "What it is to do.", required: true},
			{name: "target", typ: "string", doc: "What to write: agent, workflow, tool or skill. Left out: what the description speaks of."},
			{name: "output_path", typ: "string", doc: "The file to write. Left out: one is proposed."},
		},
		in: translated(codegenArgsIn), answer: answered(codegenArgsOut),
	}
}

func codegenArgsIn(given codegenArgs) (any, error) {
	in := codegenArgs{strings.TrimSpace(given.Description), strings.ToLower(strings.TrimSpace(given.Target)), strings.TrimSpace(given.OutputPath)}
	if in.Description == "" {
		return nil, told(toolcrib.CodeInvalid, "codegen", "description is required")
	}
	switch in.Target {
	case "", "agent", "workflow", "tool", "skill":
		return in, nil
	}
	return nil, told(toolcrib.CodeInvalid, "codegen", "code generation failed: target must be agent, workflow, tool or skill")
}

type nativeGenerated struct {
	Files []struct {
		Path string `json:"path"`
	} `json:"files"`
	Next string `json:"next"`
}

func codegenArgsOut(_ codegenArgs, out *nativeGenerated, failed string) (*toolcrib.Result, error) {
	if out == nil || len(out.Files) == 0 {
		return agenticxFailed(failed), nil
	}
	var paths []string
	for _, f := range out.Files {
		paths = append(paths, f.Path)
	}
	return toolcrib.Text("OK: generated " + strings.Join(paths, "\nand ") + "\n" + out.Next), nil
}
