package codegen

import (
	"context"
	_ "embed" // the description
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib"
)

//go:embed install_tool.md
var installText string

type installIn struct {
	Name     string   `json:"name" minlen:"1" maxlen:"48" doc:"What the tool is called."`
	Language string   `json:"language" enum:"sh,python,javascript,go" doc:"What it is written in."`
	Effects  string   `json:"effects" doc:"What it may do, as its file declares it, such as pure or reads,network."`
	Read     []string `json:"read,omitempty" doc:"The directories that its file declares to read."`
	Write    []string `json:"write,omitempty" doc:"The directories that its file declares to change."`
	Hosts    []string `json:"hosts,omitempty" doc:"The hosts that its file declares to reach."`
	Content  string   `json:"content" minlen:"1" maxlen:"65536" doc:"The whole file."`
	Test     string   `json:"test" minlen:"1" maxlen:"65536" doc:"Its test, which is run in the sandbox first."`
}

type installOut struct {
	Tool    string `json:"tool" doc:"The tool, as it is called."`
	Path    string `json:"path" doc:"Where its file is."`
	Loaded  bool   `json:"loaded" doc:"It can be called now."`
	Message string `json:"message" doc:"What was done."`
}

// installFor bounds the check and the wait for the tool.
const installFor = 5 * time.Minute

func (b *Box) installTool() toolcrib.Tool {
	t := toolcrib.Define(toolcrib.Spec{
		Name: InstallTool, Title: "Install a generated tool", Description: installText,
		Effects: toolcrib.Reads | toolcrib.Writes | toolcrib.Runs, Group: Name, Timeout: installFor,
	}, func(ctx context.Context, env *toolcrib.Env, in installIn) (installOut, error) {
		w, err := b.installed(in)
		if err != nil {
			return installOut{}, err
		}
		_, wrong, err := b.check(ctx, env.Call, w)
		if err != nil {
			return installOut{}, err
		}
		if wrong != "" {
			return installOut{}, errors.New("nothing was installed, because it does not pass: " + wrong)
		}
		return b.put(ctx, w)
	})
	t.Preview = func(ctx context.Context, _ *toolcrib.Env, input json.RawMessage) (string, error) {
		var in installIn
		if err := json.Unmarshal(input, &in); err != nil {
			return "", err
		}
		w, err := b.installed(in)
		if err != nil {
			return "", err
		}
		if b.needs.Able != nil {
			if err := b.needs.Able(ctx); err != nil {
				return "", err
			}
		}
		return b.shown(w)
	}
	return t
}

// installed makes the work of a call, and holds what it says of the file against the file: the person reads both.
func (b *Box) installed(in installIn) (*work, error) {
	if b.needs.Try == nil {
		return nil, errors.New("there is no sandbox here to check a tool in, so that none is installed")
	}
	g := codegenIn{Target: "tool", Language: in.Language, Name: in.Name, Description: "x", Install: true, Read: in.Read, Write: in.Write, Hosts: in.Hosts}
	w, err := b.plan(g)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(plain(in.Content), plain(in.Test)); err != nil {
		return nil, err
	}
	if w.files, err = filesOf(w.kind, w.name, in.Content, in.Test); err != nil {
		return nil, err
	}
	d, faults := b.declared(w)
	if len(faults) > 0 {
		return nil, errors.New(strings.Join(faults, "\n"))
	}
	if d.Effects.String() != in.Effects || !slices.Equal(d.Read, in.Read) || !slices.Equal(d.Write, in.Write) || !slices.Equal(d.Hosts, in.Hosts) {
		return nil, fmt.Errorf("the file declares effects %s, read %q, write %q and hosts %q, and the call says something else: say what the file declares", d.Effects, d.Read, d.Write, d.Hosts)
	}
	if other := b.needs.Tools.Taken(w.name, w.files[0].Name); other != "" {
		return nil, fmt.Errorf("there is %s already: take another name", other)
	}
	return w, nil
}

// shown is the whole file as a difference: every line of it, and of what it would replace.
func (b *Box) shown(w *work) (string, error) {
	var out strings.Builder
	for i, f := range w.files {
		name := f.Name
		if i > 0 {
			name = Tests + "/" + f.Name
		}
		old, err := b.needs.Tools.Read(name)
		if err != nil {
			return "", err
		}
		before, after := lines(string(old)), lines(f.Text)
		from := "tools/" + name
		if old == nil {
			from = "/dev/null"
		}
		fmt.Fprintf(&out, "--- %s\n+++ tools/%s\n@@ -%s +%s @@\n", from, name, span(before), span(after))
		for _, l := range before {
			out.WriteString("-" + l + "\n")
		}
		for _, l := range after {
			out.WriteString("+" + l + "\n")
		}
	}
	return out.String(), nil
}

// Tests is the folder below that of the tools in which their tests lie: it is not looked at for tools.
const Tests = "tests"

func lines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

func span(list []string) string {
	if len(list) == 0 {
		return "0,0"
	}
	return fmt.Sprintf("1,%d", len(list))
}

// put writes it, after a person said yes to exactly this.
func (b *Box) put(ctx context.Context, w *work) (installOut, error) {
	at, loaded, err := b.needs.Tools.Install(ctx, w.name, w.files)
	if err != nil {
		return installOut{}, err
	}
	out := installOut{Tool: w.name, Path: at, Loaded: loaded, Message: "Installed. Call it as " + w.name + "."}
	if !loaded {
		out.Message = "Installed, and not on the shelves yet: list the tools again in a moment. 'toolcrib tools check " + w.name + "' tells what is wrong if it does not come."
	}
	return out, nil
}

// install has install_tool called, with what the file declares.
func (b *Box) install(ctx context.Context, env *toolcrib.Env, w *work) (out installOut, err error) {
	d, faults := b.declared(w)
	if len(faults) > 0 {
		return out, errors.New(strings.Join(faults, "\n"))
	}
	r, err := env.Use(ctx, InstallTool, installIn{
		Name: w.name, Language: w.language, Effects: d.Effects.String(), Read: d.Read, Write: d.Write, Hosts: d.Hosts, Content: w.files[0].Text, Test: w.files[1].Text,
	})
	if err != nil {
		return out, err
	}
	if r.Failed {
		return out, errors.New(r.String())
	}
	return out, json.Unmarshal(r.Value, &out)
}
