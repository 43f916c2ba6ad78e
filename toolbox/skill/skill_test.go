package skill

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/model"
)

// plant writes files below a new directory, by their path with slashes.
func plant(t testing.TB, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		at := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func skillText(name, description, body string) string {
	return "---\nname: " + name + "\ndescription: " + description + "\n---\n" + body + "\n"
}

// handle reads below a place as the program does.
func handle(p Place) (*files.Handle, error) {
	dir := p.Path
	if p.File {
		dir = filepath.Dir(dir)
	}
	return files.New([]files.Dir{{Path: dir}}, files.Options{})
}

func open(t testing.TB, cfg Config, needs Needs) *Box {
	t.Helper()
	if needs.Open == nil {
		needs.Open = handle
	}
	needs.Log = slog.New(slog.DiscardHandler)
	b, err := Open(t.Context(), cfg, needs)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func at(scope, path string) Place { return Place{Path: path, Scope: scope} }

// call uses a tool of the box through a crib.
func call[Out any](t testing.TB, b *Box, tool string, input any) (out Out, failed string) {
	t.Helper()
	crib := &toolcrib.Crib{Catalog: &toolcrib.Catalog{}, Guards: []toolcrib.Guard{cribtest.Allow()}, Journal: &cribtest.Memory{}, Log: slog.New(slog.DiscardHandler)}
	if _, faults := crib.Catalog.Load(t.Context(), toolcrib.Contents{Boxes: []toolcrib.Toolbox{b}}); faults != nil {
		t.Fatal(faults)
	}
	text, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	result, err := crib.Call(t.Context(), toolcrib.Call{Tool: tool, Input: text, Caller: toolcrib.Caller{Subject: "ann"}})
	switch {
	case err != nil:
		return out, err.Error()
	case result.Failed:
		return out, result.String()
	}
	if err := json.Unmarshal(result.Value, &out); err != nil {
		t.Fatal(err)
	}
	return out, ""
}

func TestToolbox(t *testing.T) {
	root := plant(t, map[string]string{
		"pdf/SKILL.md": skillText("pdf", "Work with PDF files.", "Use a library."), "pdf/forms.md": "Forms.",
		"release/SKILL.md": skillText("release", "How to release.", "Tag it."),
	})
	cribtest.Toolbox(t, func(t testing.TB) toolcrib.Toolbox {
		return open(t, Config{Places: []Place{at("user", root)}, Screens: "mcp-shelf"}, Needs{Model: func(context.Context, toolcrib.Caller, string) (model.Model, error) {
			return brain(func(model.Request) (*model.Answer, error) {
				return &model.Answer{Message: model.Text(model.Assistant, "done")}, nil
			}), nil
		}})
	})
	for name, try := range map[string]func() (*Box, error){
		"no handle": func() (*Box, error) { return Open(t.Context(), Config{}, Needs{}) },
		"bound":     func() (*Box, error) { return Open(t.Context(), Config{MaxDirs: -1}, Needs{Open: handle}) },
		"relative": func() (*Box, error) {
			return Open(t.Context(), Config{Places: []Place{at("user", "skills")}}, Needs{Open: handle})
		},
	} {
		if _, err := try(); err == nil {
			t.Errorf("%s: it opened", name)
		}
	}
}

func TestWithoutSkillsThereIsNoTool(t *testing.T) {
	b := open(t, Config{Places: []Place{at("user", plant(t, nil)), at("user", filepath.Join(t.TempDir(), "none"))}}, Needs{})
	tools, err := b.Tools(t.Context())
	if err != nil || len(tools) != 0 {
		t.Errorf("%d tools, %v", len(tools), err)
	}
	if found, err := b.scanPlaces(t.Context()); err != nil || len(found.skipped) > 0 {
		t.Errorf("a place that is not there is told: %v, %v", found, err)
	}
}

// names gives the names and paths of what was found, and what was skipped.
func names(t *testing.T, b *Box) (found []string, skipped map[string]string) {
	t.Helper()
	s, err := b.scanPlaces(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range s.skills {
		found = append(found, s.Scope+":"+s.Name)
	}
	skipped = map[string]string{}
	for _, s := range s.skipped {
		skipped[filepath.Base(filepath.Dir(s.Path))+"/"+filepath.Base(s.Path)] = s.Reason
	}
	return found, skipped
}

func TestFirstPlaceWins(t *testing.T) {
	project := plant(t, map[string]string{"deploy/SKILL.md": skillText("deploy", "Of the project.", "A"), "x/SKILL.md": skillText("gone", "Hidden.", "X")})
	user := plant(t, map[string]string{"deploy/SKILL.md": skillText("deploy", "Of the person.", "B"), "mail/SKILL.md": skillText("mail", "Mail.", "C")})
	b := open(t, Config{Places: []Place{at("project", project), at("user", user), at("user", user)}, Hide: []string{"gone"}}, Needs{})
	found, skipped := names(t, b)
	if diff := cmp.Diff([]string{"project:deploy", "user:mail"}, found); diff != "" {
		t.Error(diff)
	}
	if !strings.Contains(skipped["deploy/SKILL.md"], "another skill is called deploy") {
		t.Errorf("the collision is not told: %v", skipped)
	}
	out, failed := call[useOut](t, b, "use_skill", map[string]string{"name": "deploy"})
	if failed != "" || out.Instructions != "A" || out.Scope != "project" || out.Directory != filepath.Join(project, "deploy") {
		t.Errorf("%+v, %s", out, failed)
	}
	if _, failed := call[useOut](t, b, "use_skill", map[string]string{"name": "gone"}); failed == "" {
		t.Error("a hidden skill is there")
	}
}

// TestPackagedSkills: those that packages bring come and go, and come after all others.
func TestPackagedSkills(t *testing.T) {
	root := plant(t, map[string]string{"own/a/SKILL.md": skillText("a", "Mine.", "x"), "package/SKILL.md": skillText("b", "Theirs.", "x"), "other/SKILL.md": skillText("a", "Not this one.", "x")})
	var paths []string
	b := open(t, Config{Places: []Place{at("user", filepath.Join(root, "own"))}}, Needs{More: func() []Place { return Packaged(paths) }})
	if found, _ := names(t, b); len(found) != 1 {
		t.Errorf("before: %v", found)
	}
	paths = []string{filepath.Join(root, "package", "SKILL.md"), filepath.Join(root, "other", "SKILL.md"), filepath.Join(root, "gone", "SKILL.md")}
	found, skipped := names(t, b)
	if len(found) != 2 || len(skipped) != 2 {
		t.Errorf("with packages: %v, %v", found, skipped)
	}
	paths = nil
	if found, _ := names(t, b); len(found) != 1 {
		t.Errorf("afterwards: %v", found)
	}
}

// TestOddSkillsAreThere: what does not keep to the format is told to the log,
// and not to models.
func TestOddSkillsAreThere(t *testing.T) {
	root := plant(t, map[string]string{"dir/SKILL.md": skillText("another", "d", "b"), "none/SKILL.md": "---\ndescription: d\n---\n"})
	b := open(t, Config{Places: []Place{at("user", root)}}, Needs{})
	found, err := b.scanPlaces(t.Context())
	if err != nil || len(found.skills) != 2 || len(found.odd) != 2 || len(found.skipped) != 0 {
		t.Errorf("%+v, %v", found, err)
	}
	if out, _ := call[listOut](t, b, "list_skills", map[string]string{}); len(out.Skills) != 2 || len(out.Skipped) != 0 {
		t.Errorf("%+v", out)
	}
}

func TestWalkIsBounded(t *testing.T) {
	one := skillText("n", "d", "b")
	files := map[string]string{
		"a/b/c/SKILL.md": skillText("three", "d", "b"), "a/b/c/d/SKILL.md": one, "1/2/3/4/SKILL.md": one,
		".git/x/SKILL.md": one, "node_modules/x/SKILL.md": one, "low/skill.md": skillText("low", "d", "b"), "other/Skill.md": one,
	}
	root := plant(t, files)
	b := open(t, Config{Places: []Place{at("user", root)}, MaxDepth: 3}, Needs{})
	found, _ := names(t, b)
	if diff := cmp.Diff([]string{"user:low", "user:three"}, found); diff != "" && runtime.GOOS == "linux" { // elsewhere Skill.md is SKILL.md
		t.Error(diff)
	}
	many := map[string]string{}
	for i := range 40 {
		name := "s" + strings.Repeat("i", i)
		many[name+"/SKILL.md"] = skillText(name, "d", "b")
	}
	root = plant(t, many)
	if found, skipped := names(t, open(t, Config{Places: []Place{at("user", root)}, MaxSkills: 5}, Needs{})); len(found) != 5 || len(skipped) != 35 {
		t.Errorf("%d skills, %d skipped", len(found), len(skipped))
	}
	found, skipped := names(t, open(t, Config{Places: []Place{at("user", root)}, MaxDirs: 10}, Needs{}))
	if len(found) > 10 || !strings.Contains(skipped[filepath.Base(filepath.Dir(root))+"/"+filepath.Base(root)], "more than 10 directories") {
		t.Errorf("%d skills of 10 directories, %v", len(found), skipped)
	}
	big := plant(t, map[string]string{"big/SKILL.md": skillText("big", "d", strings.Repeat("x", 2000))})
	if found, skipped := names(t, open(t, Config{Places: []Place{at("user", big)}, MaxText: 1000}, Needs{})); len(found) != 0 || !strings.Contains(skipped["big/SKILL.md"], "larger") {
		t.Errorf("%v, %v", found, skipped)
	}
}

// brain is a model.
type brain func(model.Request) (*model.Answer, error)

func (brain) Traits() model.Traits { return model.Traits{} }
func (b brain) Ask(_ context.Context, r model.Request, _ func(model.Delta)) (*model.Answer, error) {
	return b(r)
}

func TestListAndRun(t *testing.T) {
	root := plant(t, map[string]string{
		"pdf/SKILL.md": skillText("pdf", "Work with PDF files.", "Be careful."), "csv/SKILL.md": skillText("csv", "Tables.", "x"), "bad/SKILL.md": "---\nno end",
	})
	var system, user string
	var whom toolcrib.Caller
	ready := true
	own := at("user", root)
	own.Origin = Person
	b := open(t, Config{Places: []Place{own}}, Needs{Foreign: func(string, fs.FileInfo) error { return nil }, Ready: func() bool { return ready }, Model: func(_ context.Context, caller toolcrib.Caller, parent string) (model.Model, error) {
		whom = caller
		return brain(func(r model.Request) (*model.Answer, error) {
			system, user = r.System, r.Messages[0].Said()
			if len(r.Messages) != 1 || r.Tools != nil {
				t.Errorf("the model gets more than a text: %+v", r)
			}
			said := &model.Answer{Message: model.Text(model.Assistant, "an answer")}
			switch user {
			case "fail":
				return nil, errors.New("the model is away")
			case "long":
				said.Stop = model.StopLength
			case "nothing":
				said.Message.Parts = nil
			}
			return said, nil
		}), nil
	}})
	out, _ := call[listOut](t, b, "list_skills", map[string]string{"query": "pdf FILES"})
	want := []listedSkill{{Name: "pdf", Description: "Work with PDF files.", Scope: "user", Trusted: true}}
	if diff := cmp.Diff(want, out.Skills); diff != "" || len(out.Skipped) != 1 {
		t.Errorf("%s, skipped %v", diff, out.Skipped)
	}
	ran, failed := call[runOut](t, b, "run_skill", map[string]string{"skill": "pdf", "task": "Merge.", "context": "Two of them."})
	if failed != "" || ran != (runOut{"an answer", "pdf"}) || system != "Be careful." || user != "Merge.\n\nContext: Two of them." {
		t.Errorf("%+v %s: %q, %q", ran, failed, system, user)
	}
	if _, failed := call[runOut](t, b, "run_skill", map[string]string{"skill": "pdf", "task": "fail"}); !strings.Contains(failed, "away") {
		t.Errorf("a model that fails: %s", failed)
	}
	if ran, failed := call[runOut](t, b, "run_skill", map[string]string{"skill": "pdf", "task": "long"}); !strings.Contains(ran.Result, "cut off") {
		t.Errorf("an answer that was cut off: %+v %s", ran, failed)
	}
	if _, failed := call[runOut](t, b, "run_skill", map[string]string{"skill": "pdf", "task": "nothing"}); !strings.Contains(failed, "no answer") {
		t.Errorf("no answer: %s", failed)
	}
	if whom.Subject == "" {
		t.Error("the model is not asked as the caller")
	}
	ready = false
	if tools, err := b.Tools(t.Context()); err != nil || b.Runs() || slices.ContainsFunc(tools, func(t toolcrib.Tool) bool { return t.Name == "run_skill" }) {
		t.Errorf("run_skill without a model: %v", err)
	}
	// One that is new is found without a reload.
	if err := os.WriteFile(filepath.Join(root, "csv", "SKILL.md"), []byte(skillText("tables", "d", "y")), 0o644); err != nil {
		t.Fatal(err)
	}
	if s, err := b.named(t.Context(), "tables"); err != nil || s.Name != "tables" {
		t.Errorf("%+v, %v", s, err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.scanPlaces(gone); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller that has gone: %v", err)
	}
}
