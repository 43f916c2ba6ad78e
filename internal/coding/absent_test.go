package coding

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/toolbox/codegen"
)

// Whoever calls a tool of a box that is off is told the setting that switches it on,
// and whoever has it on is told nothing.
func TestAbsent(t *testing.T) {
	var cfg settings.Config
	why := map[string]string{}
	Absent(cfg, why)
	tools := 0
	for box, known := range Known() {
		for _, tool := range known.Tools {
			tools++
			if !strings.Contains(why[tool], "switched off; toolboxes.") {
				t.Errorf("%s/%s: %q", box, tool, why[tool])
			}
		}
	}
	if len(why) != tools {
		t.Errorf("%v", why)
	}
	boxes := &cfg.Toolboxes
	boxes.Code.Enabled, boxes.Codegen.Enabled, boxes.LSP.Enabled, boxes.Codemode.Enabled = true, true, true, true
	why = map[string]string{}
	if Absent(cfg, why); len(why) != 1 || !strings.Contains(why["script_save"], "toolboxes.codemode.saved: true") {
		t.Errorf("%v", why)
	}
	boxes.Codemode.Saved = true
	why = map[string]string{}
	if Absent(cfg, why); len(why) != 0 {
		t.Errorf("%v", why)
	}
}

// feeble is a sandbox that holds programs to nothing.
type feeble struct{ toolcrib.Sandbox }

func (feeble) Enforces() toolcrib.Bounds { return 0 }

// A box that is on and can run nothing says why for each of its tools, and once to who
// asks how things are.
func TestKnown(t *testing.T) {
	cfg := settings.Defaults()
	cfg.Sandbox.Backend = "none"
	boxes := []toolcrib.Toolbox{}
	known := Known()
	for _, k := range Kinds(cfg, func() Needs {
		return Needs{
			Crib: &toolcrib.Crib{Sandbox: feeble{}}, Program: func(string) (string, error) { return "", errors.New("there is none") },
			In: func(context.Context, string, toolcrib.Cmd, toolcrib.Grant) (toolcrib.Exit, error) {
				return toolcrib.Exit{}, errors.New("nothing runs here")
			},
		}
	}) {
		box, err := k.Open(t.Context())
		if err != nil {
			t.Fatal(k.Name, err)
		}
		boxes = append(boxes, box)
		names, ok := known[k.Name]
		tools, err := box.Tools(t.Context())
		if !ok || err != nil {
			t.Errorf("%s: %v", k.Name, err)
		}
		for _, tool := range tools { // it is that of codegen, which can do without programs
			if tool.Name != codegen.Codegen || tool.Group != names.Group {
				t.Errorf("%s has %s, group %s", k.Name, tool.Name, tool.Group)
			}
		}
		if k.Name == codegen.Name {
			continue
		}
		group, why := box.(interface {
			Absent() (string, map[string]string)
		}).Absent()
		if group != names.Group || !slices.Equal(slices.Sorted(maps.Keys(why)), slices.Sorted(slices.Values(names.Tools))) {
			t.Errorf("%s: %s, %v", k.Name, group, why)
		}
	}
	told := reportAbsent(boxes)
	if len(told) != 3 { // code, lsp, and one for both boxes of scripts
		t.Errorf("%+v", told)
	}
	for _, f := range told {
		if !f.Warning || !strings.HasPrefix(f.Detail, "switched on, and has no tools: ") || f.Detail == "switched on, and has no tools: " {
			t.Errorf("%+v", f)
		}
	}
}
