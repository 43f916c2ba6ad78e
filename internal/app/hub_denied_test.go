package app

import (
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib/internal/policy"
	"github.com/toolcrib/toolcrib/internal/settings"
)

// TestRulesReachServers: a program of an MCP server in a sandbox sees no more than a
// command does: what rules deny to everybody is covered for it as well.
func TestRulesReachServers(t *testing.T) {
	dir := t.TempDir()
	cfg := settings.Defaults()
	cfg.Grant.Write = []string{dir}
	cfg.Permissions = policy.Permissions{Deny: []string{"read_file(./secrets/**)", "write_file(./fixed/**)"}}
	a, err := Open(t.Context(), cfg, Needs{State: t.TempDir(), Dir: dir, Home: t.TempDir(), Log: slog.New(slog.DiscardHandler), Layers: &settings.Layers{User: cfg}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := a.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	g := a.launcher.Rules().From(a.launcher.Grant)
	has := func(list []string, part string) bool {
		return slices.ContainsFunc(list, func(s string) bool { return strings.Contains(s, part) })
	}
	if !has(g.Denied, "/secrets") || !has(g.Fixed, "/fixed") || has(g.Denied, "/fixed") {
		t.Errorf("denied %v, fixed %v", g.Denied, g.Fixed)
	}
}
