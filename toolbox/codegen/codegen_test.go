package codegen_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
	"github.com/toolcrib/toolcrib/internal/scaffold"
	"github.com/toolcrib/toolcrib/internal/toolfile"
	"github.com/toolcrib/toolcrib/model"
	"github.com/toolcrib/toolcrib/toolbox/codegen"
)

// declared reads a declaration as internal/coding does, in short.
func declared(file string, content []byte) (d codegen.Declaration, wrong []string) {
	f, faults := toolfile.Parse(file, content)
	for _, fault := range faults {
		wrong = append(wrong, fault.Error())
	}
	return codegen.Declaration{Name: f.Name, Effects: f.Effects, Read: f.Read, Write: f.Write, Hosts: f.Hosts}, wrong
}

// passing is a trial in which everything passes.
func passing(_ context.Context, _ toolcrib.Call, _ []scaffold.File, steps []codegen.Step) (out []codegen.Outcome, _ error) {
	for _, s := range steps {
		o := codegen.Outcome{Step: s}
		if s.Until != "" {
			o.Stdout = `{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"some_tool","description":"x","inputSchema":{}}]}}`
		}
		out = append(out, o)
	}
	return out, nil
}

// memory is a folder of tools.
type memory map[string]string

func (m memory) Read(file string) ([]byte, error) {
	if text, ok := m[file]; ok {
		return []byte(text), nil
	}
	return nil, nil
}

func (m memory) Taken(name, _ string) string {
	if name == "read_file" {
		return "a tool read_file"
	}
	return ""
}

func (m memory) Install(_ context.Context, _ string, files []scaffold.File) (string, bool, error) {
	for _, f := range files {
		m[f.Name] = f.Text
	}
	return "/tools/" + files[0].Name, true, nil
}

func fine(string, string) []string { return nil }

func needs(change func(*codegen.Needs)) codegen.Needs {
	n := codegen.Needs{Declared: declared, Try: passing, Skill: fine, Agent: fine, Workflow: func(context.Context, string) []string { return nil }, Tools: memory{}}
	if change != nil {
		change(&n)
	}
	return n
}

func open(t testing.TB, change func(*codegen.Needs)) *codegen.Box {
	t.Helper()
	box, err := codegen.Open(t.Context(), codegen.Config{Repairs: 1}, needs(change))
	if err != nil {
		t.Fatal(err)
	}
	return box
}

func TestToolbox(t *testing.T) {
	cribtest.Toolbox(t, func(t testing.TB) toolcrib.Toolbox { return open(t, nil) })
}

// scripted is a model that answers with texts, the last of them again and again.
type scripted struct {
	texts []string
	asked []model.Request
}

func (s *scripted) Traits() model.Traits { return model.Traits{Name: "scripted"} }

func (s *scripted) Ask(_ context.Context, r model.Request, _ func(model.Delta)) (*model.Answer, error) {
	s.asked = append(s.asked, r)
	said := s.texts[0]
	if len(s.texts) > 1 {
		s.texts = s.texts[1:]
	}
	return &model.Answer{Message: model.Text(model.Assistant, said), Stop: model.StopEnd}, nil
}

func (s *scripted) is(n *codegen.Needs) {
	n.Model = func(context.Context, string, toolcrib.Caller, string) (model.Model, error) { return s, nil }
}

// use is a call of codegen with what it calls itself.
type use struct {
	tool  string
	input map[string]any
}

// generate calls a tool of the box as a crib would, and tells what it called.
func generate(t *testing.T, box *codegen.Box, tool, input string) (*toolcrib.Result, []use, error) {
	t.Helper()
	tools, err := box.Tools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var uses []use
	env := &toolcrib.Env{Call: toolcrib.Call{ID: "c", Input: json.RawMessage(input)}, Emit: func(toolcrib.Event) {}}
	env.Use = func(ctx context.Context, name string, in any) (*toolcrib.Result, error) {
		text, err := json.Marshal(in)
		if err != nil {
			return nil, err
		}
		u := use{tool: name}
		if err := json.Unmarshal(text, &u.input); err != nil {
			return nil, err
		}
		uses = append(uses, u)
		if strings.Contains(string(text), ".git/hooks") {
			return nil, &toolcrib.Error{Code: toolcrib.CodeDenied, Message: "it is protected"}
		}
		if name == "write_file" {
			r := toolcrib.Text("ok")
			r.Value, err = json.Marshal(map[string]any{"path": u.input["path"], "diff": "+"})
			return r, err
		}
		for _, inner := range tools {
			if inner.Name == name {
				return inner.Run(ctx, env, text)
			}
		}
		return nil, errors.New("there is no " + name)
	}
	for _, one := range tools {
		if one.Name == tool {
			r, err := one.Run(t.Context(), env, env.Call.Input)
			if err == nil && r.Failed {
				err = errors.New(r.String())
			}
			return r, uses, err
		}
	}
	t.Fatalf("there is no %s", tool)
	return nil, nil, nil
}

// TestTemplates: without a model the templates are written, with their marks.
func TestTemplates(t *testing.T) {
	box := open(t, nil)
	for input, paths := range map[string]string{
		`{"description":"Counts words","name":"some_tool","target":"tool","language":"sh"}`:         "tools/some_tool/some_tool.sh tools/some_tool/some_tool_test.sh",
		`{"description":"Counts words","name":"some_tool","target":"tool","language":"python"}`:     "tools/some_tool/some_tool.py tools/some_tool/test_some_tool.py",
		`{"description":"Counts words","name":"some_tool","target":"tool","language":"javascript"}`: "tools/some_tool/some_tool.mjs tools/some_tool/some_tool.test.mjs",
		`{"description":"A tool in golang","name":"some_tool"}`:                                     "tools/some_tool/some_tool.go tools/some_tool/some_tool_test.go",
		`{"description":"x","target":"tool","output_path":"a/b/some_tool.py"}`:                      "a/b/some_tool.py a/b/test_some_tool.py",
		`{"description":"x","target":"tool","name":"some_tool","output_path":"bin"}`:                "bin/some_tool.py bin/test_some_tool.py",
		`{"description":"Write release notes as a skill"}`:                                          ".agents/skills/write-release-notes-as-a-skill/SKILL.md",
		`{"description":"x","target":"skill","output_path":"skills/my-skill/SKILL.md"}`:             "skills/my-skill/SKILL.md",
		`{"description":"Reviews changes"}`:                                                         "agents/reviews-changes.yaml",
		`{"description":"A pipeline that tidies up"}`:                                               "workflows/a_pipeline_that_tidies_up.js",
	} {
		r, uses, err := generate(t, box, "codegen", input)
		var got []string
		for _, u := range uses {
			got = append(got, u.input["path"].(string))
			if text := u.input["content"].(string); !strings.Contains(text, scaffold.Mark) && !strings.Contains(u.input["path"].(string), "test") {
				t.Errorf("%s: no mark in\n%s", input, text)
			}
		}
		if err != nil || strings.Join(got, " ") != paths {
			t.Errorf("%s: %q %v %v", input, got, r, err)
		}
	}
}

// TestRefused: what does not go together is refused before anything is asked or run.
func TestRefused(t *testing.T) {
	box := open(t, func(n *codegen.Needs) {
		n.Has = func(kind string) error {
			if kind == "node" {
				return errors.New("there is no node")
			}
			return nil
		}
		n.Try = func(context.Context, toolcrib.Call, []scaffold.File, []codegen.Step) ([]codegen.Outcome, error) {
			t.Error("it was tried")
			return nil, errors.New("no")
		}
	})
	for input, says := range map[string]string{
		`{"description":" "}`: "description is empty",
		`{"description":"x","target":"tool","name":"../evil"}`:                                   "is no name for a tool",
		`{"description":"x","target":"tool","name":"a/b"}`:                                       "is no name for a tool",
		`{"description":"x","target":"tool","output_path":"x/..%2f.py"}`:                         "is no name for a tool",
		`{"description":"x","target":"tool","output_path":"x/.py"}`:                              "",
		`{"description":"x","target":"tool","output_path":"x/a.rb"}`:                             "output_path ends with .rb",
		`{"description":"x","target":"tool","name":"a","output_path":"x/b.py"}`:                  "leave one out",
		`{"description":"x","target":"tool","name":"class"}`:                                     "word of the language",
		`{"description":"x","target":"tool","name":"test_x"}`:                                    "no name for a generated tool",
		`{"description":"x","target":"tool","language":"javascript"}`:                            "there is no node",
		`{"description":"x","target":"skill","install":true}`:                                    "install is for tools",
		`{"description":"x","target":"agent","hosts":["a.example"]}`:                             "are for tools",
		`{"description":"x","target":"workflow","language":"sh"}`:                                "language is for tools",
		`{"description":"x","target":"skill","output_path":"../../.claude/skills/x y/SKILL.md"}`: "is no name for a skill",
	} {
		if says == "" {
			continue
		}
		_, uses, err := generate(t, box, "codegen", input)
		if toolcrib.CodeOf(err) != toolcrib.CodeInvalid || !strings.Contains(err.Error(), says) || len(uses) > 0 {
			t.Errorf("%s: %v %v", input, err, uses)
		}
	}
}

const (
	good = "```sh\n#!/bin/sh\n# toolcrib:\n#   description: x\n#   effects: [pure]\n\necho hi\n```\n"
	test = "```sh\nset -eu\n```\n"
)

// TestWidening: a model that declares more than the call asked for is told, and then refused.
func TestWidening(t *testing.T) {
	for name, c := range map[string]struct{ change, more, says string }{
		"network":         {"effects: [network]\n#   hosts: [evil.example]", "", "it may have pure"},
		"another host":    {"effects: [network]\n#   hosts: [evil.example]", `,"hosts":["good.example"]`, `hosts has "evil.example"`},
		"another folder":  {"effects: [reads]\n#   read: [/etc]", `,"read":["."]`, `read has "/etc"`},
		"writes":          {"effects: [writes]\n#   write: [.]", `,"read":["."]`, "it may have"},
		"another name":    {"effects: [pure]\n#   name: read_file", "", `it declares the name "read_file"`},
		"undeclared all":  {"effects: [network, secrets]\n#   hosts: [good.example]", `,"hosts":["good.example"]`, "it may have"},
		"no such effects": {"effects: [nothing]", "", "unknown effect"},
	} {
		m := &scripted{texts: []string{strings.Replace(good, "effects: [pure]", c.change, 1) + test}}
		_, uses, err := generate(t, open(t, m.is), "codegen", `{"description":"x","target":"tool","language":"sh","name":"some_tool"`+c.more+`}`)
		if err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), "nothing was written") || len(uses) > 0 || len(m.asked) != 2 {
			t.Errorf("%s: %v %v, asked %d times", name, err, uses, len(m.asked))
			continue
		}
		if back := m.asked[1].Messages[2].Said(); !strings.Contains(back, c.says) {
			t.Errorf("%s: the model was told %q", name, back)
		}
	}
	m := &scripted{texts: []string{strings.Replace(good, "effects: [pure]", "effects: [reads, network]\n#   hosts: [good.example]\n#   read: [.]", 1) + test}}
	if _, uses, err := generate(t, open(t, m.is), "codegen", `{"description":"x","target":"tool","language":"sh","name":"some_tool","hosts":["good.example"],"read":["."]}`); err != nil || len(uses) != 2 {
		t.Errorf("what was asked for: %v %v", uses, err)
	}
}

// TestAnswers: what models answer that is no pair of files.
func TestAnswers(t *testing.T) {
	for name, c := range map[string]struct{ text, says string }{
		"nothing":    {"", "has 0 blocks"},
		"one":        {good, "has 1 blocks"},
		"three":      {good + test + test, "has 3 blocks"},
		"unclosed":   {good + "```\nx", "has 1 blocks"},
		"empty":      {good + "```\n\n```\n", "a block is empty"},
		"bidi":       {strings.Replace(good, "echo hi", "echo \u202ehi", 1) + test, "which nobody sees"},
		"too long":   {good + "```\n" + strings.Repeat("x", 70_000) + "\n```\n", "at most 65536"},
		"other runs": {strings.Replace(good, "#!/bin/sh", "#!/usr/bin/env python3", 1) + test, "begin it with #!/bin/sh"},
		"no header":  {"```\n#!/bin/sh\necho hi\n```\n" + test, "it declares the name"},
	} {
		m := &scripted{texts: []string{c.text}}
		_, uses, err := generate(t, open(t, m.is), "codegen", `{"description":"x","target":"tool","language":"sh","name":"some_tool"}`)
		if err == nil || !strings.Contains(err.Error(), c.says) || len(uses) > 0 {
			t.Errorf("%s: %v %v", name, err, uses)
		}
	}
}

// TestTextsAreOurs: of a skill and an agent a model writes texts, and no key.
func TestTextsAreOurs(t *testing.T) {
	m := &scripted{texts: []string{"```\nx\nallowed-tools: run_command\n```\n```\n---\nname: other\n---\nDo it.\n```\n"}}
	_, uses, err := generate(t, open(t, m.is), "codegen", `{"description":"x","target":"skill","name":"my-skill"}`)
	if err != nil || !strings.HasPrefix(uses[0].input["content"].(string), "---\nname: my-skill\ndescription: \"x allowed-tools: run_command\"\n---\n") {
		t.Errorf("%v %v", uses, err)
	}
	m = &scripted{texts: []string{"```\nx\n```\n```\nhi\n    mode: yolo\ngrant: {write: [/]}\n```\n"}}
	_, uses, err = generate(t, open(t, m.is), "codegen", `{"description":"x","target":"agent","name":"me"}`)
	if err != nil || !strings.Contains(uses[0].input["content"].(string), "    mode: default\n    instructions: \"hi\\n    mode: yolo\\ngrant: {write: [/]}\"\n") {
		t.Errorf("%v %v", uses, err)
	}
}

// TestNotLost: what the rules about files refuse is given back.
func TestNotLost(t *testing.T) {
	_, uses, err := generate(t, open(t, nil), "codegen", `{"description":"x","target":"tool","language":"sh","name":"some_tool","output_path":".git/hooks"}`)
	if toolcrib.CodeOf(err) != toolcrib.CodeDenied || !strings.Contains(err.Error(), "not written: it is protected") || !strings.Contains(err.Error(), "#!/bin/sh") || len(uses) != 1 {
		t.Errorf("%v %v", err, uses)
	}
}

// TestInstall: the call says what the file declares, or nobody is asked.
func TestInstall(t *testing.T) {
	box := open(t, nil)
	call := func(change func(map[string]any)) string {
		in := map[string]any{"name": "some_tool", "language": "sh", "effects": "pure", "content": strings.TrimSuffix(strings.TrimPrefix(good, "```sh\n"), "```\n"), "test": "true\n"}
		if change != nil {
			change(in)
		}
		text, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	tools, err := box.Tools(t.Context())
	if err != nil || len(tools) != 2 {
		t.Fatal(tools, err)
	}
	shown, err := tools[1].Preview(t.Context(), nil, json.RawMessage(call(nil)))
	if err != nil || !strings.Contains(shown, "+++ tools/some_tool.sh\n@@ -0,0 +1,6 @@\n+#!/bin/sh\n") || !strings.Contains(shown, "+++ tools/tests/some_tool_test.sh\n") {
		t.Errorf("%v\n%s", err, shown)
	}
	for name, c := range map[string]struct {
		change func(map[string]any)
		says   string
	}{
		"less than it declares": {func(in map[string]any) {
			in["content"] = strings.Replace(in["content"].(string), "[pure]", "[reads]\n#   read: .", 1)
		}, "it may have pure"},
		"other effects": {func(in map[string]any) { in["effects"] = "reads" }, "say what the file declares"},
		"more":          {func(in map[string]any) { in["hosts"] = []string{"a.example"} }, "say what the file declares"},
		"traversal":     {func(in map[string]any) { in["name"] = "../../.bashrc" }, "is no name"},
		"taken":         {func(in map[string]any) { in["name"] = "read_file" }, "there is a tool read_file already"},
		"hidden":        {func(in map[string]any) { in["content"] = in["content"].(string) + "# \u2066x\n" }, "which nobody sees"},
	} {
		if shown, err := tools[1].Preview(t.Context(), nil, json.RawMessage(call(c.change))); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v\n%s", name, err, shown)
		}
	}
	if r, _, err := generate(t, box, "install_tool", call(nil)); err != nil || !strings.Contains(string(r.Value), `"loaded":true`) {
		t.Errorf("%v %v", r, err)
	}
	shown, err = tools[1].Preview(t.Context(), nil, json.RawMessage(call(func(in map[string]any) { in["content"] = in["content"].(string) + "echo more\n" })))
	if err != nil || !strings.Contains(shown, "--- tools/some_tool.sh\n") || !strings.Contains(shown, "-echo hi\n") || !strings.Contains(shown, "+echo more\n") {
		t.Errorf("%v\n%s", err, shown)
	}
}

// FuzzBlocks: whatever a model answers, its blocks are parts of it.
func FuzzBlocks(f *testing.F) {
	for _, seed := range []string{"", good + test, "```\n```", "````md\n```\nx\n```\n````", "~~~\nx\n~~~\n", "   ```\nx\n   ```", "```a```\n", "\r\n```\r\nx\r\n```\r\n", "``\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, answer string) {
		plain := strings.ReplaceAll(answer, "\r\n", "\n")
		for _, b := range codegen.Blocks(answer) {
			if b != "\n" && !strings.Contains(plain, strings.TrimSuffix(b, "\n")) {
				t.Fatalf("%q is not in it", b)
			}
		}
	})
}
