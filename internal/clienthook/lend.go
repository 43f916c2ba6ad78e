package clienthook

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
)

// Outcome is the tool that records what became of a tool of the client. It is in
// a box with the name of the client.
const Outcome = "outcome"

// Checks is what the handles of a call are asked about where a tool of ours would
// use them.
type Checks struct {
	// Address says whether a web address may be reached. Nil: none may.
	Address func(url string) error
	// Search has a look with the files of a call, without those that rules about reading
	// keep from it: a search reads as a command does. Nil: there are no rules.
	Search func(call toolcrib.Call, granted *files.Handle, look func(*files.Handle) error) error
}

// Boxes are toolboxes with the tools that an event needs. A tool in them does
// nothing: it looks whether the handles of the call would let it be done, and
// leaves it to the client.
func Boxes(e *Event, checks Checks) []toolcrib.Toolbox {
	tools := map[string][]toolcrib.Tool{}
	var order []string
	add := func(box string, t toolcrib.Tool) {
		if _, ok := tools[box]; !ok {
			order = append(order, box)
		}
		if !slices.ContainsFunc(tools[box], func(o toolcrib.Tool) bool { return o.Name == t.Name }) {
			tools[box] = append(tools[box], t)
		}
	}
	for _, d := range e.Deeds {
		add(d.Box, lent(e, d, checks))
	}
	if e.After {
		add(e.Client, outcome(e))
	}
	var out []toolcrib.Toolbox
	for _, box := range order {
		out = append(out, toolcrib.NewBox(box, tools[box]...))
	}
	return out
}

// anything is the schema of what the client checks by itself.
const anything = `{"type":"object"}`

func lent(e *Event, like Deed, checks Checks) toolcrib.Tool {
	return toolcrib.Tool{
		// Nobody is asked about what is out of reach anyhow.
		Preview: func(ctx context.Context, env *toolcrib.Env, input json.RawMessage) (string, error) {
			looked := like
			looked.Write = false // what it is handed is only to be read
			return "", reachable(ctx, env, e, looked, input, checks)
		},
		Spec: toolcrib.Spec{Name: like.Tool, Description: "A tool of " + e.Client + ".", Input: json.RawMessage(anything), Effects: like.Effects, Group: like.Group},
		Run: func(ctx context.Context, env *toolcrib.Env, input json.RawMessage) (*toolcrib.Result, error) {
			if err := reachable(ctx, env, e, like, input, checks); err != nil {
				return nil, err
			}
			said := "left to " + e.Client + " (" + e.Tool + ")"
			if e.Asked {
				said += ", which asks the person"
			}
			return toolcrib.Text(said), nil
		},
	}
}

// reachable has the handles of the call look at what it names.
func reachable(ctx context.Context, env *toolcrib.Env, e *Event, like Deed, input json.RawMessage, checks Checks) error {
	var named struct {
		Path  string `json:"path"`
		Dir   string `json:"working_dir"`
		URL   string `json:"url"`
		Names string `json:"file_pattern"`
	}
	if err := json.Unmarshal(input, &named); err != nil {
		return err
	}
	switch like.Box {
	case "files", "shell":
		path := named.Path
		if like.Box == "shell" {
			path = named.Dir
		}
		if env.Files == nil {
			return refused("no directory was granted, so there are no files to work on; grant.read and grant.write in the configuration grant them")
		}
		err := env.Files.Check(path, like.Write, like.Effects&toolcrib.Destroys != 0 && like.Box == "files")
		if err == nil && like.Box == "shell" {
			_, err = env.Files.Stat(path) // nobody knows where a command runs whose directory is gone
		}
		search := like.Tool == searchFiles && e.Tool != "read_many_files"
		if err == nil && like.Tool == "read_file" { // some read a directory with all that is in it
			info, serr := env.Files.Stat(path)
			search = serr == nil && info.IsDir()
		}
		if err == nil && search {
			err = searchable(ctx, env, e, path, grepping(e, named.Names), checks)
		}
		if err == nil && e.Client == Gemini && e.Tool == "read_many_files" {
			err = manyReadable(ctx, env, e, path, named.Names, checks)
		}
		if err != nil {
			if no, ok := toolcrib.AsError(err); ok {
				return no
			}
			return refused(err.Error())
		}
	case "web":
		if like.Tool != "web_fetch" {
			return nil
		}
		if checks.Address == nil {
			return refused("no host was granted; grant.hosts in the configuration grants some")
		}
		return checks.Address(named.URL)
	}
	return nil
}

func refused(why string) error {
	return &toolcrib.Error{Code: toolcrib.CodeDenied, Message: why}
}

// OutcomeInput is the input of that tool.
func OutcomeInput(e *Event) json.RawMessage {
	out, _ := json.Marshal(map[string]string{"tool": e.Tool}) // a text can always be written
	return out
}

// outcome takes down what the client says became of its tool.
func outcome(e *Event) toolcrib.Tool {
	return toolcrib.Tool{
		Spec: toolcrib.Spec{Name: Outcome, Description: "What became of a tool of " + e.Client + ".", Input: json.RawMessage(anything), Effects: toolcrib.Pure},
		Run: func(context.Context, *toolcrib.Env, json.RawMessage) (*toolcrib.Result, error) {
			result := toolcrib.Text(string(e.Response))
			var text string
			if json.Unmarshal(e.Response, &text) == nil {
				result = toolcrib.Text(text)
			}
			result.Failed = e.Failed
			return result, nil
		},
	}
}
