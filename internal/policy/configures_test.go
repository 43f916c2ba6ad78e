package policy

import (
	"encoding/json"
	"testing"

	"github.com/toolcrib/toolcrib"
)

// TestImportIsAskedAbout: whoever adds MCP servers adds programs to start. That is
// asked about in every mode, unless a rule names the tool.
func TestImportIsAskedAbout(t *testing.T) {
	spec := toolcrib.Entry{Spec: toolcrib.Spec{Name: "mcp_import", Group: "mcp", Effects: toolcrib.Reads | toolcrib.Writes | toolcrib.Runs}, Box: "hub", Native: "mcp_import"}
	for name, c := range map[string]struct {
		mode  Mode
		allow []string
		want  toolcrib.Decision
	}{
		"yolo":        {ModeYolo, nil, toolcrib.Ask},
		"auto-edit":   {ModeAutoEdit, nil, toolcrib.Ask},
		"default":     {ModeDefault, nil, toolcrib.Ask},
		"plan":        {ModePlan, nil, toolcrib.Deny},
		"box allowed": {ModeYolo, []string{"hub/*"}, toolcrib.Ask},
		"named":       {ModeYolo, []string{"hub/mcp_import"}, toolcrib.Allow},
		"bare name":   {ModeDefault, []string{"mcp_import"}, toolcrib.Allow},
	} {
		t.Run(name, func(t *testing.T) {
			opt := testOptions()
			opt.Own = append(opt.Own, "hub")
			rules, err := NewRules([]Layer{{Rank: RankUser, Permissions: Permissions{Allow: c.allow}}}, opt)
			if err != nil {
				t.Fatal(err)
			}
			p := &Policy{Rules: rules, Mode: func(toolcrib.Call) Mode { return c.mode }}
			v, err := p.Judge(t.Context(), toolcrib.Review{Spec: spec, Input: json.RawMessage(`{"source_path":"x.json"}`)})
			if err != nil || v == nil || v.Decision != c.want {
				t.Errorf("%+v, %v", v, err)
			}
		})
	}
}

// TestInstallIsAskedAbout: a tool that a model wrote is asked about in every mode, and no rule lifts that.
func TestInstallIsAskedAbout(t *testing.T) {
	spec := toolcrib.Entry{Spec: toolcrib.Spec{Name: "install_tool", Group: "codegen", Effects: toolcrib.Reads | toolcrib.Writes | toolcrib.Runs}, Box: "codegen", Native: "install_tool"}
	for name, c := range map[string]struct {
		mode        Mode
		allow, deny []string
		want        toolcrib.Decision
	}{
		"yolo":        {ModeYolo, nil, nil, toolcrib.Ask},
		"auto-edit":   {ModeAutoEdit, nil, nil, toolcrib.Ask},
		"default":     {ModeDefault, nil, nil, toolcrib.Ask},
		"plan":        {ModePlan, nil, nil, toolcrib.Deny},
		"box allowed": {ModeYolo, []string{"codegen/*"}, nil, toolcrib.Ask},
		"named":       {ModeYolo, []string{"codegen/install_tool"}, nil, toolcrib.Ask},
		"bare name":   {ModeDefault, []string{"install_tool"}, nil, toolcrib.Ask},
		"denied":      {ModeYolo, nil, []string{"install_tool"}, toolcrib.Deny},
	} {
		t.Run(name, func(t *testing.T) {
			opt := testOptions()
			opt.Own = append(opt.Own, "codegen")
			rules, err := NewRules([]Layer{{Rank: RankUser, Permissions: Permissions{Allow: c.allow, Deny: c.deny}}}, opt)
			if err != nil {
				t.Fatal(err)
			}
			p := &Policy{Rules: rules, Mode: func(toolcrib.Call) Mode { return c.mode }}
			v, err := p.Judge(t.Context(), toolcrib.Review{Spec: spec, Input: json.RawMessage(`{"name":"x"}`)})
			if err != nil || v == nil || v.Decision != c.want || v.Decision == toolcrib.Ask && v.Rule != "floor" {
				t.Errorf("%+v, %v", v, err)
			}
		})
	}
}

// TestHandingOverIsNotAsked: what a command changed is taken back by changes that are judged
// each by itself, so that the call before is no question. A rule about it is one.
func TestHandingOverIsNotAsked(t *testing.T) {
	spec := toolcrib.Entry{Spec: toolcrib.Spec{Name: "restore_changes", Effects: toolcrib.Reads | toolcrib.Writes | toolcrib.Destroys}, Box: "undo", Native: "restore_changes"}
	other := spec
	other.Box = "mcp"
	for name, c := range map[string]struct {
		spec     toolcrib.Entry
		mode     Mode
		ask      []string
		want     toolcrib.Decision
		unjudged bool
	}{
		"default":     {spec, ModeDefault, nil, toolcrib.Allow, true},
		"auto-edit":   {spec, ModeAutoEdit, nil, toolcrib.Allow, false},
		"plan":        {spec, ModePlan, nil, toolcrib.Deny, false},
		"a rule":      {spec, ModeYolo, []string{"restore_changes"}, toolcrib.Ask, false},
		"not of ours": {other, ModeDefault, nil, toolcrib.Ask, false},
	} {
		t.Run(name, func(t *testing.T) {
			opt := testOptions()
			opt.Own = append(opt.Own, "undo")
			rules, err := NewRules([]Layer{{Rank: RankUser, Permissions: Permissions{Ask: c.ask}}}, opt)
			if err != nil {
				t.Fatal(err)
			}
			p := &Policy{Rules: rules, Mode: func(toolcrib.Call) Mode { return c.mode }}
			v, err := p.Judge(t.Context(), toolcrib.Review{Spec: c.spec, Input: json.RawMessage(`{"of":"x"}`)})
			if err != nil || v == nil || v.Decision != c.want || v.ChangesUnjudged != c.unjudged {
				t.Errorf("%+v, %v", v, err)
			}
		})
	}
}
