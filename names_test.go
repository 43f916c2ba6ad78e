package toolcrib_test

import (
	"context"
	"encoding/json"
	"slices"
	"testing"

	"github.com/toolcrib/toolcrib"
)

func named(name string) toolcrib.Tool {
	return toolcrib.Tool{Spec: toolcrib.Spec{Name: name}, Run: func(context.Context, *toolcrib.Env, json.RawMessage) (*toolcrib.Result, error) {
		return toolcrib.Text("done"), nil
	}}
}

func shelvingOfNames() toolcrib.Contents {
	adapter := func(dialect, name, box, native string, foreign bool) toolcrib.Adapter {
		return toolcrib.Adapter{Spec: toolcrib.Spec{Name: name, Input: json.RawMessage(`{"type":"object"}`)}, Dialect: dialect, Box: box, Native: native, Foreign: foreign}
	}
	return toolcrib.Contents{
		Boxes: []toolcrib.Toolbox{
			toolcrib.NewBox("memory", named("delete_entities"), named("get")),
			toolcrib.NewBox("files", named("read_file"), named("get")),
			toolcrib.NewBox("skill", named("run_skill")),
		},
		Adapters: []toolcrib.Adapter{
			adapter("x", "file_read", "files", "read_file", false),
			adapter("x", "weather", "skill", "run_skill", true), adapter("x", "news", "skill", "run_skill", true),
		},
		Rename:  map[string]string{"memory/delete_entities": "forget"},
		Alias:   map[string]string{"lookup": "files/read_file"},
		Qualify: []string{"memory"},
	}
}

// TestNames: a tool answers to every name that any list shows it by.
func TestNames(t *testing.T) {
	crib := toolcrib.Crib{Catalog: &toolcrib.Catalog{}}
	if _, faults := crib.Catalog.Load(t.Context(), shelvingOfNames()); len(faults) > 0 {
		t.Fatal(faults)
	}
	for _, dialect := range []string{"", "x"} {
		for spec := range crib.Tools(toolcrib.Caller{Dialect: dialect}) {
			for _, name := range append(spec.Names(), spec.Name, spec.Box+"/"+spec.Native, "mcp__"+spec.Box+"__"+spec.Native, spec.Box+"__"+spec.Native) {
				if !spec.Called(name) {
					t.Errorf("%s/%s, shown as %q, does not answer to %q", spec.Box, spec.Native, spec.Name, name)
				}
			}
		}
	}
	read, _ := crib.Tool(toolcrib.Caller{}, "read_file")
	if given := read.GivenNames(); !slices.Contains(given, "file_read") || !slices.Contains(given, "lookup") {
		t.Errorf("given to read_file: %q", given)
	}
	// The name of one skill is no name of another; of what runs all of them it is.
	weather, _ := crib.Tool(toolcrib.Caller{Dialect: "x"}, "weather")
	all, _ := crib.Tool(toolcrib.Caller{}, "run_skill")
	if weather.Called("news") || !weather.Called("weather") || !all.Called("news") || len(all.GivenNames()) > 0 {
		t.Errorf("weather: %q, all: %q, given %q", weather.Names(), all.Names(), all.GivenNames())
	}
	// A copy that was made into another tool has no names of the first.
	other := read
	other.Native, other.Name = "write_file", "write_file"
	if other.Called("file_read") || len(other.GivenNames()) > 0 {
		t.Error("another tool answers to the names of the one it was copied from")
	}
}

// TestDisableByEveryName: what is disabled by any of its names is not there.
func TestDisableByEveryName(t *testing.T) {
	for _, name := range []string{
		"delete_entities", "memory/delete_entities", "memory__delete_entities", "mcp__memory__delete_entities", "forget", "memory__forget",
		"memory/*", "memory__*", "mcp__memory", "mcp__memory__*", "forg*", "*",
	} {
		s := shelvingOfNames()
		s.Disable = []string{name}
		crib := toolcrib.Crib{Catalog: &toolcrib.Catalog{}}
		crib.Catalog.Load(t.Context(), s)
		for spec := range crib.Tools(toolcrib.Caller{}) {
			if spec.Native == "delete_entities" {
				t.Errorf("%q disables nothing: it is shown as %s", name, spec.Name)
			}
		}
	}
	// A name that collides has its longer name even when it is not shown by it.
	s := shelvingOfNames()
	s.Disable = []string{"files__get"}
	crib := toolcrib.Crib{Catalog: &toolcrib.Catalog{}}
	if _, faults := crib.Catalog.Load(t.Context(), s); len(faults) > 0 {
		t.Error(faults)
	}
	if _, ok := crib.Tool(toolcrib.Caller{}, "get"); ok {
		t.Error("files/get is there")
	}
}
