//go:build unix

package reach

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/hostpath"
	"github.com/toolcrib/toolcrib/internal/sandbox"
	"github.com/toolcrib/toolcrib/toolbox/mcphub"
)

// noted is a sandbox that runs nothing and keeps what it was asked.
type noted struct {
	toolcrib.Sandbox
	cmd   toolcrib.Cmd
	grant toolcrib.Grant
	code  int
}

func (n *noted) Run(_ context.Context, cmd toolcrib.Cmd, grant toolcrib.Grant) (toolcrib.Exit, error) {
	n.cmd, n.grant = cmd, grant
	return toolcrib.Exit{Code: n.code}, nil
}

func containing(t *testing.T, box *noted, images *[]string) *Launcher {
	t.Helper()
	env := map[string]string{"PATH": "/host/bin", "HOME": "/home/ann", "USER": "ann", "TZ": "UTC", "LANG": "de_DE.UTF-8", "SECRET": "ours"}
	return &Launcher{
		Env: func(name string) (string, bool) { v, ok := env[name]; return v, ok }, Dir: t.TempDir(), Homes: t.TempDir(),
		Outside: Outside{Finder: hostpath.Finder{PATH: "/nowhere"}},
		Images: func(_ context.Context, image string) (toolcrib.Sandbox, error) {
			*images = append(*images, image)
			return box, nil
		},
	}
}

// TestInContainer: the program is one of the image, and of this machine it gets
// nothing but what is listed.
func TestInContainer(t *testing.T) {
	for _, c := range []struct {
		name   string
		launch mcphub.Launch
		hosts  []string // grant.hosts
		path   string
		dir    string
		env    []string
		given  []string // hosts
		says   string   // at its end
	}{
		{name: "npx without network", launch: mcphub.Launch{Command: "npx", Args: []string{"-y", "server"}, Env: map[string]string{"TOKEN": "x"}},
			path: "npx", dir: "/tmp", env: []string{"HOME=/tmp", "MCP_HUB_DEPTH=1", "TOKEN=x", "TZ=UTC", "npm_config_offline=true"}, says: "mcp_servers.box.network: all"},
		{name: "npx with the network", launch: mcphub.Launch{Command: "npx", Network: "all"},
			path: "npx", dir: "/tmp", env: []string{"HOME=/tmp", "MCP_HUB_DEPTH=1", "TZ=UTC"}, given: []string{"*"}},
		{name: "npx with what is granted", launch: mcphub.Launch{Command: "npx", Network: "granted"}, hosts: []string{"*"},
			path: "npx", dir: "/tmp", env: []string{"HOME=/tmp", "MCP_HUB_DEPTH=1", "TZ=UTC"}, given: []string{"*"}},
		{name: "less than what is granted", launch: mcphub.Launch{Command: "node", Network: "off"}, hosts: []string{"*"},
			path: "node", dir: "/tmp", env: []string{"HOME=/tmp", "MCP_HUB_DEPTH=1", "TZ=UTC"}},
		{name: "what is listed counts", launch: mcphub.Launch{Command: "/opt/app/run", Dir: "/app", Env: map[string]string{"HOME": "/app", "PATH": "/opt/app", "TZ": "CET"}},
			path: "/opt/app/run", dir: "/app", env: []string{"HOME=/app", "MCP_HUB_DEPTH=1", "PATH=/opt/app", "TZ=CET"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var images []string
			box := &noted{code: 1}
			l := containing(t, box, &images)
			l.Grant.Hosts = c.hosts
			c.launch.Server, c.launch.Sandbox, c.launch.Image = "box", "container", "mine:1"
			process, err := l.Start(t.Context(), c.launch)
			if err != nil {
				t.Fatal(err)
			}
			<-process.Done
			if box.cmd.Path != c.path || box.cmd.Dir != c.dir || !slices.Equal(box.cmd.Env, c.env) || !slices.Equal(box.grant.Hosts, c.given) || box.grant.Bounds != toolcrib.BoundFiles || !slices.Equal(images, []string{"mine:1"}) {
				t.Errorf("in %q, it ran %+v under %+v", images, box.cmd, box.grant)
			}
			if ended := process.Err().Error(); (c.says != "") != strings.Contains(ended, "no network") || !strings.Contains(ended, c.says) {
				t.Errorf("it says %q", ended)
			}
		})
	}
}

// running is a sandbox whose program runs until it is ended.
type running struct{ toolcrib.Sandbox }

func (running) Run(ctx context.Context, _ toolcrib.Cmd, _ toolcrib.Grant) (toolcrib.Exit, error) {
	left := sandbox.Early(ctx, []string{"known at once"})
	<-ctx.Done()
	return toolcrib.Exit{Notes: append(left, "known in the end")}, nil
}

// lines hands on what a log writes.
type lines chan string

func (l lines) Write(p []byte) (int, error) {
	l <- string(p)
	return len(p), nil
}

// TestToldEarly: what a sandbox knows before a server runs is in the log while it
// runs, and only once.
func TestToldEarly(t *testing.T) {
	l := containing(t, nil, new([]string))
	l.Images = func(context.Context, string) (toolcrib.Sandbox, error) { return running{}, nil }
	log := make(lines, 10)
	l.Log = slog.New(slog.NewTextHandler(log, nil))
	process, err := l.Start(t.Context(), mcphub.Launch{Server: "box", Command: "npx", Sandbox: "container", Image: "mine:1"})
	if err != nil {
		t.Fatal(err)
	}
	if line := <-log; !strings.Contains(line, "known at once") || !strings.Contains(line, "server=box") {
		t.Errorf("the log says %q", line)
	}
	process.Kill()
	<-process.Done
	if line := <-log; !strings.Contains(line, "known in the end") || len(log) > 0 {
		t.Errorf("in the end the log says %q, and %d lines more", line, len(log))
	}
}

// TestContainerFails: a server that was put into a container is not run anywhere
// else, whatever fails.
func TestContainerFails(t *testing.T) {
	down := errors.New("no container engine answers")
	for _, c := range []struct {
		name   string
		images func(context.Context, string) (toolcrib.Sandbox, error)
		launch mcphub.Launch
		hosts  []string
		says   string
	}{
		{"no engine", func(context.Context, string) (toolcrib.Sandbox, error) { return nil, down }, mcphub.Launch{Image: "node:24"}, nil, down.Error()},
		{"nothing that opens images", nil, mcphub.Launch{Image: "node:24"}, nil, "image"},
		{"no image", func(context.Context, string) (toolcrib.Sandbox, error) { return &noted{}, nil }, mcphub.Launch{}, nil, "mcp_servers.NAME.image"},
		{"some hosts", func(context.Context, string) (toolcrib.Sandbox, error) { return &noted{}, nil }, mcphub.Launch{Image: "node:24"}, []string{"example.com"}, "mcp_servers.box.network: off or all"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := containing(t, nil, new([]string))
			l.Images, l.Grant.Hosts = c.images, c.hosts
			made := filepath.Join(t.TempDir(), "made") // by the host, if it ran there
			c.launch.Server, c.launch.Sandbox, c.launch.Command, c.launch.Args = "box", "container", "/bin/sh", []string{"-c", "echo >" + made}
			if _, err := l.Start(t.Context(), c.launch); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want %q", err, c.says)
			}
			if kind, _ := kindOf(made); kind != missing {
				t.Error("it ran on the host")
			}
			if err := l.Try(t.Context(), "box", mcphub.Server{Command: "npx", Sandbox: "container", Image: c.launch.Image}); err == nil {
				t.Error("the doctor sees nothing")
			}
		})
	}
}

// TestDescribe says in words what a person wants to know.
func TestDescribe(t *testing.T) {
	l := &Launcher{}
	for _, c := range []struct {
		server mcphub.Server
		hosts  []string
		want   string
	}{
		{mcphub.Server{Command: "npx"}, nil, ""},
		{mcphub.Server{Command: "npx", Sandbox: "host"}, nil, ""},
		{mcphub.Server{URL: "https://example.com"}, nil, ""},
		{mcphub.Server{Command: "npx", Sandbox: "container", Image: "node:24"}, nil, "in a container of node:24, without network; of this machine it sees the granted directories"},
		{mcphub.Server{Command: "npx", Sandbox: "container", Image: "node:24", Network: "all"}, nil, "in a container of node:24, with the whole network; of this machine it sees the granted directories"},
		{mcphub.Server{Command: "npx", Sandbox: "container", Image: "node:24", Network: "off"}, []string{"*"}, "in a container of node:24, without network; of this machine it sees the granted directories"},
		{mcphub.Server{Command: "npx", Sandbox: "linux"}, []string{"*"}, "in the sandbox linux, with the whole network; of this machine it sees the granted directories and, read-only, those of the system"},
	} {
		l.Grant.Hosts = c.hosts
		if got := l.Describe("x", c.server); got != c.want {
			t.Errorf("%+v: %q, want %q", c.server, got, c.want)
		}
	}
}
