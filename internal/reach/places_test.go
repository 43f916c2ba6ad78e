package reach

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
)

// TestEveryPlaceIsKnown: an argument of a tool of ours that sounds like a file or a directory is
// in the list of those that handles are asked about, or here, with the reason.
func TestEveryPlaceIsKnown(t *testing.T) {
	t.Parallel()
	other := map[string]string{
		"codegen output_path":          "it has write_file write there",
		"spawn_subagent workspace_dir": "it is told to the worker and grants nothing",
		"search_files file_pattern":    "it picks among the files below path",
		"read_skill_file path":         "it is the name of a file in the skill",
	}
	sounds, known := regexp.MustCompile(`path|file|dir|folder|source|root|destination|workspace`), 0
	list, err := filepath.Glob(filepath.Join("..", "..", "toolbox", "*", "testdata", "specs", "*.json"))
	if err != nil || len(list) < 10 {
		t.Fatal(list, err)
	}
	for _, file := range list {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var specs []toolcrib.Spec
		if err := json.Unmarshal(text, &specs); err != nil {
			t.Fatal(file, err)
		}
		for _, spec := range specs {
			var input struct{ Properties map[string]json.RawMessage }
			if err := json.Unmarshal(spec.Input, &input); err != nil {
				t.Fatal(file, err)
			}
			places := namedPlaces(&toolcrib.Entry{Spec: spec, Native: spec.Name, Box: filepath.Base(file[:len(file)-len(".json")])})
			for name := range input.Properties {
				switch in := slices.ContainsFunc(places, func(p namedPlace) bool { return p.name == name }); {
				case in:
					known++
				case sounds.MatchString(name) && other[spec.Name+" "+name] == "":
					t.Errorf("%s has the argument %s: is it a place that its handle would refuse?", spec.Name, name)
				}
			}
		}
	}
	if known < 15 {
		t.Errorf("only %d arguments are looked at", known)
	}
}

// TestRefusesEveryPlace: of every tool whose handle would refuse a file that it names the call
// is refused, and of one that may have anything in mind it is not.
func TestRefusesEveryPlace(t *testing.T) {
	t.Parallel()
	dir, outside := t.TempDir(), t.TempDir()
	for _, name := range []string{".env", "main.go"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	protection, err := files.NewProtection("", files.DefaultProtected()...)
	if err != nil {
		t.Fatal(err)
	}
	crib := &toolcrib.Crib{Files: files.Options{Base: dir, Protected: protection}}
	crib.Grant.Dirs = []files.Dir{{Path: dir, Write: true}}
	for _, c := range []struct {
		box, tool string
		effects   toolcrib.Effects
		input     map[string]any
		refused   bool
	}{
		{"lsp", "lsp_hover", toolcrib.Reads, map[string]any{"file": ".env", "line": 1, "column": 1}, true},
		{"lsp", "lsp_hover", toolcrib.Reads, map[string]any{"file": "main.go", "line": 1, "column": 1}, false},
		{"lsp", "lsp_rename", toolcrib.Reads | toolcrib.Writes, map[string]any{"file": filepath.Join(outside, "x.go")}, true},
		{"lsp", "lsp_symbols", toolcrib.Reads, map[string]any{"query": ".env"}, false},
		{"lsp", "lsp_diagnostics", toolcrib.Reads, map[string]any{"file": ""}, false},
		{"code", "run_code", toolcrib.Reads, map[string]any{"files": []string{"main.go", ".env"}, "code": "x"}, true},
		{"code", "run_code", toolcrib.Reads, map[string]any{"files": []string{"main.go"}, "code": "x"}, false},
		{"code", "run_code", toolcrib.Reads, map[string]any{"files": nil, "code": "x"}, false},
		{"code", "save_output", toolcrib.Reads | toolcrib.Writes, map[string]any{"path": ".env", "name": "x"}, true},
		{"hub", "mcp_import", toolcrib.Reads | toolcrib.Writes, map[string]any{"source_path": filepath.Join(outside, "x.json")}, true},
		{"shell", "run_command", toolcrib.Runs, map[string]any{"working_dir": outside}, true},
		{"files", "read_file", toolcrib.Reads, map[string]any{"path": ".env"}, true},
		{"weather", "forecast", toolcrib.Pure, map[string]any{"file": ".env", "path": ".env"}, false},
	} {
		input, err := json.Marshal(c.input)
		if err != nil {
			t.Fatal(err)
		}
		spec := toolcrib.Entry{Spec: toolcrib.Spec{Name: c.tool, Effects: c.effects}, Native: c.tool, Box: c.box}
		err = Refuses(crib, &toolcrib.Judgement{Review: toolcrib.Review{Spec: spec, Input: input}, Grant: crib.Grant})
		if (err != nil) != c.refused {
			t.Errorf("%s %s: %v", c.tool, input, err)
		}
	}
}
