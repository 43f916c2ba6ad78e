package skill

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPlaces(t *testing.T) {
	dir, home := filepath.FromSlash("/proj"), filepath.FromSlash("/home/ann")
	if !filepath.IsAbs(dir) {
		t.Skip("paths of this system begin with a drive")
	}
	w := Where{Dir: dir, Home: home, Paths: []string{"~/notes/SKILL.md", "more", "/etc/skills", "~other"}, User: true, Project: true}
	want := []Place{
		{Path: "/home/ann/notes/SKILL.md", File: true, Scope: "settings"}, {Path: "/proj/more", Scope: "settings"},
		{Path: "/etc/skills", Scope: "settings"}, {Path: "/proj/~other", Scope: "settings"},
		{Path: "/proj/.agents/skills", Scope: "project"}, {Path: "/proj/.claude/skills", Scope: "project"},
		{Path: "/home/ann/.agents/skills", Scope: "user"}, {Path: "/home/ann/.claude/skills", Scope: "user"},
	}
	if diff := cmp.Diff(want, Places(w)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want[6:], Places(Where{User: true, Dir: dir, Home: home})); diff != "" {
		t.Errorf("by default: %s", diff)
	}
	if list := Places(Where{User: true}); list != nil {
		t.Errorf("without a home: %v", list)
	}
}
