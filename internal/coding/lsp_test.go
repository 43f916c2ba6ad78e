package coding

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/sandbox"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/toolbox/lsp"
)

func write(t *testing.T, root string, names ...string) {
	t.Helper()
	for _, name := range names {
		file := filepath.Join(root, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, nil, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestServerGrant: a server reads what its caller may read and nothing else, whatever the
// settings say it is.
func TestServerGrant(t *testing.T) {
	var cmd toolcrib.Cmd
	var grant toolcrib.Grant
	var shown []string
	n := Needs{
		Home: "/home/ann",
		Env: func([]files.Dir, []string) []string {
			return []string{"PATH=/bin", "GOMODCACHE=/var/cache/build/go-mod"}
		},
		Run: func(ctx context.Context, c toolcrib.Cmd, g toolcrib.Grant) (toolcrib.Exit, error) {
			cmd, grant, shown = c, g, sandbox.Tools(ctx)
			return toolcrib.Exit{}, nil
		},
	}
	own := settings.LSPServer{Command: "/opt/srv/bin/x", Read: []string{"~/go/pkg/mod"}, Env: map[string]string{"GOMODCACHE": "/home/ann/go/pkg/mod"}}
	p := lsp.Program{Server: "x", Path: "/opt/srv/bin/x", Dir: "/p", Dirs: []files.Dir{{Path: "/p", Write: true}}, Denied: []string{"/p/secret"}}
	if _, err := runServer(t.Context(), own, n, p); err != nil {
		t.Fatal(err)
	}
	if grant.Dirs[0].Write || len(grant.Hosts) > 0 || fmt.Sprint(grant.Denied) != "[/p/secret]" || cmd.Tool != "lsp" || cmd.Effects != toolcrib.Reads {
		t.Errorf("%+v, %+v", cmd, grant)
	}
	if fmt.Sprint(shown) != "[/home/ann/go/pkg/mod /opt/srv/bin]" || fmt.Sprint(cmd.Env) != "[PATH=/bin GOMODCACHE=/home/ann/go/pkg/mod]" {
		t.Errorf("it sees %v, with %v", shown, cmd.Env)
	}
	own.Read = []string{"relative"}
	if _, err := runServer(t.Context(), own, n, p); err == nil {
		t.Error("a relative directory was shown")
	}
	for program, want := range map[string]string{"/x": "[]", "/home/x": "[]", "/home/ann/x": "[]", "/home/ann/bin/x": "[/home/ann/bin]"} {
		if got := fmt.Sprint(installation(program, "/home/ann")); got != want {
			t.Errorf("%s: %s is shown", program, got)
		}
	}
}

func TestServersOfSettings(t *testing.T) {
	list, err := Servers(settings.LSPBox{Servers: map[string]settings.LSPServer{
		"gopls": {Command: "/opt/gopls"}, "clangd": {Disabled: true}, "zls": {Command: "zls", Extensions: map[string]string{".ZIG": "zig"}, Options: `{"a":1}`},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if list[0].Name != "gopls" || list[0].Command != "/opt/gopls" || list[0].Languages[".go"] != "go" || list[1].Languages[".zig"] != "zig" || string(list[1].Options) != `{"a":1}` {
		t.Errorf("%+v", list[:2])
	}
	if slices.ContainsFunc(list, func(s lsp.Server) bool { return s.Name == "clangd" }) {
		t.Error("one that is disabled is there")
	}
	for name, bad := range map[string]settings.LSPServer{
		"no command": {Extensions: map[string]string{".a": "a"}}, "no files": {Command: "x"}, "no dot": {Command: "x", Extensions: map[string]string{"a": "a"}},
		"no JSON": {Command: "x", Extensions: map[string]string{".a": "a"}, Options: "{"},
	} {
		if _, err := Servers(settings.LSPBox{Servers: map[string]settings.LSPServer{"own": bad}}); err == nil || !strings.Contains(err.Error(), "toolboxes.lsp.servers.own") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestScan(t *testing.T) {
	all := func(name string) bool { return name != "unwanted" }
	root := t.TempDir()
	write(t, root, "a.go", "unwanted", "b/c.go", "node_modules/x/y.js", ".git/config", "deep/1/2/3/4/5/f.py")
	if err := os.Symlink("/etc", filepath.Join(root, "out")); err != nil {
		t.Fatal(err)
	}
	list, more := scanFiles(t.Context(), root, all)
	var names []string
	for _, f := range list {
		name, err := filepath.Rel(root, f.Path)
		if err != nil || f.Mod.IsZero() {
			t.Fatal(f, err)
		}
		names = append(names, filepath.ToSlash(name))
	}
	slices.Sort(names)
	if fmt.Sprint(names) != "[a.go b/c.go deep/1/2/3/4/5/f.py]" || more {
		t.Errorf("%v, %v", names, more)
	}
	if list, _ := scanFiles(t.Context(), filepath.Join(root, "none"), all); len(list) != 0 {
		t.Error(list)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	scanFiles(ended, root, all) // returns
}

func TestReport(t *testing.T) {
	root := t.TempDir()
	n := Needs{Dirs: []files.Dir{{Path: root}}, Program: func(name string) (string, error) {
		if name == "gopls" || name == "clangd" {
			return "/bin/" + name, nil
		}
		return "", errors.New("none")
	}}
	if got := Report(t.Context(), settings.Config{}, n, nil); got != nil {
		t.Errorf("an empty project is told of %v", got)
	}
	write(t, root, "a.go", "b.py")
	got := Report(t.Context(), settings.Config{}, n, nil)
	if len(got) != 1 || !strings.Contains(got[0].Detail, "off; the files here are for: gopls for go; also installed: clangd") {
		t.Errorf("%+v", got)
	}
	cfg := settings.Defaults()
	cfg.Toolboxes.LSP.Enabled = true
	got = Report(t.Context(), cfg, n, nil)
	if len(got) != 2 || !strings.HasSuffix(got[1].Detail, "find: pyright-langserver") {
		t.Errorf("%+v", got)
	}
}

// TestOpen: without a sandbox there are no tools, and it is said why.
func TestOpen(t *testing.T) {
	cfg := settings.Defaults()
	cfg.Toolboxes.LSP.Enabled = true
	for _, k := range Kinds(cfg, func() Needs { return Needs{Program: func(string) (string, error) { return "/bin/x", nil }} }) {
		if k.Name != lsp.Name {
			continue
		}
		box, err := k.Open(t.Context())
		if err != nil || !k.Enabled {
			t.Fatal(err, k.Enabled)
		}
		if tools, err := box.Tools(t.Context()); err != nil || len(tools) > 0 {
			t.Errorf("%d tools, %v", len(tools), err)
		}
		if _, why := box.(interface {
			Absent() (string, map[string]string)
		}).Absent(); !strings.Contains(why["lsp_hover"], "sandbox") {
			t.Error(why)
		}
		return
	}
	t.Error("there is no such kind")
}
