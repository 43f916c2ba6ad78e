package reach

import (
	"bytes"
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/policy"
	"github.com/toolcrib/toolcrib/internal/sandbox"
	"github.com/toolcrib/toolcrib/toolbox/mcphub"
)

// telling is a sandbox that has a note about every program.
type telling struct{ toolcrib.Sandbox }

func (telling) Run(context.Context, toolcrib.Cmd, toolcrib.Grant) (toolcrib.Exit, error) {
	return toolcrib.Exit{Notes: []string{"new is a repository that was set aside"}}, nil
}

// TestNotesAboutServers: what a sandbox says about a server reaches the log; a
// server has no answer that could carry it.
func TestNotesAboutServers(t *testing.T) {
	var log bytes.Buffer
	chooser, err := sandbox.NewChooser(sandbox.Config{Candidates: []sandbox.Candidate{
		{Name: "telling", Open: func(context.Context) (toolcrib.Sandbox, error) { return telling{}, nil }},
	}})
	if err != nil {
		t.Fatal(err)
	}
	l := &Launcher{
		Env: func(string) (string, bool) { return "", false }, Dir: t.TempDir(), Chooser: chooser,
		Log: slog.New(slog.NewTextHandler(&log, nil)),
	}
	process, err := l.Start(t.Context(), mcphub.Launch{Server: "notes", Command: "/bin/sh", Sandbox: "telling"})
	if err != nil {
		t.Fatal(err)
	}
	<-process.Done
	if said := log.String(); !strings.Contains(said, "server=notes") || !strings.Contains(said, "set aside") {
		t.Errorf("the log has %q", said)
	}
}

// TestBehindItself: a Toolcrib that stands behind too many of its own starts no
// servers.
func TestBehindItself(t *testing.T) {
	depth := "0"
	l := &Launcher{Env: func(name string) (string, bool) { return depth, name == depthVariable }, Dir: t.TempDir()}
	if env := l.environment(nil, "/bin/x", "host"); !slices.Contains(env, depthVariable+"=1") {
		t.Errorf("the next one is not told: %q", env)
	}
	depth = "3"
	if _, err := l.Start(t.Context(), mcphub.Launch{Server: "s", Command: "/bin/true"}); err == nil || !strings.Contains(err.Error(), "its own server") {
		t.Errorf("it was started: %v", err)
	}
}

// TestGrantedToServers: what rules deny to everybody is taken from the grant of a
// server in a sandbox as well. On the host there is no grant that would be held.
func TestGrantedToServers(t *testing.T) {
	l := &Launcher{Grant: toolcrib.Grant{Hosts: []string{"h"}}, Rules: func() policy.Taken { return policy.Taken{Denied: []string{"/d"}, Fixed: []string{"/f"}} }}
	if g := l.granted("linux"); g.Bounds != toolcrib.BoundFiles || !slices.Equal(g.Denied, []string{"/d"}) || !slices.Equal(g.Fixed, []string{"/f"}) || !slices.Equal(g.Hosts, []string{"h"}) {
		t.Errorf("%+v", g)
	}
	for _, name := range []string{"", sandbox.Host} {
		if g := l.granted(name); g.Bounds != 0 || len(g.Denied)+len(g.Fixed)+len(g.Hosts) > 0 {
			t.Errorf("on %q: %+v", name, g)
		}
	}
}
