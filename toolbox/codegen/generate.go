package codegen

import (
	"context"
	_ "embed" // the description
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/scaffold"
)

//go:embed codegen.md
var codegenText string

type codegenIn struct {
	Description string   `json:"description" minlen:"1" maxlen:"8000" doc:"What it is to do, in words: inputs, output, and an example."`
	Target      string   `json:"target,omitempty" enum:"agent,workflow,tool,skill" doc:"What to write. Left out: what the description speaks of."`
	Language    string   `json:"language,omitempty" enum:"sh,python,javascript,go" doc:"Of a tool. Left out: by output_path or the description, else python."`
	Name        string   `json:"name,omitempty" maxlen:"48" doc:"What it is called. Left out: made from output_path or the description."`
	OutputPath  string   `json:"output_path,omitempty" maxlen:"4096" doc:"The file or the directory to write to. Left out: tools/NAME, .agents/skills/NAME, agents or workflows."`
	Read        []string `json:"read,omitempty" doc:"Directories that the tool may read. Left out: none."`
	Write       []string `json:"write,omitempty" doc:"Directories that the tool may change. Left out: none."`
	Hosts       []string `json:"hosts,omitempty" doc:"Hosts that the tool may reach. Left out: none."`
	Install     bool     `json:"install,omitempty" doc:"Put a tool into the person's own tools, after the person has seen it, so that it can be called at once."`
}

type codegenOut struct {
	Target   string        `json:"target" doc:"What was written."`
	Name     string        `json:"name" doc:"What it is called."`
	Language string        `json:"language,omitempty" doc:"Of a tool."`
	Files    []writtenFile `json:"files" doc:"The files that were written."`
	Checks   []string      `json:"checks" doc:"What it passed before it was written."`
	Filled   bool          `json:"filled" doc:"A model filled the template. If not, it has marks where it has to be filled in."`
	Repairs  int           `json:"repairs" doc:"How often the model had to mend it."`
	Tool     string        `json:"tool,omitempty" doc:"The tool that can be called now."`
	Next     string        `json:"next" doc:"What to do next."`
}

type writtenFile struct {
	Path string `json:"path" doc:"Where it is."`
	Diff string `json:"diff" doc:"The change as a unified difference."`
}

// generateFor is how long one call takes at most: a model is asked up to a few times, and a person may have to answer.
const generateFor = 15 * time.Minute

// codegen touches nothing by itself: each request to a model is a call of its own, and so is what is written or installed. What
// it runs sees an empty directory.
func (b *Box) codegen() toolcrib.Tool {
	return toolcrib.Define(toolcrib.Spec{
		Name: Codegen, Title: "Generate a tool, a skill, an agent or a workflow", Description: codegenText,
		Effects: toolcrib.Pure, Calls: true, Group: Name, Timeout: generateFor,
	}, func(ctx context.Context, env *toolcrib.Env, in codegenIn) (codegenOut, error) {
		w, err := b.plan(in)
		if err != nil {
			return codegenOut{}, &toolcrib.Error{Code: toolcrib.CodeInvalid, Message: err.Error()}
		}
		return b.generate(ctx, env, in, w)
	})
}

func (b *Box) generate(ctx context.Context, env *toolcrib.Env, in codegenIn, w *work) (codegenOut, error) {
	out := codegenOut{Target: w.target, Name: w.name, Language: w.language, Files: []writtenFile{}, Checks: []string{}}
	checks, repairs, err := b.fill(ctx, env, w)
	if err != nil {
		return out, err
	}
	out.Checks, out.Repairs, out.Filled = checks, repairs, b.thinks()
	if in.OutputPath != "" || !in.Install {
		for i, f := range w.files {
			done, err := writeFile(ctx, env, path.Join(w.dir, f.Name), f.Text)
			if err != nil {
				return out, notWritten(err, w, map[bool]string{true: "not written", false: "not all of it is written"}[i == 0])
			}
			out.Files = append(out.Files, done)
		}
	}
	if !in.Install {
		out.Next = w.next()
		return out, nil
	}
	installed, err := b.install(ctx, env, w)
	if err != nil {
		return out, notWritten(err, w, "not installed")
	}
	out.Tool, out.Next = installed.Tool, installed.Message
	out.Files = append(out.Files, writtenFile{Path: installed.Path})
	return out, nil
}

// writeFile is a call of its own: path rules, the mode and the person judge it.
func writeFile(ctx context.Context, env *toolcrib.Env, file, content string) (writtenFile, error) {
	r, err := env.Use(ctx, "write_file", map[string]any{"path": file, "content": content})
	if err != nil {
		return writtenFile{}, err
	}
	if r.Failed {
		return writtenFile{}, errors.New(r.String())
	}
	var done struct{ Path, Diff string }
	if err := json.Unmarshal(r.Value, &done); err != nil {
		return writtenFile{}, err
	}
	return writtenFile(done), nil
}

// mostTold bounds a text that is given back because it was not written.
const mostTold = 32 << 10

// notWritten refuses with what was made, so that the work of a model is not lost.
func notWritten(err error, w *work, what string) error {
	said := fmt.Sprintf("it was made and checked, and %s: %s", what, err)
	if no, ok := toolcrib.AsError(err); ok {
		said = strings.Replace(said, err.Error(), no.Message, 1)
	}
	var b strings.Builder
	for _, f := range w.files {
		fmt.Fprintf(&b, "\n\n%s:\n%s", f.Name, f.Text)
	}
	if b.Len() <= mostTold {
		said += b.String()
	}
	if no, ok := toolcrib.AsError(err); ok {
		return &toolcrib.Error{Code: no.Code, Message: said, Err: err}
	}
	return errors.New(said)
}

// next says what to do with what was written.
func (w *work) next() string {
	switch w.target {
	case "skill":
		return "Tell the person where it is. Skills of a project count with toolboxes.skill.project: true in the person's settings."
	case "agent":
		return "The person puts it into the settings with: toolcrib new agent " + w.name + " --from " + path.Join(w.dir, w.files[0].Name)
	case "workflow":
		return "Run it with run_script, or keep it as a tool with script_save. When it runs is up to the caller."
	}
	return "It is no tool yet. Call codegen again with install: true, or the person copies " + path.Join(w.dir, w.files[0].Name) + " into the own folder of tools (toolcrib tools check says what it can reach)."
}

// work is one thing that is made.
type work struct {
	target, language, name string
	kind                   string // the template
	description            string
	dir                    string // where the files go
	files                  []scaffold.File
	most                   Declaration // what a tool may declare
}
