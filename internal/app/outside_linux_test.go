package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/toolbox/mcphub"
)

// echoServer is an MCP server in Python that does what its module says first.
const echoServer = `import json, os, sys
%s
for line in sys.stdin:
    m = json.loads(line)
    if m.get("method") == "initialize":
        r = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "x", "version": "1"}}
    elif m.get("method") == "tools/list":
        r = {"tools": [{"name": "where", "inputSchema": {"type": "object"}}]}
    elif m.get("method") == "tools/call":
        r = {"content": [{"type": "text", "text": os.getcwd() + " " + " ".join(sys.argv[1:])}]}
    else:
        r = {}
    if "id" in m:
        print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "result": r}), flush=True)
`

func plant(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	mode := os.FileMode(0o644)
	if strings.HasPrefix(text, "#!") {
		mode = 0o755
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	return path
}

// outsideShop is a workshop with files in it, and programs outside of it.
func outsideShop(t *testing.T, change func(cfg *settings.Config, dir, base string)) (a *App, dir string) {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(base, "work")
	state, home := filepath.Join(base, "state"), filepath.Join(base, "home")
	own := filepath.Join(home, ".config", "toolcrib")
	for _, d := range []string{dir, home} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	cfg := settings.Defaults()
	cfg.Toolboxes.Shell.AllowShell, cfg.Mode = true, "yolo"
	cfg.MCPServers, cfg.Safety.Flow.Enabled = map[string]settings.MCPServer{}, false
	change(&cfg, dir, base)
	if a, err = Open(t.Context(), cfg, Needs{State: state, Dir: dir, Home: home, Config: own, Private: []string{state, own}}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	if e := a.Sandbox.Explain(t.Context(), "run_command", 0); e.Refusal != "" && os.Getenv("CI") == "" {
		t.Skipf("no sandbox works on this machine: %s", e.Refusal)
	}
	return a, dir
}

func callText(t *testing.T, a *App, tool, input string) (string, error) {
	t.Helper()
	r, err := a.Crib.Call(t.Context(), toolcrib.Call{Tool: tool, Input: []byte(input), Caller: toolcrib.Caller{Subject: "test"}})
	if err != nil {
		return "", err
	}
	if r.Failed {
		return "", errors.New(r.String())
	}
	return r.String(), nil
}

func run(t *testing.T, a *App, command string) ran {
	t.Helper()
	got, err := runCommand(t.Context(), a, command, 60)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func needPython(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("there is no python3 here")
	}
}

func restart(a *App) {
	for _, b := range a.Hub.Boxes() {
		b.Restart()
	}
}

// TestOwnProgramsAreFixed: what Toolcrib runs itself outside of every sandbox,
// a command in one cannot change.
func TestOwnProgramsAreFixed(t *testing.T) {
	needPython(t)
	a, dir := outsideShop(t, func(cfg *settings.Config, dir, _ string) {
		cfg.Safety.Hooks = map[string]settings.SafetyHook{"mine": {Command: []string{plant(t, filepath.Join(dir, "tools", "guard.sh"), "#!/bin/sh\necho '{}'\n")}, Tools: []string{"get_current_datetime"}}}
		plant(t, filepath.Join(dir, "tools", "srv.py"), fmt.Sprintf(echoServer, ""))
		plant(t, filepath.Join(dir, "conf.json"), "{}")
		plant(t, filepath.Join(dir, "data.db"), "")
		cfg.MCPServers["one"] = settings.MCPServer{Command: "python3", Args: []string{"tools/srv.py", "--config=./conf.json", "--db", "./data.db"}, Sandbox: "host"}
		cfg.Vault.Key.From, cfg.Vault.Key.Command = "command", []string{filepath.Join(dir, "tools", "key.sh")}
	})
	for _, name := range []string{"tools/guard.sh", "tools/srv.py", "conf.json", "tools/key.sh"} {
		before, _ := os.ReadFile(filepath.Join(dir, name))
		got := run(t, a, "for d in . tools; do :; done; echo evil >> "+name+"; mv "+name+" x; rm -f "+name+"; mv tools away; true")
		after, err := os.ReadFile(filepath.Join(dir, name))
		if string(after) != string(before) || name != "tools/key.sh" && err != nil {
			t.Errorf("%s: a command changed it: %q\n%+v", name, after, got)
		}
		if _, err := callText(t, a, "write_file", fmt.Sprintf(`{"path":%q,"content":"evil"}`, name)); err == nil || !strings.Contains(err.Error(), "Toolcrib") {
			t.Errorf("%s: write_file in yolo is not asked about: %v", name, err)
		}
	}
	if got := run(t, a, "echo row >> data.db; echo other > tools/other.txt; cat data.db tools/other.txt"); got.Stdout != "row\nother\n" {
		t.Errorf("ordinary work: %+v", got)
	}
	notes := fmt.Sprint(a.OutsideNotes())
	for _, want := range []string{"hook mine", "MCP server one", "sandbox: linux", "key of the vault"} {
		if !strings.Contains(notes, want) {
			t.Errorf("it is not told of %s: %s", want, notes)
		}
	}
}

// TestServersObeyNoProject: a server on the host takes nothing up that a command
// put into the project.
func TestServersObeyNoProject(t *testing.T) {
	needPython(t)
	a, dir := outsideShop(t, func(cfg *settings.Config, dir, base string) {
		out := plant(t, filepath.Join(base, "opt", "srv.py"), fmt.Sprintf(echoServer, ""))
		plant(t, filepath.Join(base, "opt", "lib", "known.py"), fmt.Sprintf(echoServer, ""))
		cfg.MCPServers["script"] = settings.MCPServer{Command: "python3", Args: []string{out, ".", "--at=./x", "@a/b", "src"}}
		cfg.MCPServers["module"] = settings.MCPServer{Command: "python3", Args: []string{"-m", "known"}, Env: map[string]string{"PYTHONPATH": filepath.Join(base, "opt", "lib")}}
		cfg.MCPServers["mine"] = settings.MCPServer{Command: "python3", Args: []string{"tools/mine.py"}}
		plant(t, filepath.Join(dir, "tools", "mine.py"), fmt.Sprintf(echoServer, "import helper"))
		plant(t, filepath.Join(dir, "tools", "helper.py"), "")
	})
	for _, b := range a.Hub.Boxes() {
		if _, listed := b.Known(); !listed {
			t.Fatalf("%s was not listed: %v", b.Name(), b.Refresh(t.Context()))
		}
	}
	marker := filepath.Join(filepath.Dir(dir), "marker") // outside of what is granted
	evil := fmt.Sprintf(`open(%q,"w")`, marker)
	if got := run(t, a, fmt.Sprintf(`mkdir -p src; for f in known json tools/helper tools/json; do echo '%s' > $f.py; done; ls`, evil)); got.ExitCode != 0 || !strings.Contains(got.Stdout, "known.py") {
		t.Fatalf("the command: %+v", got)
	}
	restart(a)
	got, err := callText(t, a, "script__where", "{}")
	if want := filepath.Join(filepath.Dir(dir), "state", "servers", "script") + " " + dir + " --at=" + dir + "/x @a/b src"; err != nil || !strings.HasSuffix(got, "\n"+want) {
		t.Errorf("the server runs in, and with, %q, %v; want %q", got, err, want)
	}
	if _, err := callText(t, a, "module__where", "{}"); err != nil {
		t.Error(err)
	}
	if _, err := callText(t, a, "mine__where", "{}"); err == nil || !strings.Contains(err.Error(), "sandbox") {
		t.Errorf("a server of the project whose module a command broke: %v", err)
	}
	if _, err := os.Stat(marker); err == nil {
		t.Error("a command had a server run its code on the host")
	}
	if notes := fmt.Sprint(a.OutsideNotes()); !strings.Contains(notes, "mine runs in the sandbox linux") {
		t.Errorf("it is not told: %s", notes)
	}
	plant(t, filepath.Join(dir, "tools", "helper.py"), "")
	for _, f := range []string{"json.py", "tools/json.py"} {
		if err := os.Remove(filepath.Join(dir, f)); err != nil {
			t.Fatal(err)
		}
	}
	restart(a)
	if got, err := callText(t, a, "mine__where", "{}"); err != nil || !strings.HasSuffix(got, "\n"+dir+" ") {
		t.Errorf("a server of the project in the sandbox: %q, %v", got, err)
	}
}

// TestServersAreFoundOutside: a program of a server is not found in a directory
// of PATH that commands can write, and neither are those it starts.
func TestServersAreFoundOutside(t *testing.T) {
	needPython(t)
	a, dir := outsideShop(t, func(cfg *settings.Config, dir, base string) {
		plant(t, filepath.Join(base, "opt", "srv.py"), fmt.Sprintf(echoServer, ""))
		plant(t, filepath.Join(base, "opt", "bin", "serve-it"), "#!/bin/sh\nexec env python3 "+filepath.Join(base, "opt", "srv.py")+"\n")
		t.Setenv("PATH", filepath.Join(dir, ".venv", "bin")+":"+filepath.Join(base, "opt", "bin")+":"+os.Getenv("PATH"))
		cfg.MCPServers["one"] = settings.MCPServer{Command: "serve-it"}
		cfg.MCPServers["two"] = settings.MCPServer{Command: "only-there"}
	})
	marker := filepath.Join(filepath.Dir(dir), "marker")
	if got := run(t, a, fmt.Sprintf(`mkdir -p .venv/bin; for f in serve-it python3 only-there; do printf '#!/bin/sh\necho > %s\n' > .venv/bin/$f; chmod +x .venv/bin/$f; done`, marker)); got.ExitCode != 0 {
		t.Fatalf("the command: %+v", got)
	}
	restart(a)
	if _, err := callText(t, a, "one__where", "{}"); err != nil {
		t.Error(err)
	}
	two := a.Hub.Boxes()[slices.IndexFunc(a.Hub.Boxes(), func(b *mcphub.Box) bool { return b.Name() == "two" })]
	if err := two.Refresh(t.Context()); err == nil || !strings.Contains(err.Error(), "whole path") {
		t.Errorf("a program that is only there: %v", err)
	}
	if _, err := os.Stat(marker); err == nil {
		t.Error("a command had its program started on the host")
	}
}

// TestHomeIsGranted: with the whole home directory granted, a command cannot
// make what is protected or obeyed there and missing.
func TestHomeIsGranted(t *testing.T) {
	var home string
	a, dir := outsideShop(t, func(cfg *settings.Config, dir, base string) {
		home = filepath.Join(base, "home")
		for _, d := range []string{"src/repo/.git", "Documents", ".config/app", "sub/.ssh", ".local", "bin", "go/bin", "src/tools/bin"} {
			if err := os.MkdirAll(filepath.Join(home, d), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		plant(t, filepath.Join(dir, "claude", "settings.json"), "{}")
		if err := os.Symlink(filepath.Join(dir, "claude"), filepath.Join(home, ".claude")); err != nil {
			t.Fatal(err)
		}
		cfg.Grant.Write = []string{".", "~"}
		t.Setenv("PATH", filepath.Join(home, "src", "tools", "bin")+":"+filepath.Join(dir, "out")+":"+os.Getenv("PATH"))
	})
	for _, name := range []string{"bin/git", "go/bin/ls", "src/tools/bin/git", ".gitconfig", ".ssh/authorized_keys", ".config/git/config", ".config/systemd/user/x.service", ".config/autostart/x", ".config/toolcrib/config.yaml", ".npmrc", ".netrc",
		".docker/config.json", ".cargo/config.toml", ".local/bin/git", ".bash_aliases", ".claude.json", ".claude/settings.json"} {
		full := filepath.Join(home, name)
		before, _ := os.ReadFile(full)
		got := run(t, a, fmt.Sprintf("cd %s; d=$(dirname %s); mkdir -p $d; echo evil >> %s; ln -s /tmp $d/l; echo evil > src/x; mv src/x %s; ln src/y %s; true", home, name, name, name, name))
		if after, err := os.ReadFile(full); string(after) != string(before) || err == nil && before == nil {
			t.Errorf("a command made %s: %q\n%+v", name, after, got)
		}
		if _, err := callText(t, a, "write_file", fmt.Sprintf(`{"path":%q,"content":"evil"}`, full)); err == nil {
			t.Errorf("write_file makes %s unasked", name)
		}
	}
	if got := run(t, a, "cd "+home+"; echo a > Documents/a; mkdir src/new; echo b > src/new/b; mv src/new Documents/; rm Documents/a; cat Documents/new/b; mkdir "+dir+"/out; echo c > "+dir+"/out/c; ls -A Documents"); got.Stdout != "b\nnew\n" {
		t.Errorf("ordinary work: %+v", got)
	}
	if left, err := os.ReadDir(filepath.Join(home, "Documents")); err != nil || len(left) != 1 {
		t.Errorf("something is left in a directory of the home: %v, %v", left, err)
	}
	if _, err := callText(t, a, "write_file", fmt.Sprintf(`{"path":%q,"content":"mine"}`, filepath.Join(home, "notes.txt"))); err != nil {
		t.Errorf("write_file at the top: %v", err)
	}
}
