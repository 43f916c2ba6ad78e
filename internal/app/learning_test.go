package app

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/settings"
)

// learner is a program that can be started again on the same state.
type learner struct {
	t     *testing.T
	state string
	cfg   settings.Config
	a     *App
}

func (l *learner) start() {
	l.t.Helper()
	var err error
	if l.a, err = Open(l.t.Context(), l.cfg, Needs{State: l.state, Dir: l.t.TempDir(), Home: l.t.TempDir()}); err != nil {
		l.t.Fatal(err)
	}
}

func (l *learner) stop() {
	if err := l.a.Close(context.Background()); err != nil {
		l.t.Error(err)
	}
}

func (l *learner) call(caller toolcrib.Caller, tool, input string) *toolcrib.Result {
	l.t.Helper()
	r, err := l.a.Crib.Call(l.t.Context(), toolcrib.Call{Tool: tool, Input: json.RawMessage(input), Caller: caller})
	if err != nil || r.Failed {
		l.t.Fatalf("%s %s: %v, %v", tool, input, r, err)
	}
	return r
}

// found is what a search gives.
func (l *learner) found(caller toolcrib.Caller, query string) []string {
	l.t.Helper()
	var out struct {
		Tools []struct {
			Name string `json:"name"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(l.call(caller, "search_tools", fmt.Sprintf(`{"query":%q,"limit":3}`, query)).Value, &out); err != nil {
		l.t.Fatal(err)
	}
	var names []string
	for _, tool := range out.Tools {
		names = append(names, tool.Name)
	}
	return names
}

// TestLearning: a search that led to a call leads to it again, after a restart too, for
// callers of the same profile, as long as they see the tool, and until it is forgotten.
func TestLearning(t *testing.T) {
	l := &learner{t: t, state: filepath.Join(t.TempDir(), "state"), cfg: settings.Defaults()}
	l.cfg.Agents = map[string]settings.Agent{"small": {Profile: "minimal"}}
	l.start()
	ann, bob := toolcrib.Caller{Subject: "ann", Session: "1"}, toolcrib.Caller{Subject: "bob", Session: "2"}
	small := toolcrib.Caller{Subject: "cy", Session: "3", Agent: "small"}
	const query = "frobnicate the gizmo"
	knows := func(caller toolcrib.Caller, want bool) {
		t.Helper()
		if got := slices.Contains(l.found(caller, query), "evaluate_expression"); got != want {
			t.Errorf("%s finds it: %v", caller.Subject, got)
		}
	}
	knows(ann, false)
	l.call(ann, "evaluate_expression", `{"expression":"6*7"}`)
	knows(bob, true)
	knows(small, false)
	l.stop()

	l.start()
	knows(bob, true)
	specs, hits := l.a.Find(bob, query, 3)
	if len(hits) == 0 || specs[hits[0].Doc].Name != "evaluate_expression" {
		t.Errorf("the command line finds %v", hits)
	}
	pairs, err := Learned(l.cfg, Needs{State: l.state}).Pairs()
	if err != nil || len(pairs) != 1 || pairs[0].Query != query || pairs[0].Tool != "math/evaluate_expression" || pairs[0].Subject != "ann" {
		t.Errorf("%+v, %v", pairs, err)
	}
	l.stop()

	l.cfg.Tools.Disable = []string{"math/evaluate_expression"}
	l.start()
	knows(bob, false)
	l.stop()

	l.cfg.Tools.Disable = nil
	l.cfg.Search.Learn = false
	l.start()
	knows(bob, false)
	l.stop()

	l.cfg.Search.Learn = true
	l.start()
	knows(bob, true)
	if gone, err := Learned(l.cfg, Needs{State: l.state}).ForgetTool(t.Context(), "evaluate_expression"); err != nil || gone != 1 {
		t.Errorf("%d, %v", gone, err)
	}
	knows(bob, false) // without a restart
	l.stop()
}

// TestLearningKeepsNoSecrets: a secret in a search is not remembered.
func TestLearningKeepsNoSecrets(t *testing.T) {
	l := &learner{t: t, state: filepath.Join(t.TempDir(), "state"), cfg: settings.Defaults()}
	l.start()
	ann := toolcrib.Caller{Subject: "ann", Session: "1"}
	l.found(ann, "call github with ghp_16C7e42F292c6912E7710c838347Ae178B4a please")
	l.call(ann, "evaluate_expression", `{"expression":"6*7"}`)
	pairs, err := Learned(l.cfg, Needs{State: l.state}).Pairs()
	if err != nil || len(pairs) != 0 {
		t.Errorf("%+v, %v", pairs, err)
	}
	l.stop()
}

// TestFewTools: with a limit, the list is that long, and has the tools that find the
// others, which can be called.
func TestFewTools(t *testing.T) {
	for _, mode := range []string{"full", "auto"} {
		l := &learner{t: t, state: filepath.Join(t.TempDir(), "state"), cfg: settings.Defaults()}
		l.cfg.Expose, l.cfg.ExposeTools = mode, 7
		l.start()
		caller := toolcrib.Caller{Subject: "ann", Session: "1"}
		search := l.a.Search()(caller)
		if search == nil || len(search.Specs) != 6 || search.CallTool.Name != "call_tool" {
			t.Fatalf("%s: %+v", mode, search)
		}
		var names []string
		for _, s := range search.Specs {
			names = append(names, s.Name)
		}
		if !slices.Contains(names, "search_tools") || slices.Contains(names, "evaluate_expression") {
			t.Errorf("%s: %s", mode, strings.Join(names, " "))
		}
		if got := l.found(caller, "calculate"); !slices.Contains(got, "evaluate_expression") {
			t.Errorf("%s: %v", mode, got)
		}
		l.stop()
	}
}
