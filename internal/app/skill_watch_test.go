package app

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/settings"
)

// TestSkillsComeByThemselves: a skill that is put into a folder is there without a restart, also where there was none
// before, and clients are told.
func TestSkillsComeByThemselves(t *testing.T) {
	dir, state, skills := t.TempDir(), t.TempDir(), t.TempDir()
	cfg := settings.Defaults()
	cfg.Toolboxes.Skill.Paths = []string{skills}
	a, err := Open(t.Context(), cfg, Needs{State: state, Dir: dir, Home: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := a.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	has := func() bool {
		var names []string
		for spec := range a.Crib.Tools(toolcrib.Caller{Subject: "ann"}) {
			names = append(names, spec.Name)
		}
		return slices.Contains(names, "use_skill")
	}
	if has() {
		t.Fatal("there is a tool without a skill")
	}
	told := make(chan string, 100)
	defer a.MCP("test").Shelf.Watch(func(method string, _ json.RawMessage, _ func(toolcrib.Caller) bool) { told <- method })()
	writeSkill(t, filepath.Join(skills, "late", "SKILL.md"), "late", "Comes late.")
	deadline := time.After(time.Minute)
	for heard := map[string]bool{}; !heard["notifications/prompts/list_changed"] || !heard["notifications/resources/list_changed"] || !has(); {
		select {
		case method := <-told:
			heard[method] = true
		case <-time.After(20 * time.Millisecond):
		case <-deadline:
			t.Fatalf("heard %v, tools %v", heard, has())
		}
	}
}
