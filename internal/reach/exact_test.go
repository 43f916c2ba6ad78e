package reach

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/policy"
	"github.com/toolcrib/toolcrib/internal/sandbox"
	"github.com/toolcrib/toolcrib/toolbox/mcphub"
)

// noting is a sandbox that keeps what it was asked for.
type noting struct {
	toolcrib.Sandbox
	ran chan ranIn
}

type ranIn struct {
	cmd   toolcrib.Cmd
	grant toolcrib.Grant
	tools []string
}

func (n noting) Run(ctx context.Context, cmd toolcrib.Cmd, grant toolcrib.Grant) (toolcrib.Exit, error) {
	n.ran <- ranIn{cmd, grant, sandbox.Tools(ctx)}
	return toolcrib.Exit{}, nil
}

// TestExactly: a server with a grant of its own has that and nothing else, whatever
// tools are granted; rules hold, and its home is its own.
func TestExactly(t *testing.T) {
	box := noting{ran: make(chan ranIn, 1)}
	chooser, err := sandbox.NewChooser(sandbox.Config{Candidates: []sandbox.Candidate{{Name: sandbox.Linux, Open: func(context.Context) (toolcrib.Sandbox, error) {
		return box, nil
	}}}})
	if err != nil {
		t.Fatal(err)
	}
	dir, other := t.TempDir(), t.TempDir()
	l := &Launcher{
		Chooser: chooser, Dir: dir, Home: other,
		Env: func(name string) (string, bool) {
			value, ok := map[string]string{"PATH": "/usr/bin", "HOME": other, "XDG_CONFIG_HOME": other, "AWS_SECRET": "x", "LANG": "C"}[name]
			return value, ok
		},
		Grant: toolcrib.Grant{Dirs: []files.Dir{{Path: dir, Write: true}}, Hosts: []string{"*"}},
		Rules: func() policy.Taken { return policy.Taken{Denied: []string{"/denied"}} },
	}
	start := func(g toolcrib.Grant) ranIn {
		t.Helper()
		p, err := l.Start(t.Context(), mcphub.Launch{Server: "mine", Command: "/usr/bin/python3", Grant: &g, Tools: []string{"/opt/python"}, Env: map[string]string{"A": "b"}})
		if err != nil {
			t.Fatal(err)
		}
		<-p.Done
		return <-box.ran
	}
	got := start(toolcrib.Grant{Dirs: []files.Dir{{Path: other}}, Hosts: []string{"example.com"}})
	want := toolcrib.Grant{Dirs: []files.Dir{{Path: other}}, Hosts: []string{"example.com"}, Denied: []string{"/denied"}, Bounds: toolcrib.BoundFiles | toolcrib.BoundNetwork}
	if diff := cmp.Diff(want, got.grant); diff != "" {
		t.Error(diff)
	}
	if got.cmd.Dir != scratch || !slices.Equal(got.tools, []string{"/opt/python"}) {
		t.Errorf("it runs in %s with %q", got.cmd.Dir, got.tools)
	}
	for _, text := range []string{"HOME=" + scratch, "TMPDIR=" + scratch, "A=b", "LANG=C"} {
		if !slices.Contains(got.cmd.Env, text) {
			t.Errorf("%s is not in %q", text, got.cmd.Env)
		}
	}
	if all := strings.Join(got.cmd.Env, " "); strings.Contains(all, other) || strings.Contains(all, "AWS") {
		t.Errorf("it inherits %s", all)
	}
	if got := start(toolcrib.Grant{Dirs: []files.Dir{{Path: filepath.Dir(dir)}}}); got.cmd.Dir != dir {
		t.Errorf("where we run is declared, and it runs in %s", got.cmd.Dir)
	}
	if got := start(toolcrib.Grant{}); len(got.grant.Dirs)+len(got.grant.Hosts) > 0 {
		t.Errorf("nothing is declared, and it has %+v", got.grant)
	}
	said := l.Describe("mine", mcphub.Server{Command: "x", Grant: &toolcrib.Grant{Dirs: []files.Dir{{Path: "/a"}, {Path: "/b", Write: true}}}})
	if !strings.Contains(said, "without network") || !strings.Contains(said, "read /a, write /b") {
		t.Errorf("it is described as %s", said)
	}

	// Without a sandbox it is not started, and nothing weaker takes its place.
	if chooser, err = sandbox.NewChooser(sandbox.Config{Candidates: []sandbox.Candidate{{Name: sandbox.Linux, Open: func(context.Context) (toolcrib.Sandbox, error) { return nil, errors.New("no namespaces") }}}}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []*sandbox.Chooser{chooser, nil} {
		l.Chooser = c
		if _, err := l.Start(t.Context(), mcphub.Launch{Server: "mine", Command: "/usr/bin/python3", Grant: &toolcrib.Grant{}}); err == nil || !strings.Contains(err.Error(), "what it declares") {
			t.Errorf("it was started: %v", err)
		}
	}
}
