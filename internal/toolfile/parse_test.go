package toolfile

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolcrib/toolcrib"
)

const weather = `name: weather
title: Weather
description: Tells the weather of a city.
args:
  city: string
  unit?: celsius | fahrenheit
  days: integer = 3
  tags: string[]
  deep:
    type: object
    description: More of it.
    optional: true
  verbose: boolean = false
command:
  - /usr/bin/weather
  - "{verbose:--verbose}"
  - ["--unit", "{unit}"]
  - --days={days}
  - "--tag={tags}"
  - "{{literal}}"
  - ["--deep", "{deep}"]
  - --
  - "{city}"
output: json
result: {type: object}
effects: [reads, network, secrets]
read: [., ~/weather]
hosts: [api.example.org]
secrets: {WEATHER_KEY: weather}
env: {LANG: C, LEVEL: 3}
timeout: 30s
group: web
`

func TestCommandFile(t *testing.T) {
	f, faults := Parse("tools/weather.yaml", []byte(weather))
	if len(faults) != 0 {
		t.Fatalf("faults: %v", faults)
	}
	if f.Name != "weather" || f.Kind != Command || f.Timeout != 30*time.Second || f.Group != "web" || f.Output != OutputJSON {
		t.Errorf("%+v", f)
	}
	if want := toolcrib.Reads | toolcrib.Network | toolcrib.UsesSecrets; f.Effects != want {
		t.Errorf("effects %v", f.Effects)
	}
	want := []Arg{
		{Name: "city", Type: "string", Required: true, Line: 5},
		{Name: "unit", Type: "string", Listed: true, Enum: []json.RawMessage{[]byte(`"celsius"`), []byte(`"fahrenheit"`)}, Line: 6},
		{Name: "days", Type: "integer", Default: json.RawMessage("3"), Line: 7},
		{Name: "tags", Type: "array", Items: "string", Required: true, Line: 8},
		{Name: "deep", Type: "object", Line: 9},
		{Name: "verbose", Type: "boolean", Default: json.RawMessage("false"), Line: 13},
	}
	if d := cmp.Diff(want, f.Args); d != "" {
		t.Error(d)
	}
	schema := `{"type":"object","properties":{"city":{"type":"string"},"unit":{"type":"string","enum":["celsius","fahrenheit"]},` +
		`"days":{"type":"integer","default":3},"tags":{"type":"array","items":{"type":"string"}},` +
		`"deep":{"type":"object","description":"More of it."},"verbose":{"type":"boolean","default":false}},` +
		`"required":["city","tags"],"additionalProperties":false}`
	if string(f.Schema) != schema {
		t.Errorf("schema %s", f.Schema)
	}
	commands := []Element{
		{{{Text: "/usr/bin/weather"}}},
		{{{Text: "--verbose", Arg: "verbose", When: true}}},
		{{{Text: "--unit"}}, {{Arg: "unit"}}},
		{{{Text: "--days="}, {Arg: "days"}}},
		{{{Text: "--tag="}, {Arg: "tags"}}},
		{{{Text: "{literal}"}}},
		{{{Text: "--deep"}}, {{Arg: "deep"}}},
		{{{Text: "--"}}},
		{{{Arg: "city"}}},
	}
	if d := cmp.Diff(commands, f.Command); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]Variable{{"LANG", "C"}, {"LEVEL", "3"}}, f.Env); d != "" {
		t.Error(d)
	}
}

func TestHeader(t *testing.T) {
	for name, c := range map[string]struct{ path, content string }{
		"sh":   {"count.sh", "#!/bin/sh\n# What it is.\n\n# toolcrib:\n#   description: Counts lines.\n#   args:\n#     path: string\n#   effects: reads\n#   read: .\n\nwc -l \"$1\"\n"},
		"crlf": {"count", "#!/bin/sh\n# toolcrib:\r\n# description: Counts lines.\r\n# args:\r\n#   path: string\r\n# effects: reads\r\n# read: .\r\nwc -l \"$1\"\r\n"},
	} {
		t.Run(name, func(t *testing.T) {
			f, faults := Parse(c.path, []byte(c.content))
			if len(faults) != 0 {
				t.Fatalf("faults: %v", faults)
			}
			if f.Kind != Script || f.Name != "count" || !f.Header || len(f.Args) != 1 || f.Effects != toolcrib.Reads || f.Read[0] != "." || f.Description != "Counts lines." {
				t.Errorf("%+v", f)
			}
		})
	}
	f, faults := Parse("count.sh", []byte("#!/bin/sh\n# toolcrib:\n#   description: x\n#   args: {a: string}\n#   command: [sh, -e, '{script}', '{a}']\n"))
	if len(faults) != 0 || !f.Command[2][0].IsSelf() {
		t.Errorf("%+v %v", f, faults)
	}
	f, faults = Parse("fns.py", []byte("\"\"\"Functions.\"\"\"\n# toolcrib:\n#   python: ~/venv\n#   hosts: [example.org]\n\ndef f(): pass\n"))
	if f.Kind != Python || len(faults) != 0 || f.Python != "~/venv" || f.Name != "fns" || f.Hosts[0] != "example.org" {
		t.Errorf("%+v %v", f, faults)
	}
	f, faults = Parse("fns.mjs", []byte("export function f() {}\n"))
	if f.Kind != Node || len(faults) != 0 || f.Header {
		t.Errorf("%+v %v", f, faults)
	}
	f, faults = Parse("n.mjs", []byte("#!/usr/bin/env node\n// toolcrib:\n//   timeout: 1m\n"))
	if f.Kind != Node || len(faults) != 0 || f.Timeout != time.Minute {
		t.Errorf("%+v %v", f, faults)
	}
}

func TestKindOf(t *testing.T) {
	head := "#!/bin/sh\n# toolcrib:\n#   description: x\n"
	for path, want := range map[string]Kind{
		"a.yaml": Command, "a.YML": Command, "a.py": Python, "a.js": Node, "a.mjs": Node, "a.sh": Script, "a": Script, "a.rb": Script,
		".a.yaml": None, "a.yaml~": None, ".a.sh.swp": None, "README.md": None, "#a.sh#": None, "a.yaml.bak": None, "__init__.py": None, "x.json": None,
	} {
		if got := KindOf("/some/where/"+path, []byte(head)); got != want {
			t.Errorf("%s is %v, want %v", path, got, want)
		}
	}
	for _, content := range []string{"", "#!/bin/sh\necho\n", strings.Repeat("\n", 60) + "# toolcrib:\n", "# toolcribs:\n"} {
		if got := KindOf("a.sh", []byte(content)); got != None {
			t.Errorf("%.20q is %v", content, got)
		}
	}
}

// Every mistake is told with its line, its key and what to do.
func TestFaults(t *testing.T) {
	const good = "description: x\n"
	for name, c := range map[string]struct {
		content string
		line    int
		key     string
		says    string
	}{
		"no YAML":               {"description: x\ncommand: [a\nargs: {}\n", 0, "", "not valid YAML"},
		"flow":                  {good + "args: {a?: string}\ncommand: [ls, '{a}']\n", 2, "", "need quotes"},
		"a list":                {"- a\n", 1, "", "expected keys"},
		"misspelt":              {good + "comand: [ls]\n", 2, "comand", "did you mean command?"},
		"unknown":               {good + "command: [ls]\nxyzzy: 1\n", 3, "xyzzy", "known are"},
		"twice":                 {good + "command: [ls]\ncommand: [ls]\n", 3, "", "already set in line 2"},
		"no command":            {good, 0, "command", "missing"},
		"a line":                {good + "command: ls -l\n", 2, "command", "no shell"},
		"empty":                 {good + "command: []\n", 2, "command", "empty"},
		"no argument":           {good + "command: [ls, \"{path}\"]\n", 2, "command", "declare it under args"},
		"other argument":        {good + "args: {pth: string}\ncommand: [ls, \"{path}\", \"{pth}\"]\n", 3, "command", "declared are pth"},
		"not used":              {good + "args:\n  path: string\ncommand: [ls]\n", 3, "args", "not used"},
		"unquoted":              {good + "args: {path: string}\ncommand: [ls, {path}]\n", 3, "command", `in quotes: "{path}"`},
		"program from argument": {good + "args: {p: string}\ncommand: [\"{p}\"]\n", 3, "command", "first element is the program"},
		"relative program":      {good + "command: [./run]\n", 2, "command", "whole path"},
		"brace":                 {good + "command: [awk, '{print $1}']\n", 2, "command", "{{"},
		"open brace":            {good + "command: [awk, 'a{b']\n", 2, "command", "{{"},
		"closing brace":         {good + "command: [awk, 'a}b']\n", 2, "command", "}}"},
		"flag of text":          {good + "args: {p: string}\ncommand: [ls, '{p:-l}']\n", 3, "command", "needs a boolean"},
		"type":                  {good + "args:\n  p: strin\ncommand: [ls, '{p}']\n", 3, "args.p", "did you mean string?"},
		"default":               {good + "args:\n  p: integer = x\ncommand: [ls, '{p}']\n", 3, "args.p", "no integer"},
		"default of a block":    {good + "args:\n  p: {type: integer, default: x}\ncommand: [ls, '{p}']\n", 3, "args.p", "its default \"x\" does not fit"},
		"default of words":      {good + "args:\n  o: string\n  p: a | b = c\ncommand: [ls, '{p}', '{o}']\n", 4, "args.p", "its default \"c\" does not fit"},
		"keyword":               {good + "args:\n  p: {type: string, descriptio: x}\ncommand: [ls, '{p}']\n", 3, "args.p", "did you mean description?"},
		"argument's name":       {good + "args:\n  'a b': string\ncommand: [ls]\n", 3, "args", "no name of an argument"},
		"both":                  {good + "args: {p: string}\nschema: {type: object}\ncommand: [ls]\n", 3, "schema", "twice"},
		"schema":                {good + "schema: {type: objet}\ncommand: [ls]\n", 2, "schema", "schema"},
		"schema of a list":      {good + "schema: {type: array}\ncommand: [ls]\n", 2, "schema", "type: object"},
		"effects":               {good + "effects: [red]\ncommand: [ls]\n", 2, "effects", "unknown effect"},
		"no effects":            {good + "effects: []\ncommand: [ls]\n", 2, "effects", "pure"},
		"write":                 {good + "effects: reads\nwrite: .\ncommand: [ls]\n", 3, "write", "add writes"},
		"hosts":                 {good + "effects: reads\nhosts: [a.example]\ncommand: [ls]\n", 3, "hosts", "add network"},
		"secrets":               {good + "effects: reads\nsecrets: {A: b}\ncommand: [ls]\n", 3, "secrets", "add secrets"},
		"pure":                  {good + "effects: pure\nread: .\ncommand: [ls]\n", 3, "read", "add reads"},
		"timeout":               {good + "timeout: 30\ncommand: [ls]\n", 2, "timeout", "add a unit: 30s"},
		"timeout of none":       {good + "timeout: 0s\ncommand: [ls]\n", 2, "timeout", "more than nothing"},
		"output":                {good + "output: xml\ncommand: [ls]\n", 2, "output", "text, json"},
		"result":                {good + "output: text\nresult: {type: object}\ncommand: [ls]\n", 3, "result", "output: json"},
		"sandbox":               {good + "sandbox: none\ncommand: [ls]\n", 2, "sandbox", "host"},
		"placeholder dir":       {good + "args: {p: string}\nread: ['{p}']\ncommand: [ls, '{p}']\n", 3, "read", "without placeholders"},
		"variable":              {good + "env: {'A B': x}\ncommand: [ls]\n", 2, "env", "no name of a variable"},
		"no secret":             {good + "secrets: {A: ''}\ncommand: [ls]\n", 2, "secrets", "name of a secret"},
		"name":                  {good + "name: a b\ncommand: [ls]\n", 2, "name", "1 to 64"},
		"python":                {good + "python: x\ncommand: [ls]\n", 2, "python", "no meaning"},
		"no value":              {good + "command:\n", 2, "command", "no value"},
		"NUL":                   {good + "command: [\"a\\0b\"]\n", 2, "command", "NUL"},
	} {
		t.Run(name, func(t *testing.T) {
			_, faults := Parse("x.yaml", []byte(c.content))
			for _, f := range faults {
				if !f.Warning && f.Line == c.line && f.Key == c.key && strings.Contains(f.Message, c.says) || name == "no YAML" && strings.Contains(f.Message, c.says) {
					return
				}
			}
			t.Errorf("%q gives %v", c.content, faults)
		})
	}
}

// TestEffectsByFunction: functions of one file may differ, and what they may reach together
// is what the file has to declare.
func TestEffectsByFunction(t *testing.T) {
	f, faults := Parse("a.py", []byte("# toolcrib:\n#   effects: {fetch: [network], \"*\": pure}\n#   hosts: [a.example]\n"))
	if Broken(faults) || f.Effects != toolcrib.Pure || f.ByFunction["fetch"] != toolcrib.Network || len(f.ByFunction) != 1 {
		t.Errorf("%+v %v", f, faults)
	}
	for content, want := range map[string]string{
		"# toolcrib:\n#   effects: {fetch: netwrk}\n":                                        "effects.fetch",
		"# toolcrib:\n#   effects: {get_*: reads}\n":                                         "effects.get_*",
		"# toolcrib:\n#   effects: {fetch: []}\n":                                            "effects.fetch",
		"# toolcrib:\n#   effects: {fetch: reads, \"*\": pure}\n#   hosts: [a.example]\n":    "hosts",
		"# toolcrib:\n#   effects: {fetch: reads, \"*\": pure}\n#   secrets: {KEY: a-key}\n": "secrets",
	} {
		if _, faults := Parse("a.py", []byte(content)); len(faults) != 1 || faults[0].Key != want || faults[0].Warning {
			t.Errorf("%q gives %v", content, faults)
		}
	}
	if _, faults := Parse("a.yaml", []byte("description: x\ncommand: [ls]\neffects: {x: reads}\n")); !Broken(faults) {
		t.Error("a command has no functions")
	}
}

func TestWarnings(t *testing.T) {
	for name, c := range map[string]struct{ content, says string }{
		"no description": {"command: [ls]\n", "models choose"},
		"no directory":   {"description: x\neffects: writes\ncommand: [ls]\n", "under write"},
		"no host":        {"description: x\neffects: network\ncommand: [ls]\n", "under hosts"},
	} {
		_, faults := Parse("x.yaml", []byte(c.content))
		if len(faults) != 1 || !faults[0].Warning || Broken(faults) || !strings.Contains(faults[0].Message, c.says) {
			t.Errorf("%s: %v", name, faults)
		}
	}
}

func TestHeaderFaults(t *testing.T) {
	for name, c := range map[string]struct {
		path, content string
		line          int
		says          string
	}{
		"inline":      {"a.sh", "#!/bin/sh\n# toolcrib: {description: x}\n", 2, "comment lines below"},
		"prose":       {"a.sh", "#!/bin/sh\n# toolcrib:\n#   description: x\n# And now to something: else\n# entirely\n", 0, "empty line"},
		"no shebang":  {"a.sh", "# toolcrib:\n#   description: x\n", 1, "#!/bin/sh"},
		"windows":     {"a.sh", "#!/bin/sh\r\n# toolcrib:\r\n#   description: x\r\n", 1, "line ends"},
		"unknown":     {"a.sh", "#!/bin/sh\n\n# toolcrib:\n#   description: x\n#   efects: pure\n", 5, "did you mean effects?"},
		"no self":     {"a.sh", "#!/bin/sh\n# toolcrib:\n#   description: x\n#   command: [sh, -e]\n", 4, "{script}"},
		"an own self": {"a.sh", "#!/bin/sh\n# toolcrib:\n#   description: x\n#   args: {script: string}\n", 4, "script itself"},
		"python":      {"a.py", "# toolcrib:\n#   command: [ls]\n", 2, "no meaning"},
		"its name":    {"a.py", "# toolcrib:\n#   effects: pure\n#   name: b\n", 3, "called like the file"},
		"its words":   {"a.mjs", "// toolcrib:\n//   description: b\n", 2, "what the functions say"},
	} {
		t.Run(name, func(t *testing.T) {
			_, faults := Parse(c.path, []byte(c.content))
			if len(faults) == 0 || c.line > 0 && faults[0].Line != c.line || !strings.Contains(faults[0].Message, c.says) {
				t.Errorf("%v", faults)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add("a.yaml", []byte(weather))
	f.Add("a.sh", []byte("#!/bin/sh\n# toolcrib:\n#   description: x\n#   args: {a: string = x, b?: integer[]}\n"))
	f.Add("a.py", []byte("# toolcrib:\n#   python: x\n"))
	f.Add("a.yaml", []byte("a: &a [*a]\n"))
	f.Add("a.yaml", []byte("args: {a: a | b = c}\ncommand: ['{{', '{a:b}', '}}']\n"))
	f.Add("a.yaml", []byte("schema: {type: object, properties: {a: {enum: [1, x]}}, required: [a]}\ncommand: [ls, '{a}']\nstdin: '{a}'\n"))
	f.Fuzz(func(t *testing.T, path string, content []byte) {
		file, faults := Parse(path, content)
		if file.Kind == None || Broken(faults) {
			return
		}
		if !toolName(file.Name) {
			t.Errorf("the name %q went through", file.Name)
		}
		if (file.Kind == Command || file.Kind == Script) && !json.Valid(file.Schema) {
			t.Errorf("the schema %q went through", file.Schema)
		}
		for _, e := range file.Command {
			for _, w := range e {
				for _, name := range w.Args() {
					if _, ok := file.Arg(name); !ok && (name != Self || file.Kind != Script) {
						t.Errorf("{%s} has no argument", name)
					}
				}
			}
		}
	})
}

// TestPageParses: the examples of the page are good.
func TestPageParses(t *testing.T) {
	page, err := os.ReadFile("../../docs/toolfile.md")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for i, block := range strings.Split(string(page), "```") {
		kind, text, _ := strings.Cut(block, "\n")
		if i%2 == 0 || kind != "sh" && !strings.Contains(text, "command:") {
			continue
		}
		found++
		if _, faults := Parse("example."+kind, []byte(text)); len(faults) > 0 {
			t.Errorf("%s\n%v", text, faults)
		}
	}
	if found < 3 {
		t.Errorf("%d examples", found)
	}
}

// TestHeld: where nobody wrote effects, they are what a sandbox lets the program do;
// what it does elsewhere stays undeclared.
func TestHeld(t *testing.T) {
	for text, want := range map[string]toolcrib.Effects{
		"":                            toolcrib.Pure,
		"read: .\n":                   toolcrib.Reads,
		"write: [., ./out]\n":         toolcrib.Reads | toolcrib.Writes | toolcrib.Destroys,
		"hosts: [example.com]\n":      0,
		"read: .\nhosts: ['*']\n":     0,
		"secrets: {TOKEN: t}\n":       0,
		"sandbox: host\n":             0,
		"effects: [reads]\nread: .\n": toolcrib.Reads,
	} {
		f, faults := Parse("x.yaml", []byte("description: d\ncommand: ['true']\n"+text))
		if Broken(faults) || f.Effects != want || f.Derived != (want != 0 && !strings.Contains(text, "effects")) {
			t.Errorf("%q: %v, derived %v, %v", text, f.Effects, f.Derived, faults)
		}
	}
	if f, faults := Parse("x.py", []byte("def f(): pass\n")); f.Effects != toolcrib.Pure || Broken(faults) {
		t.Errorf("a file without a header: %v, %v", f.Effects, faults)
	}
}
