package skill

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib/internal/config"
)

func machine(has ...string) Machine {
	in := func(kind string) func(string) bool {
		return func(name string) bool {
			return slices.Contains(has, kind+name)
		}
	}
	return Machine{OS: "linux", Program: in(""), Env: in("$"), Setting: in("=")}
}

// TestGates: a skill whose machine lacks something is not there, however the gate is
// written, and one whose gate nobody understands is not there either.
func TestGates(t *testing.T) {
	front := func(gate string) string {
		return "name: folder\ndescription: d\nmetadata:\n  agenticx:\n    gate:" + gate + "\n"
	}
	for name, c := range map[string]struct{ front, needs, err string }{
		"none":          {"name: folder\ndescription: d\n", "", ""},
		"empty":         {front(" {}"), "", ""},
		"has":           {front("\n      requires_bins: [git]"), "", ""},
		"lacks":         {front("\n      requires_bins: [git, ffmpeg, sox]"), "ffmpeg, sox", ""},
		"block list":    {front("\n      requires_bins:\n        - git\n        - ffmpeg"), "ffmpeg", ""},
		"text":          {front("\n      requires_bins: git ffmpeg"), "ffmpeg", ""},
		"flow":          {front(" {requires_any_bins: [rg, ag], os: [Linux]}"), "rg or ag", ""},
		"any":           {front(" {requires_any_bins: [rg, git]}"), "", ""},
		"system":        {front(" {os: [darwin, windows]}"), "darwin or windows", ""},
		"variables":     {front(" {requires_env: [HOME, KEY]}"), "the variable KEY", ""},
		"settings":      {front(" {requires_config: [toolboxes.web.engine, x.y]}"), "the setting x.y", ""},
		"always":        {front(" {always: true, os: [plan9]}"), "", ""},
		"not always":    {front(" {always: false, os: [plan9]}"), "plan9", ""},
		"a text":        {front(" linux"), "", "it has no keys"},
		"a list":        {front(" [linux]"), "", "it has no keys"},
		"unknown key":   {front(" {requires_bin: [x]}"), "", "requires_bin is none of"},
		"no list":       {front(" {requires_bins: {a: b}}"), "", "no list of names"},
		"always yes":    {front(" {always: \"yes\"}"), "", "true or false"},
		"above a text":  {"name: folder\ndescription: d\nmetadata:\n  agenticx: gate\n", "", "has no keys"},
		"other's":       {"name: folder\ndescription: d\nmetadata:\n  other: 3\n", "", ""},
		"meta text":     {"name: folder\ndescription: d\nmetadata: x\n", "", ""},
		"mended":        {"description: Search: the web\n" + front("\n      requires_bins: [ffmpeg]")[len("name: folder\ndescription: d\n"):] + "name: folder\n", "ffmpeg", ""},
		"hopeless":      {"name: folder\ndescription: d\n\"x: {\n" + front(" {requires_bins: [ffmpeg]}"), "", "nobody can tell"},
		"many, all out": {front(" {os: [a], requires_bins: [b], requires_any_bins: [c, d], requires_env: [e], requires_config: [f]}"), "a, b, c or d, the variable e, the setting f", ""},
	} {
		b := &Box{needs: Needs{YAML: config.Decode, Machine: machine("git", "$HOME", "=toolboxes.web.engine")}}
		got := b.Validate("folder", []byte("---\n"+c.front+"---\nBody\n"))
		if got.Needs != c.needs || (got.Err == nil) != (c.err == "") || got.Err != nil && !strings.Contains(got.Err.Error(), c.err) {
			t.Errorf("%s: needs %q, %v", name, got.Needs, got.Err)
		}
	}
	if needs := (Gate{Bins: []string{"git"}, Env: []string{"HOME"}, Config: []string{"x"}}).Needs(Machine{}); needs != "git, the variable HOME, the setting x" {
		t.Errorf("where nobody answers: %q", needs)
	}
}

// TestGatedIsTold: what is left out by its gate says what it needs, and comes when that
// is there.
func TestGatedIsTold(t *testing.T) {
	root := plant(t, map[string]string{
		"a/SKILL.md": skillText("a", "Plain.", "x"),
		"b/SKILL.md": "---\nname: b\ndescription: Films\nmetadata:\n  agenticx:\n    gate:\n      requires_bins:\n        - ffmpeg\n---\n",
	})
	there := false
	m := Machine{Program: func(string) bool { return there }}
	b := open(t, Config{Places: []Place{at("user", root)}}, Needs{YAML: config.Decode, Machine: m})
	out, _ := call[listOut](t, b, "list_skills", map[string]any{})
	if len(out.Skills) != 1 || len(out.Skipped) != 1 || out.Skipped[0].Reason != "needs ffmpeg" {
		t.Errorf("%+v", out)
	}
	if _, failed := call[useOut](t, b, "use_skill", map[string]any{"name": "b"}); failed == "" {
		t.Error("a skill was used whose gate is shut")
	}
	there = true
	if out, _ = call[listOut](t, b, "list_skills", map[string]any{}); len(out.Skills) != 2 || len(out.Skipped) != 0 {
		t.Errorf("%+v", out)
	}
}

func TestMend(t *testing.T) {
	for name, c := range map[string]struct{ front, description, note string }{
		"fine":          {"name: n\ndescription: d\n", "d", ""},
		"colon":         {"name: n\ndescription: Search the web: facts\n", "Search the web: facts", "description wants quotes"},
		"colon at end":  {"name: n\ndescription: Use for:\n", "Use for:", "description wants quotes"},
		"goes on":       {"name: n\ndescription: One: two\n  three: four\nlicense: MIT\n", "One: two three: four", "description wants quotes"},
		"at":            {"name: n\ndescription: @you do it\n", "@you do it", "description wants quotes"},
		"back quote":    {"name: n\ndescription: `x` does it\n", "`x` does it", "description wants quotes"},
		"bracket":       {"name: n\ndescription: [WIP] does it\n", "[WIP] does it", "description wants quotes"},
		"tab":           {"name: n\nmetadata:\n\tversion: 1\ndescription: d\n", "d", "tabs indent"},
		"quote in text": {"name: n\ndescription: \"Do\" this: now\n", "\"Do\" this: now", "description wants quotes"},
		"twice":         {"name: n\ndescription: a\ndescription: b\n", "b", "line by line"},
		"emoji":         {"name: n\ndescription: 🎉 party: yes\n", "🎉 party: yes", "description wants quotes"},
	} {
		b := &Box{needs: Needs{YAML: config.Decode}}
		got := b.Validate("n", []byte("---\n"+c.front+"---\n"))
		if got.Err != nil || got.Skill.Description != c.description || !strings.Contains(strings.Join(got.Notes, "; "), c.note) || c.note == "" && got.Notes != nil {
			t.Errorf("%s: %q, %q, %v", name, got.Skill.Description, got.Notes, got.Err)
		}
	}
}

func FuzzMend(f *testing.F) {
	f.Add("name: n\ndescription: a: b\n  c\n\t- d\n")
	f.Add("metadata:\n  agenticx:\n    gate: {requires_bins: [x]}\n")
	f.Add("description: \"a\\q\": [\n")
	f.Fuzz(func(t *testing.T, front string) {
		b := &Box{needs: Needs{YAML: config.Decode}}
		got := b.Validate("n", []byte("---\n"+front+"\n---\nbody\n"))
		if got.Err == nil && (got.Skill.Name == "" || got.Skill.Description == "") {
			t.Errorf("a skill without name or description: %+v", got.Skill)
		}
	})
}

func TestStrict(t *testing.T) {
	long := strings.Repeat("x", 65)
	for name, c := range map[string]struct{ text, want string }{
		"fine":          {"---\nname: f\ndescription: d\nlicense: MIT\ncompatibility: any\nallowed-tools: Read Bash(git:*)\nmetadata:\n  version: \"1\"\n---\n", "[]"},
		"other folder":  {"---\nname: g\ndescription: d\n---\n", "[name is not that of its folder, f]"},
		"big letters":   {"---\nname: F\ndescription: d\n---\n", "[name has other signs than small letters, digits and - name is not that of its folder, f]"},
		"dashes":        {"---\nname: f--\ndescription: d\n---\n", "[name has a - at an end, or two in a row name is not that of its folder, f]"},
		"long":          {"---\nname: " + long + "\ndescription: " + strings.Repeat("y", 1025) + "\n---\n", "[name has 65 letters; at most 64 are allowed name is not that of its folder, f description has 1025 letters; at most 1024 are allowed]"},
		"nothing":       {"---\nx: 1\n---\n", "[x is no field of the format; it belongs into metadata name is missing description is missing]"},
		"lists":         {"---\nname: f\ndescription: d\nallowed-tools: [Read]\nmetadata:\n  n: 1\n---\n", "[allowed-tools is no text metadata.n is no text]"},
		"no front":      {"# x\n", "[it does not begin with a front matter]"},
		"blank first":   {"\n---\nname: f\ndescription: d\n---\n", "[the file does not begin with its front matter]"},
		"odd values":    {"---\nname: 3\ndescription: ''\nmetadata: x\n---\n", "[name is no text description is empty metadata has no keys]"},
		"german letter": {"---\nname: f\ndescription: Prüft\n---\n", "[]"},
	} {
		b := &Box{needs: Needs{YAML: config.Decode}}
		if got := fmt.Sprint(b.Validate("f", []byte(c.text)).Strict); got != c.want {
			t.Errorf("%s: %s", name, got)
		}
	}
}
