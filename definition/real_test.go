package definition

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/toolcrib/toolcrib"
)

// realSpecs are the contracts of every toolbox in the tree, and the tools of OpenVoiceOS as they describe themselves.
func realSpecs(tb testing.TB) []toolcrib.Entry {
	tb.Helper()
	var all []toolcrib.Entry
	for _, pattern := range []string{"../toolbox/*/testdata/specs/*.json", "../examples/*/testdata/specs/*.json", "../cribtest/testdata/specs/*.json"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			tb.Fatalf("%s: %v, %v", pattern, files, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				tb.Fatal(err)
			}
			var specs []toolcrib.Entry
			if err := json.Unmarshal(text, &specs); err != nil {
				tb.Fatalf("%s: %v", file, err)
			}
			for _, s := range specs {
				s.Name = filepath.Base(filepath.Dir(filepath.Dir(filepath.Dir(file)))) + "_" + s.Name
				all = append(all, s)
			}
		}
	}
	text, err := os.ReadFile("../testdata/golden/ovos_tools.json")
	if err != nil {
		tb.Fatal(err)
	}
	var foreign []struct {
		Name, Description string
		Input             json.RawMessage `json:"argument_schema"`
	}
	if err := json.Unmarshal(text, &foreign); err != nil {
		tb.Fatal(err)
	}
	for _, f := range foreign {
		all = append(all, toolcrib.Entry{Spec: toolcrib.Spec{Name: "foreign_" + f.Name, Description: f.Description, Input: f.Input}})
	}
	return all
}

// TestReal: every tool of ours is shown to every API, in a form that it takes, and none of them loosely.
func TestReal(t *testing.T) {
	specs := realSpecs(t)
	if len(specs) < 30 {
		t.Fatalf("only %d specs", len(specs))
	}
	for _, v := range variants() {
		set, err := Options{Strict: v.strict}.Of(v.format, specs)
		if err != nil {
			t.Fatal(err)
		}
		if len(set.Left) > 0 || len(set.Loose) > 0 || len(set.Tools) != len(specs) {
			t.Errorf("%s: %d of %d shown, left %v, loose %v", v, len(set.Tools), len(specs), set.Left, set.Loose)
		}
		for _, def := range set.Tools {
			if err := checkTool(v.format, v.strict, def); err != nil {
				t.Errorf("%s: %v in %s", v, err, def)
			}
		}
	}
}
