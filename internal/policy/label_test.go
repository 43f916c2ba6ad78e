package policy

import (
	"context"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/toolcrib/toolcrib"
)

const command = toolcrib.Reads | toolcrib.Writes | toolcrib.Destroys | toolcrib.Runs | toolcrib.Network

func tool(box, name, group string, e toolcrib.Effects) toolcrib.Entry {
	return toolcrib.Entry{Spec: toolcrib.Spec{Name: name, Group: group, Effects: e}, Native: name, Box: box}
}

func ownBoxes() []string {
	return []string{"clock", "files", "math", "shell", "web", "interact", "artifact"}
}

func labelTable(t testing.TB, opt LabelOptions) *LabelTable {
	t.Helper()
	opt.Own = ownBoxes()
	table, err := NewLabelTable(opt)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func TestLabelsByDefault(t *testing.T) {
	for _, c := range []struct {
		spec            toolcrib.Entry
		online, offline Labels
	}{
		{tool("math", "evaluate_expression", "math", toolcrib.Pure), 0, 0},
		{tool("clock", "get_current_datetime", "clock", reads), 0, 0},
		{tool("clock", "sneaky", "clock", reads|toolcrib.UsesSecrets), LabelPrivate, LabelPrivate},
		{tool("files", "read_file", "fs", reads), LabelPrivate, LabelPrivate},
		{tool("files", "find_files", "search", reads), LabelPrivate, LabelPrivate},
		{tool("files", "write_file", "fs", reads|toolcrib.Writes), LabelPrivate, LabelPrivate},
		{tool("shell", "run_command", "exec", command), LabelAll, LabelPrivate},
		{tool("shell", "command_output", "exec", reads), LabelPrivate | LabelUntrusted, LabelPrivate},
		{tool("shell", "stop_command", "exec", toolcrib.Writes), 0, 0},
		{tool("web", "fetch", "web", toolcrib.Network), LabelUntrusted | LabelPublic, LabelUntrusted | LabelPublic},
		{tool("web", "fetch", "web", toolcrib.Pure), LabelUntrusted | LabelPublic, LabelUntrusted | LabelPublic},
		{tool("web", "login", "web", toolcrib.Network|toolcrib.UsesSecrets), LabelAll, LabelAll},
		{tool("interact", "ask_user", "interact", toolcrib.AsksPerson), 0, 0},
		{tool("artifact", "read_artifact", "fs", reads), LabelPrivate | LabelUntrusted, LabelPrivate | LabelUntrusted},
		{tool("files", "undeclared", "fs", 0), LabelAll, LabelAll},
		// What others say about themselves takes nothing off.
		{tool("github", "get_issue", "mcp", reads), LabelForeign, LabelForeign},
		{tool("evil", "evaluate_expression", "math", toolcrib.Pure), LabelForeign, LabelForeign},
		{tool("evil", "now", "clock", reads), LabelForeign, LabelForeign},
		{tool("", "nobody", "math", toolcrib.Pure), LabelForeign, LabelForeign},
	} {
		if got := labelTable(t, LabelOptions{}).OfTool(&c.spec); got != c.online {
			t.Errorf("%s/%s online: %v, want %v", c.spec.Box, c.spec.Native, got, c.online)
		}
		if got := labelTable(t, LabelOptions{Offline: true}).OfTool(&c.spec); got != c.offline {
			t.Errorf("%s/%s offline: %v, want %v", c.spec.Box, c.spec.Native, got, c.offline)
		}
	}
	var none *LabelTable
	spec := tool("math", "evaluate_expression", "math", toolcrib.Pure)
	if none.OfTool(&spec) != LabelAll || none.Of(t.Context(), toolcrib.Review{Spec: spec}) != LabelAll {
		t.Error("a missing table takes labels off")
	}
}

func TestLabelsAsSet(t *testing.T) {
	table := labelTable(t, LabelOptions{
		Set: map[string][]string{
			"weather": {"untrusted", "public"}, "weather/history": {"none"}, "read_file": {}, "mcp__mail__get_*": {"private"}, "mcp__mail__get_public": {"untrusted"},
			"group:api": {"none"}, "*": {"none"}, "find_*": {"untrusted"},
		},
		Add: map[string][]string{"read_file": {"untrusted"}, "effect:runs": {"public"}, "math": {"private"}},
	})
	for _, c := range []struct {
		spec toolcrib.Entry
		want Labels
	}{
		{tool("weather", "now", "mcp", 0), LabelUntrusted | LabelPublic},
		{tool("weather", "history", "mcp", 0), 0 | LabelPublic}, // undeclared may run, and that was added
		{tool("weather", "history", "mcp", reads), 0},
		{tool("files", "read_file", "fs", reads), LabelUntrusted},
		{tool("evil", "read_file", "fs", reads), LabelForeign},              // a bare name is of our own boxes
		{tool("evil", "find_all", "fs", reads), LabelForeign},               // and so is a pattern
		{tool("evil", "x", "api", toolcrib.Pure), LabelForeign},             // and a group
		{tool("files", "find_files", "search", reads), LabelUntrusted},      // * and find_* together
		{tool("mail", "get_public", "mcp", reads), LabelUntrusted},          // the tool before the pattern
		{tool("mail", "get_mail", "mcp", reads), LabelPrivate},              //
		{tool("mail", "get_mail", "fs", reads), LabelForeign},               // no MCP server
		{tool("math", "unit_convert", "math", toolcrib.Pure), LabelPrivate}, // added to none
	} {
		if got := table.OfTool(&c.spec); got != c.want {
			t.Errorf("%s/%s (%s, %v): %v, want %v", c.spec.Box, c.spec.Native, c.spec.Group, c.spec.Effects, got, c.want)
		}
	}
}

func TestLabelsRefused(t *testing.T) {
	for _, opt := range []LabelOptions{
		{Set: map[string][]string{"files": {"privat"}}}, {Set: map[string][]string{"": {"private"}}}, {Set: map[string][]string{"files": {"none", "private"}}},
		{Add: map[string][]string{"group:": {"private"}}}, {Add: map[string][]string{"a b": {"private"}}},
	} {
		if table, err := NewLabelTable(opt); err == nil || table != nil {
			t.Errorf("%v was taken", opt)
		}
	}
	_, err := NewLabelTable(LabelOptions{Set: map[string][]string{"files": {"x"}, "shell": {"y"}}})
	if err == nil || !strings.Contains(err.Error(), `"files"`) || !strings.Contains(err.Error(), `"shell"`) {
		t.Errorf("not every bad entry is named: %v", err)
	}
}

// TestLabelsOfACall: what a guard understood of a command line counts, for our
// own tools that run programs.
func TestLabelsOfACall(t *testing.T) {
	understood := toolcrib.Effects(0)
	table := labelTable(t, LabelOptions{Effects: func(context.Context, toolcrib.Review) toolcrib.Effects { return understood }})
	for _, c := range []struct {
		spec       toolcrib.Entry
		understood toolcrib.Effects
		want       Labels
	}{
		{tool("shell", "run_command", "exec", command), 0, LabelAll},
		{tool("shell", "run_command", "exec", command), reads | toolcrib.Runs, LabelPrivate},
		{tool("shell", "run_command", "exec", command), toolcrib.UsesSecrets, LabelAll}, // it contradicts the declaration
		{tool("shell", "run_command", "exec", 0), reads, LabelAll},
		{tool("evil", "run_command", "exec", command), reads | toolcrib.Runs, LabelForeign},
		{tool("web", "fetch", "web", toolcrib.Network), toolcrib.Pure, LabelUntrusted | LabelPublic},
	} {
		understood = c.understood
		if got := table.Of(t.Context(), toolcrib.Review{Spec: c.spec}); got != c.want {
			t.Errorf("%s/%s understood as %v: %v, want %v", c.spec.Box, c.spec.Native, c.understood, got, c.want)
		}
	}
}

// TestAddedLabelsOnlyAdd: whatever is put under Add, no tool loses a label.
func TestAddedLabelsOnlyAdd(t *testing.T) {
	keys := []string{"files", "read_file", "files/read_file", "files/*", "group:fs", "effect:reads", "effects:pure,reads", "*", "evil", "mcp__evil", "r*"}
	words := [][]string{{}, {"none"}, {"private"}, {"untrusted"}, {"public"}, {"private", "public"}, {"private", "untrusted", "public"}}
	rapid.Check(t, func(t *rapid.T) {
		entries := func(name string) map[string][]string {
			return rapid.MapOf(rapid.SampledFrom(keys), rapid.SampledFrom(words)).Draw(t, name)
		}
		opt := LabelOptions{Own: ownBoxes(), Offline: rapid.Bool().Draw(t, "offline"), Set: entries("set")}
		without, err := NewLabelTable(opt)
		if err != nil {
			t.Fatal(err)
		}
		opt.Add = entries("add")
		with, err := NewLabelTable(opt)
		if err != nil {
			t.Fatal(err)
		}
		spec := tool(rapid.SampledFrom([]string{"files", "shell", "evil", "math"}).Draw(t, "box"), rapid.SampledFrom([]string{"read_file", "run"}).Draw(t, "tool"),
			rapid.SampledFrom([]string{"fs", "mcp", "exec", "clock"}).Draw(t, "group"), toolcrib.Effects(rapid.Uint16Range(0, 255).Draw(t, "effects")))
		if before, after := without.OfTool(&spec), with.OfTool(&spec); before&^after != 0 {
			t.Fatalf("%v became %v", before, after)
		}
	})
}

// TestLabelsOfAPersonsBox: what a person says about the tools of a box of their own
// counts; where nothing is said, and for every other box, it is as for all others.
func TestLabelsOfAPersonsBox(t *testing.T) {
	table, err := NewLabelTable(LabelOptions{Own: []string{"files"}, Persons: func(box string) bool { return box == "mine" }})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		box     string
		effects toolcrib.Effects
		want    Labels
	}{
		{"mine", toolcrib.Pure, 0},
		{"mine", toolcrib.Reads, LabelPrivate},
		{"mine", toolcrib.Network, LabelForeign},
		{"mine", 0, LabelForeign},
		{"other", toolcrib.Pure, LabelForeign},
	} {
		spec := toolcrib.Entry{Spec: toolcrib.Spec{Name: "x", Group: "mcp", Effects: c.effects}, Box: c.box, Native: "x"}
		if got := table.OfTool(&spec); got != c.want {
			t.Errorf("%s with %v: %v, want %v", c.box, c.effects, got, c.want)
		}
	}
}
