package dialect

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
	"github.com/toolcrib/toolcrib/files"
	llm "github.com/toolcrib/toolcrib/model"
	"github.com/toolcrib/toolcrib/toolbox/skill"
)

func TestSlug(t *testing.T) {
	for name, want := range map[string]string{
		"web-search": "web_search", "Web  Search!": "web_search", "Ünïcode": "n_code", "日本": "", "2fast": "2fast",
		"__a__b__": "a_b", "a.b/c:d": "a_b_c_d", "": "", "-": "", "ABC": "abc",
	} {
		if got := slug(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

// TestSkillContract holds the contract of a skill against the recorded one.
func TestSkillContract(t *testing.T) {
	text, err := os.ReadFile("testdata/ovos_skill_tool.json")
	if err != nil {
		t.Fatal(err)
	}
	var want []map[string]any
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	list, left := OVOSSkills([]Skill{{"web-search", "Search the web: use for facts"}}, false, nil)
	if len(list) != 1 || left != nil {
		t.Fatalf("%d tools, %v", len(list), left)
	}
	var got map[string]any
	if err := json.Unmarshal(mustJSON(Contract(OVOS, entry(list[0]))), &got); err != nil {
		t.Fatal(err)
	}
	if got["toolbox_id"] != "ovos-skill-md-toolbox" {
		t.Errorf("it is of %v", got["toolbox_id"])
	}
	delete(got, "toolbox_id") // the recording is of the discovery, which names it once for all
	if diff := cmp.Diff(want[0], got); diff != "" {
		t.Error(diff)
	}
}

func TestSkillsThatHaveNoTool(t *testing.T) {
	list, left := OVOSSkills([]Skill{{"a-b", "1"}, {"A b", "2"}, {"日本", "3"}, {"write-file", "4"}, {strings.Repeat("x", 65), "5"}, {"c", "6"}, {"d", "7"}}, true,
		func(name string) bool { return name == "write_file" || name == "d" || name == "skill_d" })
	var names []string
	for _, a := range list {
		names = append(names, a.Name+":"+a.Description+":"+a.Native)
	}
	if diff := cmp.Diff([]string{"a_b:1:run_skill", "skill_write_file:4:run_skill", "c:6:run_skill"}, names); diff != "" {
		t.Error(diff)
	}
	if len(left) != 4 || !strings.Contains(left[3].Error(), "another tool is called skill_d") {
		t.Errorf("left out: %v", left)
	}
}

// skillRoom has the real box behind the adapters.
func skillRoom(t *testing.T, model func(context.Context, string, string) (string, error)) *room {
	t.Helper()
	var given func(context.Context, toolcrib.Caller, string) (llm.Model, error)
	if model != nil {
		given = func(context.Context, toolcrib.Caller, string) (llm.Model, error) { return brain(model), nil }
	}
	root := newTree(t)
	put(t, filepath.Join(root, "s", "SKILL.md"), "---\nname: web-search\ndescription: Search the web: use for facts\n---\nSearch well.\n")
	box, err := skill.Open(t.Context(), skill.Config{Places: []skill.Place{{Path: root, Scope: "user", Origin: skill.Person}}}, skill.Needs{
		Open: func(p skill.Place) (*files.Handle, error) {
			return files.New([]files.Dir{{Path: p.Path}}, files.Options{})
		},
		Foreign: func(string, fs.FileInfo) error { return nil },
		Model:   given, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	skills, err := box.Skills(t.Context())
	if err != nil || len(skills) != 1 {
		t.Fatal(skills, err)
	}
	adapters, left := OVOSSkills([]Skill{{skills[0].Name, skills[0].Description}}, box.Runs(), nil)
	if left != nil {
		t.Fatal(left)
	}
	c := &toolcrib.Crib{Catalog: &toolcrib.Catalog{}, Guards: []toolcrib.Guard{cribtest.Allow()}, Journal: &cribtest.Memory{}, Log: slog.New(slog.DiscardHandler)}
	if _, faults := c.Catalog.Load(t.Context(), toolcrib.Contents{Boxes: []toolcrib.Toolbox{box}, Adapters: append(Adapters(Options{}), adapters...)}); faults != nil {
		t.Fatal(faults)
	}
	return &room{c, root}
}

// brain is a model that is asked in two texts.
type brain func(ctx context.Context, system, user string) (string, error)

func (brain) Traits() llm.Traits { return llm.Traits{} }
func (b brain) Ask(ctx context.Context, r llm.Request, _ func(llm.Delta)) (*llm.Answer, error) {
	said, err := b(ctx, r.System, r.Messages[0].Said())
	return &llm.Answer{Message: llm.Text(llm.Assistant, said)}, err
}

func TestSkillCalls(t *testing.T) {
	const failed = "refused: RuntimeError: Tool execution failed for 'web_search' in ToolBox 'ovos-skill-md-toolbox'"
	var asked [][2]string
	with := skillRoom(t, func(_ context.Context, system, user string) (string, error) {
		if user == "fail" {
			return "", errors.New("the model is away")
		}
		asked = append(asked, [2]string{system, user})
		return "found it", nil
	})
	for _, input := range []map[string]any{{"task": "Find it."}, {"task": "Find it.", "context": nil}, {"task": "Find it.", "context": ""}, {"task": "Find it.", "context": "Soon.", "more": 1}} {
		if got := with.say(t, OVOS, "web_search", input); got != `{"result":"found it","skill_used":"web-search"}` {
			t.Errorf("%v: %s", input, got)
		}
	}
	one, two := [2]string{"Search well.", "Find it."}, [2]string{"Search well.", "Find it.\n\nContext: Soon."}
	if diff := cmp.Diff([][2]string{one, one, one, two}, asked); diff != "" {
		t.Error(diff)
	}
	if got := with.say(t, OVOS, "web_search", map[string]any{"task": 5}); !strings.HasPrefix(got, "refused: ValueError: Tool input validation failed for 'web_search' in ToolBox 'ovos-skill-md-toolbox'") {
		t.Errorf("a task that is no text: %s", got)
	}
	if got, _ := with.call(t, OVOS, "web_search", json.RawMessage(`{"task":"fail"}`)); got == nil || !got.Failed || !strings.Contains(got.String(), "away") {
		t.Errorf("a model that is away: %+v", got)
	}

	without := skillRoom(t, nil)
	if got := without.say(t, OVOS, "web_search", map[string]any{"task": "Find it."}); !strings.HasPrefix(got, failed+": no model is set up") {
		t.Errorf("without a model: %s", got)
	}
	if got := without.say(t, OVOS, "web_search", map[string]any{}); !strings.HasPrefix(got, "refused: ValueError: Tool input validation failed") {
		t.Errorf("without a model and a task: %s", got)
	}
	if got := without.say(t, OVOS, "read_skill_file", map[string]any{"skill": "web-search", "path": "SKILL.md"}); !strings.Contains(got, "Search well.") {
		t.Errorf("the way that the refusal names: %s", got)
	}
}
