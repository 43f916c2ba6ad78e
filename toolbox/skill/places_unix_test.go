//go:build unix

package skill

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPlaces(t *testing.T) {
	dir, home := "/proj", "/home/ann"
	w := Where{Dir: dir, Home: home, Paths: []string{"~/notes/SKILL.md", "more", "/etc/skills", "~other"}, User: true, Project: true, Above: []string{"/"}}
	want := []Place{
		{Path: "/home/ann/notes/SKILL.md", File: true, Scope: "settings", Origin: Person}, {Path: "/proj/more", Scope: "settings"},
		{Path: "/etc/skills", Scope: "settings", Origin: Person}, {Path: "/proj/~other", Scope: "settings"},
		{Path: "/proj/.agents/skills", Scope: "project", Root: "/proj"}, {Path: "/proj/.agent/skills", Scope: "project", Root: "/proj"},
		{Path: "/proj/.claude/skills", Scope: "project", Root: "/proj"},
		{Path: "/.agents/skills", Scope: "project", Root: "/"}, {Path: "/.agent/skills", Scope: "project", Root: "/"},
		{Path: "/.claude/skills", Scope: "project", Root: "/"},
		{Path: "/home/ann/.agents/skills", Scope: "user", Origin: Person}, {Path: "/home/ann/.agent/skills", Scope: "user", Origin: Person},
		{Path: "/home/ann/.claude/skills", Scope: "user", Origin: Person}, {Path: "/home/ann/.agenticx/skills", Scope: "user", Origin: Person},
	}
	if diff := cmp.Diff(want, Places(w)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want[10:], Places(Where{User: true, Dir: dir, Home: home})); diff != "" {
		t.Errorf("by default: %s", diff)
	}
	if list := Places(Where{User: true}); list != nil {
		t.Errorf("without a home: %v", list)
	}
}
