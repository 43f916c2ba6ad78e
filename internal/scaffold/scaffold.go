// Package scaffold begins things that people or models then fill in: tools, toolboxes, skills, agents and workflows. It makes
// texts from templates and writes nothing. The command line (toolcrib new) and toolbox/codegen import it.
//
// Its invariant: a name or a description never changes what a text declares. Whatever they hold, the tool that is begun is
// pure, and a description stays within one line of a comment or one quoted text.
package scaffold

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"
)

//go:embed templates stubs
var texts embed.FS

// Language is one in which a person can begin a tool.
type Language struct {
	Template string
	File     string // the name of the file; * is the name of the tool
	Mode     fs.FileMode
	Code     bool   // the tool is a function, so its name is held to what functions may be called
	Try      string // arguments that work at once
}

// Languages are those of toolcrib new tool: each has a short example that works.
func Languages() map[string]Language {
	const try = "text='to be or not to be'"
	return map[string]Language{
		"sh":     {"tool.sh", "*.sh", 0o755, false, try},
		"python": {"tool.py", "*.py", 0o644, true, try},
		"node":   {"tool.mjs", "*.mjs", 0o644, true, try},
		"go":     {"tool.go.txt", "main.go", 0o644, true, try},
	}
}

// Toolboxes are the languages of toolcrib new toolbox: one file with several tools.
func Toolboxes() map[string]Language {
	const try = "text='to be or not to be'"
	return map[string]Language{
		"python": {"toolbox.py", "*.py", 0o644, true, try},
		"node":   {"toolbox.mjs", "*.mjs", 0o644, true, try},
		"go":     {"toolbox.go.txt", "main.go", 0o644, true, try},
	}
}

// Example is the text of an example.
func Example(lang Language, name string) (string, error) {
	content, err := texts.ReadFile("templates/" + lang.Template)
	if err != nil {
		return "", err
	}
	return strings.NewReplacer("{{name}}", name, "{{function}}", Function(name)).Replace(string(content)), nil
}

// Mark stands in templates where something has to be filled in.
const Mark = "TO" + "DO"

// File is one file that is begun.
type File struct {
	Name string // without a directory
	Text string
	Mode fs.FileMode
}

// stubs are the templates of what models fill in, by kind: each names its files, in which * is the name.
func stubs() map[string][]struct{ template, file string } {
	return map[string][]struct{ template, file string }{
		"sh":       {{"tool.sh", "*.sh"}, {"tool_test.sh", "*_test.sh"}},
		"python":   {{"tool.py", "*.py"}, {"test_tool.py", "test_*.py"}},
		"node":     {{"tool.mjs", "*.mjs"}, {"tool.test.mjs", "*.test.mjs"}},
		"go":       {{"tool.go.txt", "*.go"}, {"tool_test.go.txt", "*_test.go"}},
		"skill":    {{"SKILL.md.txt", "SKILL.md"}},
		"agent":    {{"agent.yaml", "*.yaml"}},
		"workflow": {{"workflow.js", "*.js"}},
	}
}

// Stub begins something that passes its own check and has [Mark] where it has to be filled in. Of a tool the second file is its
// test. Kind is sh, python, node, go, skill, agent or workflow.
func Stub(kind, name, description string) ([]File, error) {
	if err := CheckName("this", name); err != nil {
		return nil, err
	}
	parts, ok := stubs()[kind]
	if !ok {
		return nil, fmt.Errorf("there is no template for %q", kind)
	}
	line := Line(description)
	quoted, err := json.Marshal(line) // a double-quoted text of YAML too
	if err != nil {
		return nil, err
	}
	fill := strings.NewReplacer("{{name}}", name, "{{function}}", Function(name), "{{line}}", line, "{{quoted}}", string(quoted))
	var list []File
	for _, p := range parts {
		content, err := texts.ReadFile("stubs/" + p.template)
		if err != nil {
			return nil, err
		}
		f := File{Name: strings.ReplaceAll(p.file, "*", name), Text: fill.Replace(string(content)), Mode: 0o644}
		if strings.HasSuffix(f.Name, ".sh") {
			f.Mode = 0o755
		}
		list = append(list, f)
	}
	return list, nil
}
