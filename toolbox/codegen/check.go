package codegen

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/gobuild"
	"github.com/toolcrib/toolcrib/internal/nodehost"
	"github.com/toolcrib/toolcrib/internal/pyhost"
	"github.com/toolcrib/toolcrib/internal/scaffold"
	"github.com/toolcrib/toolcrib/internal/text"
)

// check says what was tried and passed, or what is wrong. An error is none of the text's: it could not be checked.
func (b *Box) check(ctx context.Context, call toolcrib.Call, w *work) (passed []string, wrong string, err error) {
	main := w.files[0]
	var list []string
	switch w.target {
	case "skill":
		list, passed = b.needs.Skill(w.name, main.Text), []string{"the written format of skills"}
	case "agent":
		list, passed = b.needs.Agent(w.name, main.Text), []string{"the settings of agents"}
	case "workflow":
		list, passed = b.needs.Workflow(ctx, main.Text), []string{"it parses as a script"}
	default:
		return b.checkTool(ctx, call, w)
	}
	return passed, strings.Join(list, "\n"), nil
}

// checkTool holds a tool to what it may declare, compiles it, asks the host of its language what tools it has, and runs its test.
func (b *Box) checkTool(ctx context.Context, call toolcrib.Call, w *work) (passed []string, wrong string, err error) {
	if _, faults := b.declared(w); len(faults) > 0 {
		return nil, strings.Join(faults, "\n"), nil
	}
	passed = append(passed, "its declaration")
	key := digest(w)
	files, steps := trial(w)
	b.mu.Lock()
	known := b.checked[key]
	b.mu.Unlock()
	if known {
		for _, s := range steps {
			passed = append(passed, s.What)
		}
		return passed, "", nil
	}
	outcomes, err := b.needs.Try(ctx, call, files, steps)
	if err != nil {
		return nil, "", err
	}
	for _, o := range outcomes {
		if o.Code != 0 || o.How != "" {
			return nil, failed(o), nil
		}
		if o.Step.What == listed {
			if wrong := oneTool(w, o.Stdout); wrong != "" {
				return nil, wrong, nil
			}
		}
		passed = append(passed, o.Step.What)
	}
	if len(outcomes) != len(steps) {
		return nil, "", fmt.Errorf("only %d of %d steps of the check were run", len(outcomes), len(steps))
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.checked) > 1000 {
		clear(b.checked)
	}
	b.checked[key] = true
	return passed, "", nil
}

// digest stands for all that a check depends on.
func digest(w *work) [32]byte {
	all, _ := json.Marshal([]any{w.kind, w.name, w.most, w.files}) //nolint:errchkjson // they are texts
	return sha256.Sum256(all)
}

// declared reads the declaration of a tool and holds it against the most that it may have.
func (b *Box) declared(w *work) (Declaration, []string) {
	file := w.files[0].Name
	d, faults := b.needs.Declared(file, []byte(w.files[0].Text))
	if len(faults) > 0 {
		return d, faults
	}
	refuse := func(format string, args ...any) { faults = append(faults, file+": "+fmt.Sprintf(format, args...)) }
	if d.Name != w.name {
		refuse("it declares the name %q; it has to be %s", d.Name, w.name)
	}
	if first, _, _ := strings.Cut(w.files[0].Text, "\n"); w.kind == "sh" && !slices.Contains(shells(), first) {
		refuse("it begins with %q, and what was checked must be what runs: begin it with %s", text.Head(first, 100), shells()[0])
	}
	if len(d.Beyond) > 0 {
		refuse("a generated tool cannot have %s: remove it", strings.Join(d.Beyond, ", "))
	}
	if !d.Effects.Within(w.most.Effects.All()) {
		refuse("it declares the effects %s; it may have %s", d.Effects, w.most.Effects)
	}
	for _, of := range []struct {
		key       string
		has, most []string
	}{{"read", d.Read, slices.Concat(w.most.Read, w.most.Write)}, {"write", d.Write, w.most.Write}, {"hosts", d.Hosts, w.most.Hosts}} {
		for _, one := range of.has {
			if !slices.Contains(of.most, one) {
				refuse("%s has %q, which was not asked for", of.key, one)
			}
		}
	}
	return d, faults
}

// shells are the first lines of a tool in sh: another one would have another program run it than the one that it was checked with.
func shells() []string {
	return []string{"#!/bin/sh", "#!/bin/sh -e", "#!/bin/sh -eu", "#!/usr/bin/sh", "#!/usr/bin/env sh"}
}

// listed is the step whose output is the list of tools.
const listed = "its schema, as the host of its language reads it"

// pythonHost and nodeHost are the names of the hosts where a tool is tried.
const (
	pythonHost = "toolcrib_host.py"
	nodeHost   = "toolcrib_host.mjs"
)

// trial is what is put into an empty directory, and what is run there. What is generated runs last.
func trial(w *work) (files []scaffold.File, steps []Step) {
	files = slices.Clone(w.files)
	tool, test := files[0].Name, files[1].Name
	switch w.kind {
	case "sh":
		return files, []Step{
			{What: "sh -n", Program: "sh", Args: []string{"-n", tool}},
			{What: "its test", Program: "sh", Args: []string{test}},
		}
	case "python":
		files = append(files, scaffold.File{Name: pythonHost, Text: pyhost.Source(), Mode: 0o600})
		return files, []Step{
			{What: "py_compile", Program: "python3", Args: []string{"-m", "py_compile", tool, test}},
			{What: listed, Program: "python3", Args: []string{"-B", pythonHost, "serve", "--file", tool}, Stdin: ask, Until: `"id":2`},
			{What: "its test", Program: "python3", Args: []string{"-B", test}},
		}
	case "node":
		files = append(files, scaffold.File{Name: nodeHost, Text: nodehost.Source(), Mode: 0o600})
		return files, []Step{
			{What: "node --check", Program: "node", Args: []string{"--check", tool}},
			{What: "node --check of its test", Program: "node", Args: []string{"--check", test}},
			{What: listed, Program: "sh", Args: []string{"-c", `exec node "$@" 3>&1 1>&2`, "sh", nodeHost, "serve", "--file", tool, "--out", "3"}, Stdin: ask, Until: `"id":2`},
			{What: "its test", Program: "node", Args: []string{test}},
		}
	}
	files[0].Name, files[1].Name = gobuild.Main, "main_test.go"
	files = append(files, scaffold.File{Name: "go.mod", Text: gobuild.Module, Mode: 0o600})
	return files, []Step{
		{What: "go build", Program: "go", Args: []string{"build", "-o", "program", "."}, Go: true},
		{What: "go vet", Program: "go", Args: []string{"vet", "."}, Go: true},
		{What: "go test -c", Program: "go", Args: []string{"test", "-c", "-vet=off", "-o", "program.test", "."}, Go: true},
		{What: "its test", Program: "./program.test", Args: []string{"-test.timeout=30s"}},
	}
}

// ask is what a host is asked: which tools there are.
const ask = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"toolcrib","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{}}
`

// oneTool holds the list of a host to one tool of the right name: a second one would come along unseen.
func oneTool(w *work, said string) (wrong string) {
	var names []string
	answered := false
	for line := range strings.Lines(said) {
		var m struct {
			ID     json.RawMessage `json:"id"`
			Result struct {
				Tools []struct {
					Name        string          `json:"name"`
					Description string          `json:"description"`
					InputSchema json.RawMessage `json:"inputSchema"`
				} `json:"tools"`
			} `json:"result"`
		}
		if json.Unmarshal([]byte(line), &m) != nil || string(m.ID) != "2" {
			continue
		}
		answered = true
		for _, t := range m.Result.Tools {
			names = append(names, t.Name)
			if t.Name == w.name && strings.TrimSpace(t.Description) == "" {
				return w.files[0].Name + ": the tool has no description: write a docstring or a JSDoc comment"
			}
		}
	}
	switch {
	case !answered:
		return w.files[0].Name + ": the host of its language does not answer with its tools"
	case len(names) != 1 || names[0] != w.name:
		return fmt.Sprintf("%s: it has the tools [%s]; it must have exactly one, %s", w.files[0].Name, strings.Join(names, ", "), w.name)
	}
	return ""
}

// failed says how a step failed, in the words of its program.
func failed(o Outcome) string {
	how := o.How
	if how == "" {
		how = fmt.Sprintf("status %d", o.Code)
	}
	said := strings.TrimSpace(o.Stderr)
	if out := strings.TrimSpace(o.Stdout); out != "" && o.Step.What != listed {
		said = strings.TrimSpace(out + "\n" + said)
	}
	return fmt.Sprintf("%s failed (%s):\n%s", o.Step.What, how, said)
}

// filesOf are the files of a tool and of its test, without their texts.
func filesOf(kind, name, tool, test string) ([]scaffold.File, error) {
	files, err := scaffold.Stub(kind, name, "")
	if err != nil {
		return nil, err
	}
	files[0].Text, files[1].Text = tool, test
	return files, nil
}
