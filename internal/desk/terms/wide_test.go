package terms

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/desk"
	"github.com/toolcrib/toolcrib/internal/shellguard"
)

func TestWider(t *testing.T) {
	of := currentTerms(&shellguard.Guard{AllowShell: true, Options: shellguard.SystemOptions(t.TempDir())})
	at := func(paths ...string) (out []string) {
		for _, p := range paths {
			out = append(out, filepath.FromSlash(p))
		}
		return out
	}
	mode := toolcrib.Verdict{Decision: toolcrib.Ask, Guard: "mode"}
	edits := toolcrib.Reads | toolcrib.Writes
	for name, c := range map[string]struct {
		box, tool string
		effects   toolcrib.Effects
		places    []string
		reasons   []toolcrib.Verdict
		want      []desk.By
		dir       string
	}{
		"an edit":                  {"files", "edit_file", edits, at("/p/src/a.go"), nil, []desk.By{desk.ByDirectory, desk.ByTool}, "/p/src"},
		"two files":                {"files", "edit_file", edits, at("/p/src/a.go", "/p/doc/b.md"), nil, []desk.By{desk.ByDirectory, desk.ByTool}, "/p"},
		"a link that leads out":    {"files", "edit_file", edits, at("/p/src/a.go", "/q/a.go"), nil, []desk.By{desk.ByTool}, ""},
		"at the root":              {"files", "edit_file", edits, at("/a"), nil, []desk.By{desk.ByTool}, ""},
		"no place":                 {"files", "edit_file", edits, nil, nil, []desk.By{desk.ByTool}, ""},
		"a place that is relative": {"files", "edit_file", edits, []string{"src/a.go"}, nil, []desk.By{desk.ByTool}, ""},
		"what destroys":            {"files", "delete_file", edits | toolcrib.Destroys, at("/p/a"), nil, nil, ""},
		"a server":                 {"github", "create_issue", toolcrib.Network | toolcrib.Destroys | toolcrib.Runs, nil, nil, []desk.By{desk.ByTool, desk.ByServer}, ""},
		"whoever is on the bus":    {"ovosbox", "lamp__on", toolcrib.Network, nil, nil, []desk.By{desk.ByTool}, ""},
		"a page":                   {"web", "fetch", toolcrib.Network, nil, nil, []desk.By{desk.ByTool}, ""},
		"a command":                {"shell", "run_command", toolcrib.Runs, nil, nil, nil, ""},
		"what a rule asks":         {"files", "edit_file", edits, at("/p/a"), []toolcrib.Verdict{{Decision: toolcrib.Ask, Guard: "rules"}}, nil, ""},
		"what others obey":         {"files", "edit_file", edits, at("/p/a"), []toolcrib.Verdict{mode, {Decision: toolcrib.Ask, Guard: "obeyed", Rule: "floor"}}, nil, ""},
		"a skill":                  {"github", "x", edits, nil, []toolcrib.Verdict{mode, {Decision: toolcrib.Ask, Guard: "skill"}}, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if c.reasons == nil {
				c.reasons = []toolcrib.Verdict{mode}
			}
			got := of(toolcrib.Question{
				Spec: toolcrib.Entry{Box: c.box, Native: c.tool}, Input: json.RawMessage(`{"command":"git push"}`),
				Effects: c.effects, Places: c.places, Reasons: c.reasons,
			})
			if !slices.Equal(got.Wide, c.want) || got.Dir != filepath.FromSlash(c.dir) {
				t.Errorf("%q in %q, want %q in %q", got.Wide, got.Dir, c.want, c.dir)
			}
		})
	}
}
