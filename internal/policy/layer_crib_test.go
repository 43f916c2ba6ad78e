package policy

import (
	"context"
	"encoding/json"
	"sync/atomic"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
)

type pathInput struct {
	Path string `json:"path"`
}

type fileInput struct {
	File string `json:"file"`
}

// TestPolicyInACrib: under every name that a tool has, in every mode, the crib
// does what Explain says.
func TestPolicyInACrib(t *testing.T) {
	var ran atomic.Int32
	write := func(name string, e toolcrib.Effects) toolcrib.Tool {
		return toolcrib.Define(toolcrib.Spec{Name: name, Effects: e, Group: "fs"}, func(context.Context, *toolcrib.Env, pathInput) (pathInput, error) {
			ran.Add(1)
			return pathInput{}, nil
		})
	}
	user := Layer{Rank: RankUser, Permissions: Permissions{Allow: []string{"write_file(./src/**)"}, Deny: []string{"write_file(./secret/**)"}}}
	for _, m := range modes() {
		_, guards := desk(t, m, user)
		crib := &toolcrib.Crib{Catalog: &toolcrib.Catalog{}, Guards: guards, Journal: &cribtest.Memory{}}
		files := toolcrib.NewBox("files", write("write_file", reads|writes), write("undeclared", 0))
		evil := toolcrib.NewBox("evil", write("write_file", writes))
		_, faults := crib.Catalog.Load(t.Context(), toolcrib.Contents{
			Boxes: []toolcrib.Toolbox{files, evil}, Rename: map[string]string{"files/write_file": "put"}, Alias: map[string]string{"save": "files/write_file"},
			Adapters: []toolcrib.Adapter{{
				Spec: toolcrib.Spec{Name: "file_write", Input: json.RawMessage(`{"type":"object","properties":{"file":{"type":"string"}},"required":["file"]}`)}, Box: "files", Native: "write_file", Dialect: "other",
				In: func(in json.RawMessage) (json.RawMessage, error) {
					var f fileInput
					if err := json.Unmarshal(in, &f); err != nil {
						return nil, err
					}
					return json.Marshal(pathInput{f.File})
				},
			}},
		})
		if len(faults) > 0 {
			t.Fatal(faults)
		}
		for _, tt := range []struct {
			tool, dialect, key, path string
			want                     [4]toolcrib.Code // in plan, default, auto-edit, yolo; empty: it ran
		}{
			{"put", "", "path", "src/a", [4]toolcrib.Code{toolcrib.CodeDenied}},
			{"save", "", "path", "src/a", [4]toolcrib.Code{toolcrib.CodeDenied}},
			{"file_write", "other", "file", "src/a", [4]toolcrib.Code{toolcrib.CodeDenied}},
			{"put", "", "path", "lib/a", [4]toolcrib.Code{toolcrib.CodeDenied, toolcrib.CodeUnavailable}},
			{"file_write", "other", "file", "lib/a", [4]toolcrib.Code{toolcrib.CodeDenied, toolcrib.CodeUnavailable}},
			{"save", "", "path", "secret/a", [4]toolcrib.Code{toolcrib.CodeDenied, toolcrib.CodeDenied, toolcrib.CodeDenied, toolcrib.CodeDenied}},
			{"file_write", "other", "file", "secret/a", [4]toolcrib.Code{toolcrib.CodeDenied, toolcrib.CodeDenied, toolcrib.CodeDenied, toolcrib.CodeDenied}},
			{"write_file", "", "path", "src/a", [4]toolcrib.Code{toolcrib.CodeDenied, toolcrib.CodeUnavailable}}, // of evil: the rule gives it nothing
			{"undeclared", "", "path", "src/a", [4]toolcrib.Code{toolcrib.CodeDenied, toolcrib.CodeUnavailable, toolcrib.CodeUnavailable}},
		} {
			before := ran.Load()
			_, err := crib.Call(t.Context(), toolcrib.Call{Tool: tt.tool, Caller: toolcrib.Caller{Dialect: tt.dialect}, Input: mustJSON(t, map[string]string{tt.key: tt.path})})
			want := tt.want[m]
			if err == nil && want != "" || err != nil && toolcrib.CodeOf(err) != want {
				t.Errorf("%s, %s %s: %v, want %q", m, tt.tool, tt.path, err, want)
			}
			if did := ran.Load() > before; did != (want == "") {
				t.Errorf("%s, %s %s: ran %v", m, tt.tool, tt.path, did)
			}
		}
	}
}
