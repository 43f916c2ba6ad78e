package codegen

import (
	_ "embed" // what models are told
	"encoding/json"
	"fmt"
	"strings"

	"github.com/toolcrib/toolcrib/internal/scaffold"
)

//go:embed prompt.md
var promptText string

// system tells a model what it writes, and by which rules. Nothing in it comes from a caller.
func system(w *work) string {
	var rules string
	switch w.kind {
	case "sh":
		rules = "Write a tool as a POSIX shell script, and its test, which is another script that exits with 0 only if the tool works. The header of the template declares the arguments; they arrive as \"$1\", \"$2\", …"
	case "python":
		rules = "Write a tool as one Python function with type hints and a docstring, with the standard library alone, and its test with unittest. Helpers have names that begin with _. Nothing runs when the file is imported."
	case "node":
		rules = "Write a tool as one exported JavaScript function with a JSDoc comment, for Node 18 without packages, and its test with node:assert. Nothing else is exported, and nothing runs when the file is imported."
	case "go":
		rules = "Write a tool as one Go file of package main with the standard library alone, and its test as a Go test. It reads its arguments as JSON on standard input and prints the result. The header of the template declares the arguments."
	case "skill":
		rules = "Write a skill. The first block is one line: what the skill does and when to use it. The second block is its body in Markdown: instructions for a model, step by step. No front matter. Put a fence of four backticks around it if it has fences inside."
	case "agent":
		rules = "Write the preset of an agent. The first block is one line: what the agent is for. The second block is the instructions that its model gets, in plain text."
	case "workflow":
		rules = "Write a workflow: one JavaScript script that calls tools. tools.NAME(args) calls a tool and gives its value or throws, input has the arguments, log(text) tells what goes on, parallel([() => …]) calls several at once. It has no modules, files, timers or network, and ends with return and a value. Answer with one block."
	}
	return strings.TrimSpace(promptText) + "\n\n" + rules
}

// task is what a caller wants, as data, with the template to fill in.
func task(w *work) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Name: %s\n", w.name)
	if w.target == "tool" {
		fmt.Fprintf(&b, "It may declare: effects %s", strings.ReplaceAll(w.most.Effects.String(), ",", ", "))
		for _, of := range []struct {
			key  string
			list []string
		}{{"read", w.most.Read}, {"write", w.most.Write}, {"hosts", w.most.Hosts}} {
			if len(of.list) > 0 {
				list, _ := json.Marshal(of.list) //nolint:errchkjson // they are texts
				fmt.Fprintf(&b, "; %s: %s", of.key, list)
			}
		}
		b.WriteString("; and nothing else.\n")
	}
	described, _ := json.Marshal(w.description) //nolint:errchkjson // it is a text
	fmt.Fprintf(&b, "Description, as a JSON string: %s\n\nThe template:\n", described)
	for _, f := range w.files {
		fmt.Fprintf(&b, "\n%s\n````\n%s````\n", f.Name, f.Text)
	}
	return b.String()
}

// skillText is a SKILL.md. Its front matter is ours: a model cannot have it name tools.
func skillText(name, description, body string) string {
	quoted, _ := json.Marshal(scaffold.Line(description)) //nolint:errchkjson // it is a text
	return "---\nname: " + name + "\ndescription: " + string(quoted) + "\n---\n\n" + strings.TrimSpace(body) + "\n"
}

// agentText is the preset of an agent. Its keys are ours: a model writes two texts and no setting.
func agentText(name, role, instructions string) string {
	quoted, _ := json.Marshal(scaffold.Line(role))           //nolint:errchkjson // it is a text
	told, _ := json.Marshal(strings.TrimSpace(instructions)) //nolint:errchkjson // it is a text
	return "# An agent of Toolcrib. It has the tools and the rules of everybody, and asks as the mode default does.\n" +
		"# 'toolcrib new agent " + name + " --from THIS FILE' puts it into your settings.\nagents:\n  " + name +
		":\n    role: " + string(quoted) + "\n    mode: default\n    instructions: " + string(told) + "\n"
}
