package app

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
	"github.com/toolcrib/toolcrib/ovos"
)

// TestSwitchedOffOnTheBus: boxes that the settings switch off are on the bus,
// say there that they are off, and exist nowhere else.
func TestSwitchedOffOnTheBus(t *testing.T) {
	cfg := ownBus()
	a := openBusApp(t, cfg, Needs{})
	journal := &cribtest.Memory{}
	a.Crib.Journal = journal
	c := join(t, ovos.ClientConfig{URL: hostBus(t, a, cfg)}, "ovos-shell-tools")
	for range 2 { // also after everything was read anew
		result, err := c.Call(t.Context(), "ovos-shell-tools", "run_command", map[string]any{"command": "touch marker", "timeout": 0})
		if err != nil || string(result) != `{"stdout":"","stderr":"Shell execution is disabled (allow_shell=False).","returncode":-1,"success":false}` {
			t.Errorf("run_command gave %s, %v", result, err)
		}
		result, err = c.Call(t.Context(), "ovos-web-search-tools", "web_search", map[string]any{"query": "q"})
		if err != nil || !strings.HasPrefix(string(result), `{"results":[{"title":"The web search did not work.","url":"","snippet":"Web search is switched off. You can switch it on in the settings of Toolcrib."}]`) {
			t.Errorf("web_search gave %s, %v", result, err)
		}
		_, err = c.Call(t.Context(), "ovos-shell-tools", "start_command", map[string]any{"command": "x"})
		if e, ok := errors.AsType[*ovos.CallError](err); !ok || !strings.Contains(e.Message, "Unknown tool") {
			t.Errorf("start_command was answered with %v", err)
		}
		if _, err := c.Toolbox(t.Context(), "ovos-web-search-tools"); err != nil {
			t.Error(err)
		}
	}
	for _, r := range journal.Records() {
		if r.Outcome == toolcrib.Done {
			t.Errorf("%s is on record as done", r.Tool)
		}
	}
	shelves := toolcrib.Crib{Catalog: a.Crib.Catalog, Visible: a.seen}
	for spec := range shelves.Tools(toolcrib.Caller{Subject: "ann"}) {
		if spec.Box == "shell" || spec.Box == "web" {
			t.Errorf("%s exists for callers who are not on the bus", spec.Name)
		}
	}
}

// TestSwitchedOnIsTheRealOne: nothing stands in for a box that is there.
func TestSwitchedOnIsTheRealOne(t *testing.T) {
	cfg := ownBus()
	cfg.Toolboxes.Shell.AllowShell = true
	a := openBusApp(t, cfg, Needs{})
	hostBus(t, a, cfg)
	if !slices.Contains(a.ownOnBus(), "shell") || a.hosted.IsOff("shell") || !a.hosted.IsOff("web") {
		t.Errorf("boxes are %q", a.ownOnBus())
	}
	for _, spec := range a.Specs() {
		if spec.Native == "run_command" && spec.Effects == toolcrib.Pure {
			t.Error("the real run_command was replaced")
		}
	}
}

// TestAGrantedSearchIsNotAskedAbout: who grants the host of the engine has said yes.
func TestAGrantedSearchIsNotAskedAbout(t *testing.T) {
	for host, want := range map[string]toolcrib.Decision{"html.duckduckgo.com": toolcrib.Allow, "*": toolcrib.Ask, "other.example": toolcrib.Ask} {
		cfg := ownBus()
		cfg.Toolboxes.Web.Enabled, cfg.Grant.Hosts = true, []string{host}
		a := openBusApp(t, cfg, Needs{})
		for tool, decision := range map[string]toolcrib.Decision{"web_search": want, "web_fetch": toolcrib.Ask} {
			input := `{"query":"q"}`
			if tool == "web_fetch" {
				input = `{"url":"https://html.duckduckgo.com/html/?q=x"}`
			}
			j, err := a.Crib.Judge(t.Context(), toolcrib.Call{Tool: tool, Input: []byte(input), Caller: toolcrib.Caller{Subject: "ovos-bus"}})
			if err != nil || j.Decision != decision {
				t.Errorf("%s with %s: %v, %v", tool, host, j.Decision, err)
			}
		}
	}
}
