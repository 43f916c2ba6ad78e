package reach

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/hostpath"
	"github.com/toolcrib/toolcrib/internal/policy"
	"github.com/toolcrib/toolcrib/internal/toolfile"
	"github.com/toolcrib/toolcrib/toolbox/script"
)

// heldBox is a sandbox that notes what it is to run.
type heldBox struct {
	cmd   toolcrib.Cmd
	grant toolcrib.Grant
}

func (*heldBox) Enforces() toolcrib.Bounds { return ^toolcrib.Bounds(0) }

func (n *heldBox) Run(_ context.Context, cmd toolcrib.Cmd, grant toolcrib.Grant) (toolcrib.Exit, error) {
	n.cmd, n.grant = cmd, grant
	return toolcrib.Exit{}, nil
}

// place makes a home with a project in it, and what runs tools there.
func place(t *testing.T) (tools *Tools, box *heldBox, home, project string) {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	project = filepath.Join(home, "project")
	for _, dir := range []string{"project/data", "bin"} {
		if err := os.MkdirAll(filepath.Join(home, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	program := filepath.Join(home, "bin", "own.exe")
	if err := os.WriteFile(program, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	box = &heldBox{}
	return &Tools{
		Launcher: &Launcher{Env: func(string) (string, bool) { return "", false }, Home: home, Dir: project}, Box: box,
		Start: Start{Dir: project, Home: home}, Copies: CopiesIn(home), Search: []string{filepath.Join(home, "bin")},
		Plain: func([]files.Dir, []string) []string { return []string{"PATH=/plain", "HOME=/tmp"} },
	}, box, home, project
}

func run(t *testing.T, tools *Tools, f toolfile.File) error {
	t.Helper()
	_, err := tools.Run(t.Context(), script.Program{File: &f, Tool: "x", Words: []string{"own.exe", "a b"}, Self: -1})
	return err
}

// TestExactlyWhatIsDeclared: the grant is that of the file, as far as its effects use it.
func TestExactlyWhatIsDeclared(t *testing.T) {
	const bounds = toolcrib.BoundFiles | toolcrib.BoundNetwork | toolcrib.BoundTime
	tools, box, home, project := place(t)
	data := filepath.Join(project, "data")
	whole := toolfile.File{Read: []string{"data"}, Write: []string{"."}, Hosts: []string{"a.example"}, Timeout: time.Minute}
	hosts := []string{"a.example"}
	for effects, want := range map[toolcrib.Effects]toolcrib.Grant{
		0:                                     {Dirs: []files.Dir{{Path: data}, {Path: project, Write: true}}, Hosts: hosts},
		toolcrib.Pure:                         {},
		toolcrib.Reads:                        {Dirs: []files.Dir{{Path: data}, {Path: project}}},
		toolcrib.Network:                      {Hosts: hosts},
		toolcrib.Reads | toolcrib.Network:     {Dirs: []files.Dir{{Path: data}, {Path: project}}, Hosts: hosts},
		toolcrib.Writes:                       {Dirs: []files.Dir{{Path: data}, {Path: project, Write: true}}},
		toolcrib.Destroys:                     {Dirs: []files.Dir{{Path: data}, {Path: project, Write: true}}},
		toolcrib.UsesSecrets | toolcrib.Runs:  {},
		toolcrib.Writes | toolcrib.AsksPerson: {Dirs: []files.Dir{{Path: data}, {Path: project, Write: true}}},
	} {
		f := whole
		f.Effects = effects
		want.Bounds, want.Time = bounds, time.Minute
		if err := run(t, tools, f); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, box.grant); d != "" {
			t.Errorf("%v: %s", effects, d)
		}
		dir := "/tmp"
		if len(want.Dirs) > 0 {
			dir = project // it is among them
		}
		if box.cmd.Dir != dir || box.cmd.Path != filepath.Join(home, "bin", "own.exe") || !slices.Equal(box.cmd.Args, []string{"a b"}) || box.cmd.Effects != effects {
			t.Errorf("%v: %+v", effects, box.cmd)
		}
	}
	if err := run(t, tools, toolfile.File{Read: []string{"data", "~/bin"}, Env: []toolfile.Variable{{Name: "PATH", Value: "/own"}, {Name: "X", Value: ""}}}); err != nil {
		t.Fatal(err)
	}
	if box.cmd.Dir != data || !slices.Equal(box.cmd.Env, []string{"HOME=/tmp", "PATH=/own", "X="}) {
		t.Errorf("%+v", box.cmd)
	}
}

// TestNoToolPassesForCommands: programs of commands share a cache, which a tool with secrets must not run anything from.
func TestNoToolPassesForCommands(t *testing.T) {
	tools, box, _, _ := place(t)
	for name, want := range map[string]string{"run_command": "tools/run_command", "start_command": "tools/start_command", "mine": "mine"} {
		if _, err := tools.Run(t.Context(), script.Program{File: &toolfile.File{}, Tool: name, Words: []string{"own.exe"}, Self: -1}); err != nil || box.cmd.Tool != want {
			t.Errorf("%s runs as %q, %v", name, box.cmd.Tool, err)
		}
	}
}

// TestRulesHoldForTools: what a rule denies is not run with, what it fixes is only read.
func TestRulesHoldForTools(t *testing.T) {
	tools, box, _, project := place(t)
	data := filepath.Join(project, "data")
	tools.Rules = func() policy.Taken {
		return policy.Taken{Denied: []string{filepath.ToSlash(data)}, Fixed: []string{filepath.ToSlash(project)}}
	}
	if err := run(t, tools, toolfile.File{Read: []string{"data"}}); toolcrib.CodeOf(err) != toolcrib.CodeUnavailable || !strings.Contains(err.Error(), "a rule denies") {
		t.Errorf("%v", err)
	}
	if err := run(t, tools, toolfile.File{Write: []string{"."}}); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(box.grant.Dirs, []files.Dir{{Path: project}}) || !slices.Equal(box.grant.Denied, []string{filepath.ToSlash(data)}) {
		t.Errorf("%+v", box.grant)
	}
}

// TestToolsDoNotWriteTools: a tool that could write the folder of tools, or the copies that run, would make itself another
// one that is held to nothing.
func TestToolsDoNotWriteTools(t *testing.T) {
	tools, box, home, project := place(t)
	tools.Home, tools.Kept = home, []string{filepath.Join(project, "da[t]a"), filepath.Join(home, "bin")}
	if err := run(t, tools, toolfile.File{Write: []string{".", "~/bin"}}); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(box.grant.Dirs, []files.Dir{{Path: project, Write: true}, {Path: filepath.Join(home, "bin")}}) {
		t.Errorf("%+v", box.grant.Dirs)
	}
	for _, want := range []string{filepath.Join(project, "da?t?a"), filepath.Join(home, "bin")} {
		if !slices.Contains(box.grant.Fixed, filepath.ToSlash(want)) {
			t.Errorf("%s is not among %q", want, box.grant.Fixed)
		}
	}
	g := tools.exactly(&toolcrib.Grant{Dirs: []files.Dir{{Path: home, Write: true}}}, "linux")
	if !slices.Contains(g.Fixed, filepath.ToSlash(ShownDir(home))) {
		t.Errorf("a server: %q", g.Fixed)
	}
}

// TestToolsAreNotLedAway: a link where tools can write does not make a declared directory another one.
func TestToolsAreNotLedAway(t *testing.T) {
	tools, box, home, project := place(t)
	private, own := filepath.Join(home, "private"), filepath.Join(home, "own")
	for _, dir := range []string{private, own, filepath.Join(project, "real")} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{
		filepath.Join(project, "away"): "../private", filepath.Join(project, "near"): "real", filepath.Join(home, "mine"): private, filepath.Join(home, "over"): filepath.Join(project, "away"),
		filepath.Join(own, "led"): "../private",
	} {
		if err := os.Symlink(to, link); err != nil {
			t.Fatal(err)
		}
	}
	tools.Outside = Outside{Finder: hostpath.Finder{Writable: func(path string) bool { return strings.HasPrefix(path, project) }}}
	tools.files = ownFolder{"w.yaml": "description: x\ncommand: [x]\neffects: writes\nwrite: ~/own\n"}
	for text, want := range map[string]string{"away": "", "near": filepath.Join(project, "real"), "~/mine": private, "~/over": "", "~/own/led": "", "~/own": own} {
		for _, f := range []toolfile.File{{Read: []string{text}}, {Write: []string{text}}} {
			err := run(t, tools, f)
			switch {
			case want == "" && (err == nil || !strings.Contains(err.Error(), "a link that tools can change")):
				t.Errorf("%s: %v, %v", text, box.grant.Dirs, err)
			case want != "" && (err != nil || box.grant.Dirs[0].Path != want):
				t.Errorf("%s: %v, %v", text, box.grant.Dirs, err)
			}
		}
	}
	tools.files = nil
	if err := run(t, tools, toolfile.File{Write: []string{"~/own"}, Read: []string{"~/own/led"}}); err == nil {
		t.Error("by a link of its own")
	}
}

// ownFolder is a folder of files in memory.
type ownFolder map[string]string

func (o ownFolder) Read() (list []toolfile.Source, _ error) {
	for name, content := range o {
		list = append(list, toolfile.Source{Path: name, Content: []byte(content)})
	}
	return list, nil
}

func (ownFolder) Marks() string { return "" }

func TestToolsThatCannotRun(t *testing.T) {
	tools, _, home, _ := place(t)
	tools.Outside = Outside{Finder: hostpath.Finder{Writable: func(path string) bool { return strings.HasPrefix(path, home) }}, Home: home}
	for says, p := range map[string]script.Program{
		"which the tool declares (write)": {File: &toolfile.File{Write: []string{"missing"}}, Words: []string{"own.exe"}, Self: -1},
		"no program \"other\"":            {File: &toolfile.File{}, Words: []string{"other"}, Self: -1},
		"where commands can write":        {File: &toolfile.File{Sandbox: "host"}, Words: []string{"~/bin/own.exe"}, Self: -1},
		"own.py: it lies where":           {File: &toolfile.File{Sandbox: "host"}, Words: []string{"/usr/bin/env", "python3", "-u", "~/bin/own.py", "-c", "x"}, Self: -1},
		"has to be a whole path":          {File: &toolfile.File{Sandbox: "container"}, Words: []string{"own.exe"}, Self: -1},
	} {
		if _, err := tools.Run(t.Context(), p); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v", says, err)
		}
	}
	// Where they start would be the home directory: nobody meant to show all of that.
	tools.Start.Dir = home
	if err := run(t, tools, toolfile.File{Read: []string{"."}}); err == nil || !strings.Contains(err.Error(), "home directory") {
		t.Errorf("%v", err)
	}
}

// TestCopies: a copy has the content that was judged, whatever lies there, and is not kept for ever.
func TestCopies(t *testing.T) {
	copies := Copies{Dir: filepath.Join(t.TempDir(), "shown")}
	content := []byte("#!/bin/sh\necho\n")
	f := &toolfile.File{Path: "/else/where/one.sh", Content: content, Hash: toolfile.HashOf(content)}
	dir, path, err := copies.Put(f)
	if err != nil || filepath.Dir(path) != dir || filepath.Base(path) != "one.sh" || filepath.Base(dir) != f.Hash {
		t.Fatalf("%s, %s, %v", dir, path, err)
	}
	for _, swapped := range []string{"#!/bin/sh\necho swapped\n", "", "#!/bin/sh\nECHO\n"} {
		if err := os.Chmod(path, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(swapped), 0o700); err != nil {
			t.Fatal(err)
		}
		if _, _, err := copies.Put(f); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != string(content) {
			t.Errorf("%q, %v", got, err)
		}
	}
	long := time.Now().Add(-2 * copyAge)
	if err := os.Chtimes(dir, long, long); err != nil {
		t.Fatal(err)
	}
	if _, _, err := copies.Put(&toolfile.File{Path: "two.sh", Content: []byte("x"), Hash: toolfile.HashOf([]byte("x"))}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("it is still there")
	}
	if _, _, err := (Copies{}).Put(f); err == nil {
		t.Error("without a home")
	}
}
