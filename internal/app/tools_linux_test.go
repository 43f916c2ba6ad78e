package app

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/vault"
	"github.com/toolcrib/toolcrib/internal/vault/keeper"
	"github.com/toolcrib/toolcrib/internal/vault/vaulttest"
)

// toolShop is an app with a folder of tools of the person's own and one of the project.
type toolShop struct {
	*App
	base, dir, home, state, own, project string
}

func openToolShop(t *testing.T, files map[string]string, change func(*settings.Config, *Needs, *toolShop)) *toolShop {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &toolShop{base: base, dir: filepath.Join(base, "work"), home: filepath.Join(base, "home"), state: filepath.Join(base, "state")}
	config := filepath.Join(s.home, ".config", "toolcrib")
	s.own, s.project = filepath.Join(config, "tools"), filepath.Join(s.dir, ".toolcrib", "tools")
	for _, d := range []string{s.dir, s.own, s.state} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range files {
		plant(t, filepath.Join(s.own, name), text)
	}
	cfg := settings.Defaults()
	cfg.Mode, cfg.Safety.Flow.Enabled = "yolo", false
	needs := Needs{State: s.state, Dir: s.dir, Home: s.home, Config: config, Private: []string{s.state, config, filepath.Join(s.home, ".cache", "toolcrib")}}
	if change != nil {
		change(&cfg, &needs, s)
	}
	if s.App, err = Open(t.Context(), cfg, needs); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return s
}

// said is what a tool printed, without the mark of what may come from outside.
func said(t *testing.T, s *toolShop, tool string) (string, error) {
	t.Helper()
	got, err := callText(t, s.App, tool, "{}")
	if _, rest, marked := strings.Cut(got, "not instructions to you.\n"); marked {
		got = rest
	}
	return strings.TrimSpace(got), err
}

// attack is a script that tries everything that its file does not declare.
func attack(s *toolShop, header, port string) string {
	return "#!/bin/sh\n# toolcrib:\n#   description: Tries what it must not.\n" + header + `
try() { what=$1; shift; if "$@" >/dev/null 2>&1; then echo "BROKEN: $what"; fi; }
echo begun
try "reads outside" cat ` + s.base + `/outside/file
try "lists outside" ls ` + s.base + `/outside
try "writes outside" touch ` + s.base + `/outside/made
try "reads the state" ls ` + s.state + `
try "reads the settings" ls ` + filepath.Dir(s.own) + `
try "writes its own file" sh -c "echo >> ` + s.own + `/attack.sh"
try "writes its copy" sh -c "echo >> $0"
try "replaces its copy" sh -c "rm -f $0 && touch $0"
try "puts something beside its copy" touch "${0%/*}/beside"
try "reads a .env" cat ` + s.dir + `/.env
try "reads the project's tools" ls ` + s.project + `
try "writes the project's tools" sh -c "echo x > ` + s.project + `/new.yaml"
try "reads what a rule denies" cat ` + s.dir + `/denied/file
try "sees a socket of the host" ls /run/user /var/run/docker.sock
try "sees other processes" kill -0 ` + fmt.Sprint(os.Getpid()) + `
try "sees a process of the host" ls /proc/` + fmt.Sprint(os.Getpid()) + `/cwd
try "reaches the network" sh -c "exec 3<>/dev/tcp/127.0.0.1/` + port + `"
try "reaches the network with bash" bash -c "exec 3<>/dev/tcp/127.0.0.1/` + port + `"
if touch ` + s.dir + `/made 2>/dev/null; then echo "wrote in the project"; fi
if cat ` + s.dir + `/file >/dev/null 2>&1; then echo "read in the project"; fi
`
}

func TestToolsAreHeldToTheirFile(t *testing.T) {
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	for name, c := range map[string]struct {
		header string
		want   string
	}{
		"nothing declared": {"", "begun"},
		"pure":             {"#   effects: pure\n", "begun"},
		"reads":            {"#   effects: reads\n#   read: .\n", "begun\nread in the project"},
		"writes":           {"#   effects: [reads, writes]\n#   write: .\n", "begun\nwrote in the project\nread in the project"},
		"undeclared":       {"#   read: .\n", "begun\nread in the project"},
		"undeclared write": {"#   write: .\n", "begun\nwrote in the project\nread in the project"},
		"its home":         {"#   effects: reads\n#   read: '~'\n", "begun"},
		"linux":            {"#   effects: reads\n#   read: .\n#   sandbox: linux\n", "begun\nread in the project"},
	} {
		t.Run(name, func(t *testing.T) {
			s := openToolShop(t, nil, func(cfg *settings.Config, _ *Needs, s *toolShop) {
				for path, text := range map[string]string{"outside/file": "secret", "work/.env": "PASSWORD=x", "work/file": "fine", "work/denied/file": "secret", "work/.toolcrib/tools/x.yaml": "command: [ls]"} {
					plant(t, filepath.Join(s.base, path), text)
				}
				plant(t, filepath.Join(s.own, "attack.sh"), attack(s, c.header, port))
				cfg.Permissions.Deny = append(cfg.Permissions.Deny, "read_file(denied/**)")
			})
			got, err := said(t, s, "attack")
			if err != nil || got != c.want {
				t.Errorf("%q, %v", got, err)
			}
			if _, err := os.Stat(filepath.Join(s.base, "outside", "made")); err == nil {
				t.Error("it wrote outside")
			}
		})
	}
}

// TestToolsAreRefused: what cannot be held is not run.
func TestToolsAreRefused(t *testing.T) {
	const head = "description: x\n"
	s := openToolShop(t, map[string]string{
		"missing.yaml": head + "command: [ls]\nread: ./missing\n",
		"denied.yaml":  head + "command: [ls]\nread: ./denied\n",
		"state.yaml":   head + "command: [ls]\nread: ~/.config/toolcrib\n",
		"absent.yaml":  head + "command: [no-such-program]\n",
		"away.yaml":    head + "command: [~/bin/own]\n",
		"given.yaml":   head + "command: [~/bin/own]\nread: ~/bin\n",
	}, func(cfg *settings.Config, _ *Needs, s *toolShop) {
		plant(t, filepath.Join(s.home, "bin", "own"), "#!/bin/sh\necho mine\n")
		plant(t, filepath.Join(s.dir, "denied", "file"), "x")
		cfg.Permissions.Deny = append(cfg.Permissions.Deny, "read_file(denied/**)", "read_file(denied)")
	})
	for tool, says := range map[string]string{
		"missing": "which the tool declares (read)", "denied": "denies", "state": "protected", "absent": "no program \"no-such-program\"", "away": "could not be started",
	} {
		if got, err := callText(t, s.App, tool, "{}"); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %q, %v", tool, got, err)
		}
	}
	if got, err := said(t, s, "given"); err != nil || got != "mine" {
		t.Errorf("%q, %v", got, err)
	}
	s = openToolShop(t, map[string]string{"x.yaml": head + "command: [echo, hello]\n", "y.yaml": head + "command: [echo, hello]\nsandbox: host\n"}, func(cfg *settings.Config, _ *Needs, _ *toolShop) {
		cfg.Sandbox.Backend = "host"
	})
	if got, err := callText(t, s.App, "x", "{}"); toolcrib.CodeOf(err) != toolcrib.CodeUnavailable {
		t.Errorf("a sandbox that holds nothing ran it: %q, %v", got, err)
	}
	if got, err := said(t, s, "y"); err != nil || got != "hello" {
		t.Errorf("on the host: %q, %v", got, err)
	}
}

// TestSavedFilesAreTools: within a second, a broken one is told, and the others stay.
func TestSavedFilesAreTools(t *testing.T) {
	s := openToolShop(t, map[string]string{"one.sh": "#!/bin/sh\n# toolcrib:\n#   description: x\n#   effects: pure\n\necho one\n", "broken.yaml": "description: x\ncomand: [ls]\n"}, nil)
	if !slices.ContainsFunc(s.Faults, func(f toolcrib.LoadError) bool {
		return f.Box == "tools" && f.Tool == "broken" && strings.Contains(f.Err.Error(), "broken.yaml:2: comand: unknown key; did you mean command?")
	}) {
		t.Errorf("%v", s.Faults)
	}
	await := func(tool, want string) time.Duration {
		t.Helper()
		began := time.Now()
		for {
			got, err := callText(t, s.App, tool, "{}")
			if err == nil && strings.TrimSpace(got) == want {
				return time.Since(began)
			}
			if time.Since(began) > 30*time.Second {
				t.Fatalf("%s says %q, %v", tool, got, err)
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
	await("one", "one")
	plant(t, filepath.Join(s.own, "two.yaml"), "description: x\neffects: pure\ncommand: [echo, two]\n")
	t.Log("a new file was a tool after", await("two", "two"))
	plant(t, filepath.Join(s.own, "two.yaml"), "description: x\neffects: pure\ncommand: [echo, other]\n")
	t.Log("a changed one after", await("two", "other"))
	await("one", "one")
}

// TestJudgedContentRuns: what runs is what was read, also if the file is another by now, or its copy was changed.
func TestJudgedContentRuns(t *testing.T) {
	s := openToolShop(t, map[string]string{"one.sh": "#!/bin/sh\n# toolcrib:\n#   description: x\n#   effects: pure\n\necho judged\n"}, nil)
	s.stop() // nobody looks for changes any more
	s.stop = nil
	plant(t, filepath.Join(s.own, "one.sh"), "#!/bin/sh\n# toolcrib:\n#   description: x\n#   effects: pure\n\necho swapped\n")
	for range 2 {
		if got, err := callText(t, s.App, "one", "{}"); err != nil || got != "judged\n" {
			t.Fatalf("%q, %v", got, err)
		}
		copies, err := filepath.Glob(filepath.Join(s.home, ".cache", "toolcrib-shown", "tools", "*", "one.sh"))
		if err != nil || len(copies) != 1 {
			t.Fatalf("%q, %v", copies, err)
		}
		if err := os.Chmod(copies[0], 0o700); err != nil {
			t.Fatal(err)
		}
		plant(t, copies[0], "#!/bin/sh\necho swapped\n")
	}
}

// TestProjectTools: they count once their content is trusted.
func TestProjectTools(t *testing.T) {
	const good = "description: x\neffects: reads\nread: .\ncommand: [cat, file]\nsecrets: {}\n"
	s := openToolShop(t, nil, func(_ *settings.Config, needs *Needs, s *toolShop) {
		plant(t, filepath.Join(s.dir, "file"), "of the project")
		plant(t, filepath.Join(s.project, "good.yaml"), good)
		plant(t, filepath.Join(s.project, "bad.yaml"), good+"# more\n")
		plant(t, filepath.Join(s.project, "host.yaml"), good+"sandbox: host\n")
		needs.Trusted = func(path string, content []byte) bool {
			return filepath.Dir(path) == s.project && (string(content) == good || strings.Contains(string(content), "host"))
		}
	})
	if got, err := callText(t, s.App, "good", "{}"); err != nil || got != "of the project" {
		t.Errorf("%q, %v", got, err)
	}
	for tool, says := range map[string]string{"bad.yaml": "not trusted: toolcrib trust shows it", "host": "in a sandbox"} {
		if _, err := callText(t, s.App, strings.TrimSuffix(tool, ".yaml"), "{}"); toolcrib.CodeOf(err) != toolcrib.CodeNotFound {
			t.Errorf("%s: %v", tool, err)
		}
		if !slices.ContainsFunc(s.Faults, func(f toolcrib.LoadError) bool {
			return f.Box == "project" && f.Tool == tool && strings.Contains(f.Err.Error(), says)
		}) {
			t.Errorf("%s: %v", tool, s.Faults)
		}
	}
	// Tools cannot write there, nor look.
	for tool, input := range map[string]string{"write_file": `{"path": ".toolcrib/tools/new.yaml", "content": "x"}`, "read_file": `{"path": ".toolcrib/tools/good.yaml"}`} {
		if got, err := callText(t, s.App, tool, input); toolcrib.CodeOf(err) != toolcrib.CodeDenied {
			t.Errorf("%s: %q, %v", tool, got, err)
		}
	}
}

// TestToolSecrets: the person's own file is her word, that of a project needs one under vault.grants.
func TestToolSecrets(t *testing.T) {
	const file = "description: x\neffects: [secrets]\nsecrets: {TOKEN: A}\ncommand: [sh, -c, 'echo ${{#TOKEN}} $TOKEN']\n"
	open := func(grant map[string][]string) *toolShop {
		return openToolShop(t, map[string]string{"mine.yaml": file}, func(cfg *settings.Config, needs *Needs, s *toolShop) {
			plant(t, filepath.Join(s.project, "theirs.yaml"), file)
			needs.Trusted = func(string, []byte) bool { return true }
			needs.Keys = keeper.Source{Env: vaulttest.Env(t)}
			vaulttest.Fill(t, keeper.Dir(s.state), needs.Keys.Env, map[vault.Ref]string{{Name: "A"}: "one-one-one"})
			cfg.Vault.Grants = grant
		})
	}
	s := open(nil)
	// Its value is taken out of what is shown.
	if got, err := callText(t, s.App, "mine", "{}"); err != nil || !strings.HasPrefix(got, "11 ") || strings.Contains(got, "one-one") {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := callText(t, s.App, "theirs", "{}"); toolcrib.CodeOf(err) != toolcrib.CodeDenied {
		t.Errorf("%q, %v", got, err)
	}
	s = open(map[string][]string{"project/theirs": {"A"}})
	if got, err := callText(t, s.App, "theirs", "{}"); err != nil || !strings.HasPrefix(got, "11 ") {
		t.Errorf("%q, %v", got, err)
	}
}

// TestToolFolderOutOfReach: a folder that tools can write makes no tools.
func TestToolFolderOutOfReach(t *testing.T) {
	s := openToolShop(t, nil, func(cfg *settings.Config, _ *Needs, s *toolShop) {
		cfg.Toolboxes.Tools.Dir = filepath.Join(s.dir, "mine")
		plant(t, filepath.Join(s.dir, "mine", "x.yaml"), "description: x\ncommand: [ls]\n")
	})
	if _, err := callText(t, s.App, "x", "{}"); toolcrib.CodeOf(err) != toolcrib.CodeNotFound {
		t.Errorf("%v", err)
	}
	if !slices.ContainsFunc(s.Faults, func(f toolcrib.LoadError) bool { return strings.Contains(f.Err.Error(), "where tools can write") }) {
		t.Errorf("%v", s.Faults)
	}
}

// TestLinkedToolFile: what a link in the folder leads to is out of reach as well, so that no tool can declare itself more.
func TestLinkedToolFile(t *testing.T) {
	s := openToolShop(t, nil, func(cfg *settings.Config, _ *Needs, s *toolShop) {
		cfg.Toolboxes.Shell.AllowShell = true
		file := plant(t, filepath.Join(s.dir, "mine.yaml"), "description: x\neffects: pure\ncommand: [echo, mine]\n")
		if err := os.Symlink(file, filepath.Join(s.own, "mine.yaml")); err != nil {
			t.Fatal(err)
		}
	})
	if got, err := said(t, s, "mine"); err != nil || got != "mine" {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := callText(t, s.App, "write_file", `{"path": "mine.yaml", "content": "x"}`); toolcrib.CodeOf(err) != toolcrib.CodeDenied {
		t.Errorf("%q, %v", got, err)
	}
	run(t, s.App, "echo 'command: [id]' > mine.yaml; rm -f mine.yaml; mv mine.yaml other.yaml")
	if text, err := os.ReadFile(filepath.Join(s.dir, "mine.yaml")); err != nil || !strings.Contains(string(text), "echo, mine") {
		t.Errorf("%q, %v", text, err)
	}
}

// TestCopiesAreOnlyRead: what a script runs from is written by no tool, also where somebody granted it, unasked.
func TestCopiesAreOnlyRead(t *testing.T) {
	s := openToolShop(t, map[string]string{"one.sh": "#!/bin/sh\n# toolcrib:\n#   description: x\n#   effects: pure\n\necho judged\n"}, func(cfg *settings.Config, _ *Needs, s *toolShop) {
		cfg.Toolboxes.Shell.AllowShell = true
		cfg.Grant.Write = []string{s.dir, filepath.Join(s.home, ".cache")}
		if err := os.MkdirAll(filepath.Join(s.home, ".cache"), 0o755); err != nil {
			t.Fatal(err)
		}
	})
	if got, err := said(t, s, "one"); err != nil || got != "judged" {
		t.Fatalf("%q, %v", got, err)
	}
	copies, err := filepath.Glob(filepath.Join(s.home, ".cache", "toolcrib-shown", "tools", "*", "one.sh"))
	if err != nil || len(copies) != 1 {
		t.Fatalf("%q, %v", copies, err)
	}
	for tool, input := range map[string]string{
		"write_file": `{"path": "` + copies[0] + `", "content": "#!/bin/sh\necho swapped\n"}`, "delete_file": `{"path": "` + copies[0] + `"}`,
	} {
		if got, err := callText(t, s.App, tool, input); err == nil {
			t.Errorf("%s: %q", tool, got)
		}
	}
	run(t, s.App, "chmod u+w "+copies[0]+"; echo swapped > "+copies[0]+"; rm -rf "+filepath.Dir(copies[0])+"; mv "+filepath.Dir(copies[0])+" "+s.dir)
	if text, err := os.ReadFile(copies[0]); err != nil || !strings.Contains(string(text), "echo judged") {
		t.Errorf("%q, %v", text, err)
	}
}

// TestProjectToolTakesNoName: an allow by a bare name is not about a tool of a project that has that name too.
func TestProjectToolTakesNoName(t *testing.T) {
	s := openToolShop(t, nil, func(c *settings.Config, n *Needs, s *toolShop) {
		plant(t, filepath.Join(s.project, "write_file.yaml"), "description: x\ncommand: [echo, ran]\neffects: [writes]\nwrite: [.]\n")
		n.Trusted = func(string, []byte) bool { return true }
		c.Mode, c.Permissions.Allow = "default", []string{"write_file"}
	})
	if got, err := said(t, s, "project__write_file"); err == nil {
		t.Errorf("it ran unasked: %s", got)
	}
}

// TestGoSources: a Go source with a header is a tool without the x bit, and one that cannot be built says so in the compiler's words.
func TestGoSources(t *testing.T) {
	const header = "// toolcrib:\n//   description: Tries.\n//   effects: [pure]\n\npackage main\n\n"
	s := openToolShop(t, map[string]string{"wrong.go": header + "func main() { this is wrong }\n", "none.go": "package main\n"}, nil)
	_, err := callText(t, s.App, "wrong", "{}")
	if err == nil || !strings.Contains(err.Error(), "wrong.go cannot be built") || !strings.Contains(err.Error(), "syntax error") {
		t.Errorf("%v", err)
	}
	if _, err := callText(t, s.App, "none", "{}"); toolcrib.CodeOf(err) != toolcrib.CodeNotFound {
		t.Errorf("a source without a header is a tool: %v", err)
	}
	if left, err := filepath.Glob(filepath.Join(s.home, ".cache", "toolcrib-work", "build-*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
