package policy

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/gitconfig"
	"github.com/toolcrib/toolcrib/internal/linked"
	"github.com/toolcrib/toolcrib/internal/sensitive"
	"github.com/toolcrib/toolcrib/internal/shellguard/shelltest"
)

// obeyingDesk is a policy over a real project.
func obeyingDesk(t testing.TB, root string, m Mode, granted []string, layers ...Layer) []toolcrib.Guard {
	t.Helper()
	rules, err := NewRules(layers, RuleOptions{Own: []string{"files"}, Base: root, Resolve: RealPath, Conditions: &Conditions{}})
	if err != nil {
		t.Fatal(err)
	}
	set, err := sensitive.NewObeyedSet(granted...)
	if err != nil {
		t.Fatal(err)
	}
	return []toolcrib.Guard{&Policy{Rules: rules, Mode: inMode(m), Obeyed: &Obeyed{Set: set, Roots: []string{root}, Base: root, Resolve: RealPath, List: linked.Read, Git: gitconfig.Source{Read: os.ReadFile}}}}
}

// obeyedProject is a repository with another one in it, links, and settings
// that point git at files of the project.
func obeyedProject(t testing.TB) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	root = filepath.Join(root, ".vscode", "project") // a name above the project says nothing
	for name, text := range map[string]string{
		".git/HEAD": "ref: refs/heads/main\n", ".git/config": "[core]\n\thooksPath = .githooks\n\tfsmonitor = ./tools/watch.sh\n[include]\n\tpath = ../shared.gitconfig\n",
		"nested/.git/HEAD": "ref: refs/heads/main\n", "nested/.git/config": "[core]\n\thooksPath = hooks\n", ".zed/settings.json": "{}", "src/main.go": "package main\n", "editor/tasks.json": "{}",
		".git/hooks/x.sample": "", "scripts/pre-commit": "", "shared/settings.json": "{}", ".githooks/x": "", "AGENTS.md": "",
	} {
		full := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range map[string]string{
		"way": ".zed", ".idea": "editor", "nested/out": "../.zed", ".git/hooks/pre-commit": "../../scripts/pre-commit", ".git/hooks/pre-push": "../../scripts/missing", ".claude/settings.json": "../shared/settings.json",
		".claude/skills": "../skills", ".claude/CLAUDE.md": "../AGENTS.md", ".claude/all": "..", ".githooks/commit-msg": "../hk/commit-msg", "nested/.git/hooks": "../kh",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// TestObeyedIsAsked: writing what other programs obey is asked about in every
// mode but plan, where it is denied: by every tool that writes, by whatever
// name, existing or not, at the root, in directories and in nested repositories.
func TestObeyedIsAsked(t *testing.T) {
	root := obeyedProject(t)
	var hostile []string
	for _, p := range sensitive.Obeyed() {
		name := strings.ReplaceAll(p.Pattern, "*", "x")
		hostile = append(hostile, name, "nested/"+name, "src/"+name, strings.ToUpper(name), "./src/../"+name, root+"/"+name)
		if p.Dir {
			hostile = append(hostile, name+"/file", "nested/"+name+"/deep/file")
		}
	}
	hostile = append(hostile, "way/settings.json", "nested/out/settings.json", "editor/tasks.json", "editor/new", ".githooks/pre-commit", ".githooks", "tools/watch.sh", "shared.gitconfig", "nested/hooks/pre-commit", "src/../tools/./watch.sh",
		"scripts/pre-commit", "./scripts/../scripts/pre-commit", "scripts/missing", "shared/settings.json", "skills/x/SKILL.md", "hk/commit-msg", "nested/kh/pre-commit")
	harmless := []string{"src/main.go", "README.md", "package.json", "tools/other.sh", "hooks/pre-commit", "nested/src/x", ".github/dependabot.yml", "vscode/x", "CLAUDE.md", "AGENTS.md", "scripts/other", "shared/x", ".gitignore", root + "/src/new.go"}
	for _, m := range modes() {
		guards := obeyingDesk(t, root, m, nil)
		for _, tool := range []string{"write_file", "edit_file", "delete_file"} {
			for _, path := range hostile {
				want := isAsk
				if m == ModePlan {
					want = isDeny
				}
				if e := verdictOf(t, guards, fileTool(tool), map[string]string{"path": path}); e.Decision != want {
					t.Errorf("%s: %s(%s) is %s: %+v", m, tool, path, e.Decision, e.By)
				}
			}
		}
		for _, path := range harmless {
			e := verdictOf(t, guards, fileTool("write_file"), map[string]string{"path": path})
			if got := len(e.By) > 0 && e.By[0].Guard == "obeyed"; got || m == ModeAutoEdit && e.Decision != isAllow {
				t.Errorf("%s: write_file(%s) is %s: %+v", m, path, e.Decision, e.By)
			}
		}
		if e := verdictOf(t, guards, fileTool("read_file"), map[string]string{"path": ".vscode/tasks.json"}); e.Decision != isAllow {
			t.Errorf("%s: reading is %s: %+v", m, e.Decision, e.By)
		}
	}
	// A tool of somebody else that says that it writes files.
	stranger := toolcrib.Entry{Spec: toolcrib.Spec{Name: "move", Effects: reads | writes}, Native: "move_file", Box: "fsserver"}
	guards := obeyingDesk(t, root, ModeAutoEdit, nil)
	for _, input := range []any{map[string]string{"source": "a", "destination": ".vscode/tasks.json"}, map[string]any{"paths": []string{"a", ".envrc"}}} {
		if e := verdictOf(t, guards, stranger, input); e.Decision != isAsk {
			t.Errorf("%v is %s", input, e.Decision)
		}
	}
	// Its arguments are called as it likes.
	for _, text := range []string{
		`{"filePath":".vscode/tasks.json"}`, `{"target_file":".vscode/tasks.json"}`, `{"TargetFile":".vscode/tasks.json"}`, `{"output-dir":".vscode"}`, `{"files":[{"path":".vscode/tasks.json","content":"x"}]}`,
		`{"files":[{"name":".envrc","content":"x"}]}`, `{"edits":{".vscode/tasks.json":"x"}}`, `{"changes":{"a":[{"deep":{"fileName":".envrc"}}]}}`, `{"uri":"file://ROOT/.vscode/tasks.json"}`, `{"uri":"FILE://localhostROOT/%2evscode/tasks.json"}`,
		`{"uri":"file:ROOT/.vscode/tasks.json?x#y"}`, `{"anything":"ROOT/.vscode/tasks.json"}`, `{"list":["a","file://ROOT/.envrc"]}`, `{"a":{"src":"x","dst":"nested/.mcp.json"}}`, `{"path":".envrc","path":"ok.txt"}`, `{"doc":{"content":{"file":".envrc"}}}`,
		`{"workbook_path":".envrc"}`, `{"path":"x://../.vscode/tasks.json"}`,
		`{"paths":["` + strings.Repeat(`a","`, 1100) + `.envrc"]}`,
	} {
		text = strings.ReplaceAll(text, "ROOT", root)
		if e := verdictOf(t, guards, stranger, json.RawMessage(text)); e.Decision != isAsk {
			t.Errorf("%.100s is %s", text, e.Decision)
		}
	}
	// What is written, said or looked for is no path, nor is an address of the web.
	for _, text := range []string{
		`{"path":"x.md","content":".vscode/tasks.json"}`, `{"path":"x","edits":[{"oldText":"ROOT/.vscode","newText":".envrc"}]}`, `{"file_path":"x","file_text":".mcp.json"}`, `{"url":"https://example.com/.github/workflows/ci.yml"}`,
		`{"message":".github/workflows/ci.yml"}`, `{"entities":[{"name":".mcp.json","entityType":"file","observations":["ROOT/.mcp.json"]}]}`, `{"profile":"default","to":"ann"}`, `{"command":"ROOT/.vscode/x","working_dir":".vscode"}`, `{"n":1,"b":true,"z":null,"l":[1,[]],"o":{}}`,
	} {
		text = strings.ReplaceAll(text, "ROOT", root)
		if e := verdictOf(t, guards, stranger, json.RawMessage(text)); e.Decision != isAllow {
			t.Errorf("%.100s is %s: %+v", text, e.Decision, e.By)
		}
	}
	if e := verdictOf(t, guards, toolcrib.Entry{Spec: toolcrib.Spec{Name: "read", Effects: reads}, Native: "read", Box: "fsserver"}, json.RawMessage(`{"filePath":".vscode/tasks.json"}`)); e.Decision != isAllow {
		t.Errorf("reading is %s", e.Decision)
	}
}

func FuzzInputPaths(f *testing.F) {
	for _, s := range []string{`{"path":"a"}`, `[{"file":["file:///x%2f?y"]}]`, `{"a":{"b":"/c"}}`, `"x`, `{"/a":1}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		found, _ := inputPaths(json.RawMessage(s))
		if len(found) > pathsMost {
			t.Error(len(found))
		}
		if json.Valid([]byte(s)) { // what is named a path is never missed
			text, err := json.Marshal(map[string]any{"x": json.RawMessage(s), "file": ".envrc"})
			if err != nil {
				t.Fatal(err)
			}
			if found, all := inputPaths(text); all && !slices.ContainsFunc(found, func(p inputPath) bool { return p.text == ".envrc" }) {
				t.Errorf("%s: %v", text, found)
			}
		}
	})
}

// TestObeyedIsGranted: a rule that names the place lifts the question, a broad
// one does not, and neither does a project's own.
func TestObeyedIsGranted(t *testing.T) {
	root := obeyedProject(t)
	for _, c := range []struct {
		name    string
		rank    Rank
		rules   []string
		granted []string
		path    string
		want    toolcrib.Decision
	}{
		{"named", RankUser, []string{"write_file(.vscode/**)"}, nil, ".vscode/tasks.json", isAllow},
		{"named among others", RankUser, []string{"write_file", "write_file(./**)", "write_file(.vscode/**)"}, nil, ".vscode/tasks.json", isAllow},
		{"a file", RankUser, []string{"write_file(.mcp.json)"}, nil, ".mcp.json", isAllow},
		{"what git is pointed at", RankUser, []string{"write_file(.githooks/**)"}, nil, ".githooks/pre-commit", isAllow},
		{"another place", RankUser, []string{"write_file(.vscode/**)"}, nil, ".idea/x", isAsk},
		{"broad", RankUser, []string{"write_file"}, nil, ".vscode/tasks.json", isAsk},
		{"all paths", RankUser, []string{"write_file(./**)"}, nil, ".vscode/tasks.json", isAsk},
		{"any name", RankUser, []string{"write_file(*.json)"}, nil, ".vscode/tasks.json", isAsk},
		{"the directory around it", RankUser, []string{"write_file(.github/**)"}, nil, ".github/workflows/ci.yml", isAsk},
		{"of the project", RankProject, []string{"write_file(.vscode/**)"}, nil, ".vscode/tasks.json", isAsk},
		{"granted", RankUser, nil, []string{".vscode"}, ".vscode/tasks.json", isAllow},
		{"granted by its end", RankUser, nil, []string{".github/workflows"}, "nested/.github/workflows/ci.yml", isAllow},
		{"granted another", RankUser, nil, []string{".vscode"}, ".mcp.json", isAsk},
	} {
		t.Run(c.name, func(t *testing.T) {
			guards := obeyingDesk(t, root, ModeAutoEdit, c.granted, Layer{Rank: c.rank, Source: "test", Permissions: Permissions{Allow: c.rules}})
			if e := verdictOf(t, guards, fileTool("write_file"), map[string]string{"path": c.path}); e.Decision != c.want {
				t.Errorf("%s is %s: %+v", c.path, e.Decision, e.By)
			}
		})
	}
}

// TestObeyedIsOfferedAsWhatItIs: the rule that a question offers names a file as a
// file, and it lifts the question.
func TestObeyedIsOfferedAsWhatItIs(t *testing.T) {
	root := obeyedProject(t)
	script := &Obeyed{Base: root, Roots: []string{root}, Resolve: RealPath, Set: &sensitive.ObeyedSet{}, Own: func() []string {
		return []string{filepath.Join(root, "scripts", "fmt.sh"), filepath.Join(root, "hooks")}
	}}
	for file, rule := range map[string]string{"scripts/fmt.sh": "write_file(scripts/fmt.sh)", "hooks/pre": "write_file(hooks/pre)"} {
		if found := script.at(file, nil); found == nil || found.rule() != rule {
			t.Errorf("%s: %+v", file, found)
		}
	}
	for file, rule := range map[string]string{".mcp.json": "write_file(.mcp.json)", ".vscode/tasks.json": "write_file(.vscode/**)", ".githooks/pre-commit": "write_file(.githooks/**)"} {
		e := verdictOf(t, obeyingDesk(t, root, ModeAutoEdit, nil), fileTool("write_file"), map[string]string{"path": file})
		if e.Decision != isAsk || !strings.Contains(said(e), "such as "+rule+",") {
			t.Errorf("%s: %v: %s", file, e.Decision, said(e))
		}
		guards := obeyingDesk(t, root, ModeAutoEdit, nil, Layer{Rank: RankUser, Permissions: Permissions{Allow: []string{rule}}})
		if e := verdictOf(t, guards, fileTool("write_file"), map[string]string{"path": file}); e.Decision != isAllow {
			t.Errorf("%s with %s: %v", file, rule, e.Decision)
		}
	}
}

// TestObeyedInLines: without a sandbox that bounds them, lines that write what
// others obey are asked about whatever rule or mode allows them; in one, the
// places are read-only, and there is nothing to ask.
func TestObeyedInLines(t *testing.T) {
	set, err := sensitive.NewObeyedSet()
	if err != nil {
		t.Fatal(err)
	}
	machine := shelltest.NewMachine()
	for _, bounded := range []bool{false, true} {
		shell := shellOn(t, machine)
		shell.Bounded = bounded
		shell.Unasked = func(toolcrib.Call) bool { return true }
		obeyed := &Obeyed{Set: set, Roots: []string{work}, Base: work, Home: home, Resolve: machine.EvalSymlinks}
		shell.Obeyed = obeyed.At
		for _, line := range []string{"echo x > .envrc", "echo x >> sub/.vscode/tasks.json", "cp a .vscode/tasks.json", "tee .mcp.json", "sed -i s/a/b/ .github/workflows/ci.yml", "dd if=a of=.bashrc", "mv a " + work + "/.idea/x", "mkdir .HUSKY",
			"echo x > packages/app/.yarnrc.yml", "cp x bunfig.toml", "cp a/config.toml .cargo/", "cp a/config crates/one/.cargo", "cp -t .cargo a/config.toml", "install -m 644 a/config.toml -t .cargo", "cp --target-directory=.bundle a/config", "cp -r a .cargo", "mv a .mvn", "ln -s ../a crates/.cargo",
			"ln -s ../a/.yarnrc.yml", "rsync -a a/ .cargo", "cd .cargo && echo x >config.toml", "tee conductor.json .mux/init"} {
			v := shelltest.Judge(t, shell, line)
			if asked := v.Decision == isAsk && v.Rule == "floor"; asked == bounded {
				t.Errorf("bounded %v: %s is %s (%s): %s", bounded, line, v.Decision, v.Rule, v.Reason)
			}
		}
		for _, line := range []string{"echo x > out.txt", "cp a b", "cat .vscode/tasks.json", "mkdir vscode", "cp LICENSE .github/", "cp -r src lib", "mv a.txt b.txt", "mkdir .github", "cp a b c d/", "ln -s a b"} {
			if v := shelltest.Judge(t, shell, line); v.Decision != isAllow {
				t.Errorf("bounded %v: %s is %s: %s", bounded, line, v.Decision, v.Reason)
			}
		}
	}
}

// TestLineNamesTheMostDangerousFile: a line with many files that others obey is asked
// about by the most dangerous ones, and says how many more there are.
func TestLineNamesTheMostDangerousFile(t *testing.T) {
	set, err := sensitive.NewObeyedSet()
	if err != nil {
		t.Fatal(err)
	}
	machine := shelltest.NewMachine()
	shell := shellOn(t, machine)
	shell.Bounded = false
	shell.Obeyed = (&Obeyed{Set: set, Roots: []string{work}, Base: work, Home: home, Resolve: machine.EvalSymlinks}).At
	var line strings.Builder
	line.WriteString("touch")
	for i := range 40 {
		fmt.Fprintf(&line, " d%d/.travis.yml", i)
	}
	line.WriteString(" .yarnrc.yml .mux/init")
	v := shelltest.Judge(t, shell, line.String())
	reasons := strings.Split(v.Reason, "\n")
	if v.Decision != isAsk || len(reasons) < 3 || !strings.HasPrefix(reasons[0], ".mux: agents") || !strings.HasPrefix(reasons[1], ".yarnrc.yml: ") || !strings.Contains(v.Reason, "22 more files") {
		t.Errorf("%s: %s", v.Decision, v.Reason)
	}
}

// TestObeyedByOwnSettings: what a person's own settings of git name is asked
// about, also where there is no repository.
func TestObeyedByOwnSettings(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(root, "home")
	project := filepath.Join(root, "project")
	for _, dir := range []string{home, project} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(home, ".gitconfig"), []byte("[core]\n\thooksPath = "+project+"/hooks\n[include]\n\tpath = "+root+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	guards := obeyingDesk(t, project, ModeAutoEdit, nil)
	guards[0].(*Policy).Obeyed.Git.Home = home
	for path, want := range map[string]toolcrib.Decision{"hooks/pre-commit": isAsk, "src/main.go": isAllow} {
		if e := verdictOf(t, guards, fileTool("write_file"), map[string]string{"path": path}); e.Decision != want {
			t.Errorf("%s is %s: %+v", path, e.Decision, e.By)
		}
	}
}

// TestQuestionNamesTheMostDangerousFile: a call that writes many files that other
// programs obey is asked about by the most dangerous one, wherever it is in the
// input, and the question says which others there are.
func TestQuestionNamesTheMostDangerousFile(t *testing.T) {
	root := obeyedProject(t)
	stranger := toolcrib.Entry{Spec: toolcrib.Spec{Name: "move", Effects: reads | writes}, Native: "move_file", Box: "fsserver"}
	var paths []string
	for i := range 30 {
		paths = append(paths, fmt.Sprintf("d%d/.travis.yml", i), fmt.Sprintf("d%d/.lintstagedrc", i))
	}
	paths = append(paths, "packages/app/.yarnrc.yml", "packages/app/.mux/init")
	e := verdictOf(t, obeyingDesk(t, root, ModeAutoEdit, nil), stranger, map[string]any{"paths": paths})
	if e.Decision != isAsk || len(e.By) == 0 {
		t.Fatalf("%s: %+v", e.Decision, e.By)
	}
	first, rest, ok := strings.Cut(e.By[0].Reason, "more files that other programs obey: ")
	if !strings.HasPrefix(first, `packages/app/.mux: agents obey it`) || !ok || !strings.HasPrefix(rest, "packages/app/.yarnrc.yml, ") || !strings.HasSuffix(rest, " more") {
		t.Errorf("%s", e.By[0].Reason)
	}
}
