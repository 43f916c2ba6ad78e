//go:build amd64 || arm64

package linux

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
)

// monorepo is a repository with packages that have manifests of their own.
func monorepo(t *testing.T) string {
	root := tempProject(t)
	put(t, root, map[string]string{
		".git/HEAD": "ref: refs/heads/main\n", ".git/objects/x": "", ".git/refs/x": "", "package.json": "{}", "packages/app/package.json": "{}", "packages/app/src/x.js": "", "crates/one/Cargo.toml": "", "crates/one/src/main.rs": "",
		"py/pyproject.toml": "", "docs/README.md": "", "c/Makefile": "", "native/CMakeLists.txt": "", "ios/Podfile": "", "infra/main.tf": "", "node_modules/dep/package.json": "{}", "packages/app/node_modules/dep/package.json": "{}", "evil/yarnrc": "yarnPath: ./evil.cjs\n", "evil/cargo/config.toml": "[build]\nrustc-wrapper = \"x\"\n",
	})
	return root
}

func runInProject(t *testing.T, s *Sandbox, root, script string) toolcrib.Exit {
	t.Helper()
	out, exit := sh(t, s, toolcrib.Grant{Dirs: []files.Dir{{Path: root, Write: true}}}, script)
	if exit.Code != 0 {
		t.Fatalf("%+v\n%s", exit, out)
	}
	return exit
}

// TestObeyedInEveryProject: what a command makes in a directory that has a manifest
// of its own is treated as at the top of the project, however it is made. Files that
// programs look for upward from where they are started count in every directory.
func TestObeyedInEveryProject(t *testing.T) {
	const yarn, cargo = "yarnPath: ./evil.cjs", `[build]\nrustc-wrapper = "x"`
	for script, place := range map[string]string{
		"echo '" + yarn + "' >packages/app/.yarnrc.yml":                                          "packages/app/.yarnrc.yml",
		"echo '" + yarn + "' >packages/app/src/.yarnrc.yml":                                      "packages/app/src/.yarnrc.yml",
		"echo '" + yarn + "' >packages/.yarnrc.yml":                                              "packages/.yarnrc.yml",
		"cp evil/yarnrc .yarnrc.yml":                                                             ".yarnrc.yml",
		"mv evil/yarnrc packages/app/.yarnrc.yml":                                                "packages/app/.yarnrc.yml",
		"ln evil/yarnrc packages/app/.yarnrc.yml":                                                "packages/app/.yarnrc.yml",
		"ln -s ../../evil/yarnrc packages/app/.yarnrc.yml":                                       "packages/app/.yarnrc.yml",
		"echo 'yarn-path \"./x\"' >packages/app/.yarnrc":                                         "packages/app/.yarnrc",
		"echo 'preload = [\"./x.js\"]' >packages/app/bunfig.toml":                                "packages/app/bunfig.toml",
		"mkdir crates/one/.cargo; printf '" + cargo + "' >crates/one/.cargo/config.toml":         "crates/one/.cargo/config.toml",
		"mkdir crates/.cargo; printf '" + cargo + "' >crates/.cargo/config":                      "crates/.cargo/config",
		"mkdir crates/one/src/.cargo; printf '" + cargo + "' >crates/one/src/.cargo/config.toml": "crates/one/src/.cargo/config.toml",
		"ln -s ../../evil/cargo crates/one/.cargo":                                               "crates/one/.cargo",
		"cp -r evil/cargo crates/one/.cargo":                                                     "crates/one/.cargo/config.toml",
		"mkdir t; echo '" + yarn + "' >t/.yarnrc.yml; tar -C t -cf t.tar .yarnrc.yml; tar -C packages/app -xf t.tar; rm -r t t.tar": "packages/app/.yarnrc.yml",
		"python3 -c 'open(\"packages/app/.yarnrc.yml\", \"w\").write(\"" + yarn + "\")'":                                            "packages/app/.yarnrc.yml",
		"mkdir packages/app/.claude; echo {} >packages/app/.claude/settings.json":                                                   "packages/app/.claude",
		"echo {} >packages/app/.mcp.json": "packages/app/.mcp.json",
		"mkdir -p packages/new; echo {} >packages/new/package.json; echo '" + yarn + "' >packages/new/.yarnrc.yml": "packages/new/.yarnrc.yml",
		"echo 'script-shell=x' >packages/app/.npmrc":                                                               "packages/app/.npmrc",
		"echo '/tmp/x' >py/.python-version":                                                                        "py/.python-version",
		"printf '[[index]]\\nurl = \"https://x.example/\"\\n' >py/uv.toml":                                         "py/uv.toml",
		"mkdir -p packages/app/.mux; echo x >packages/app/.mux/init":                                               "packages/app/.mux",
		"mkdir -p packages/app/.eca; echo {} >packages/app/.eca/config.json":                                       "packages/app/.eca",
		"echo x >gptme.toml":      "gptme.toml",
		"echo {} >codebuff.json":  "codebuff.json",
		"echo {} >codebuff.jsonc": "codebuff.jsonc",
		"mkdir py/.pixi; echo 'run-post-link-scripts = \"insecure\"' >py/.pixi/config.toml": "py/.pixi/config.toml",
		"echo '/tmp/x/.venv/bin/python' >py/.pdm-python":                                    "py/.pdm-python",
		"echo 'preload = [\"./x.js\"]' >c/bunfig.toml":                                      "c/bunfig.toml",
		"echo {} >native/.mcp.json":                                                         "native/.mcp.json",
		"mkdir ios/.vscode; echo {} >ios/.vscode/tasks.json":                                "ios/.vscode",
		"echo 'script-shell=x' >infra/.npmrc":                                               "infra/.npmrc",
		"echo {} >conductor.json":                                                           "conductor.json",
		"cd packages/app && git init -q . && echo '" + yarn + "' >.yarnrc.yml":              "packages/app/.yarnrc.yml",
	} {
		t.Run(script, func(t *testing.T) {
			for _, needed := range []string{"git", "python3"} {
				if _, err := exec.LookPath(needed); err != nil && strings.Contains(script, needed+" ") {
					t.Skip("there is no " + needed + " on this machine")
				}
			}
			root := monorepo(t)
			s := open(t, Config{Shield: obeyedShield(t, t.TempDir())})
			exit := runInProject(t, s, root, script)
			if _, err := os.Lstat(filepath.Join(root, place)); err == nil {
				t.Errorf("%s is still there", place)
			}
			if !slices.ContainsFunc(exit.Notes, func(n string) bool {
				return strings.Contains(n, filepath.Join(root, place)) && strings.Contains(n, "set aside")
			}) {
				t.Errorf("%q", exit.Notes)
			}
			if exit := runInProject(t, s, root, "true"); len(exit.Notes) > 0 {
				t.Errorf("afterwards: %q", exit.Notes)
			}
		})
	}
}

// TestManifestCannotBeTakenAway: a directory counts as a project if it had a manifest
// before the command or has one after it, so that two commands do no more than one.
func TestManifestCannotBeTakenAway(t *testing.T) {
	root := monorepo(t)
	s := open(t, Config{Shield: obeyedShield(t, t.TempDir())})
	exit := runInProject(t, s, root, "mv packages/app/package.json kept; echo 'script-shell=x' >packages/app/.npmrc; mkdir packages/app/.claude; echo {} >packages/app/.claude/settings.json")
	for _, name := range []string{".npmrc", ".claude"} {
		if _, err := os.Lstat(filepath.Join(root, "packages", "app", name)); err == nil {
			t.Errorf("%s is still there: %q", name, exit.Notes)
		}
	}
	if exit := runInProject(t, s, root, "mkdir docs/.claude; echo {} >docs/.claude/settings.json"); len(exit.Notes) > 0 {
		t.Errorf("%q", exit.Notes)
	}
	exit = runInProject(t, s, root, "mv kept docs/package.json")
	if len(exit.Notes) != 1 || !strings.Contains(exit.Notes[0], "docs/.claude was there before") {
		t.Errorf("%q", exit.Notes)
	}
	if exit := runInProject(t, s, root, "true"); len(exit.Notes) > 0 { // said once
		t.Errorf("%q", exit.Notes)
	}
}

// TestProjectFilesCannotBeChanged: what lies in a directory of the project and is
// obeyed by others is read-only, by links on the way too.
func TestProjectFilesCannotBeChanged(t *testing.T) {
	root := monorepo(t)
	put(t, root, map[string]string{"packages/app/.yarnrc.yml": "old", "packages/app/.yarn/releases/yarn.cjs": "old", "crates/.cargo/config": "old", "packages/app/bunfig.toml": "old", "settings/config.toml": "old", "packages/app/.mux/init": "old"})
	if err := os.Symlink("../../settings", filepath.Join(root, "crates", "one", ".cargo")); err != nil {
		t.Fatal(err)
	}
	s := open(t, Config{Shield: obeyedShield(t, t.TempDir())})
	before := tree(t, root)
	runInProject(t, s, root, `for f in packages/app/.yarnrc.yml packages/app/.yarn/releases/yarn.cjs crates/.cargo/config packages/app/bunfig.toml settings/config.toml crates/one/.cargo/config.toml packages/app/.mux/init; do
(echo evil >$f; rm -f $f; mv $f x; echo evil >x; mv x $f; chmod 700 $f) 2>/dev/null; rm -f x; done
mv settings elsewhere 2>/dev/null; rm -r crates/one/.cargo 2>/dev/null; true`)
	same(t, root, before)
}

// TestOrdinaryWorkIsLeftAlone: what package managers unpack and write themselves,
// and what is not obeyed where it is, stays, and nothing is said about it.
func TestOrdinaryWorkIsLeftAlone(t *testing.T) {
	root := monorepo(t)
	s := open(t, Config{Shield: obeyedShield(t, t.TempDir())})
	made := map[string]string{
		"node_modules/dep/.npmrc": "script-shell=x", "node_modules/dep/.yarnrc.yml": "yarnPath: x", "packages/app/node_modules/dep/.vscode/tasks.json": "{}", "vendor/github.com/x/Cargo.toml": "", "vendor/github.com/x/.cargo/config.toml": "[build]\nrustc-wrapper = 'x'",
		"packages/app/.yarnrc.yml": "nodeLinker: node-modules\nenableTelemetry: false\ncompressionLevel: mixed", "packages/app/bunfig.toml": "[install]\nexact = true\n[test]\ncoverage = true", "crates/one/.cargo/config.toml": "[build]\ntarget = \"wasm32-wasip1\"\njobs = 4\n[profile.dev]\nopt-level = 1",
		"py/.python-version": "3.12", "docs/.npmrc": "script-shell=x", "docs/.vscode/settings.json": "{}", ".cache/registry/x/package.json": "{}", ".cache/registry/x/.cargo/config.toml": "[build]\nrustc-wrapper = 'x'",
		"packages/app/.eslintrc.json": "{}", "packages/app/tsconfig.json": "{}", "py/setup.cfg": "x", "crates/one/build.rs": "fn main() {}", "crates/one/.cargo/notes.txt": "x", "AGENTS.md": "x", "packages/app/conductor/x.json": "{}",
	}
	var script strings.Builder
	for name, text := range made {
		script.WriteString("mkdir -p " + filepath.Dir(name) + "; cat > " + name + " <<'END'\n" + text + "\nEND\n")
	}
	script.WriteString(`mkdir -p py/.venv/bin; printf %s "$PWD/py/.venv/bin/python" >py/.pdm-python` + "\n")
	made["py/.pdm-python"] = ""
	if exit := runInProject(t, s, root, script.String()); len(exit.Notes) > 0 {
		t.Errorf("%q", exit.Notes)
	}
	for name := range made {
		if _, err := os.Lstat(filepath.Join(root, name)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestEnvironmentsAreTold: what a person must enter before it takes effect is told, in
// every directory, and stays; once it is there, commands cannot change it.
func TestEnvironmentsAreTold(t *testing.T) {
	root := monorepo(t)
	s := open(t, Config{Shield: obeyedShield(t, t.TempDir())})
	exit := runInProject(t, s, root, "echo {} >docs/devbox.json; mkdir -p .flox/env .flox/run; echo x >.flox/env/manifest.toml; echo {} >.flox/env.json")
	for _, name := range []string{"docs/devbox.json", ".flox/env", ".flox/env.json"} {
		if !slices.ContainsFunc(exit.Notes, func(n string) bool { return strings.HasPrefix(n, filepath.Join(root, name)+" ") }) {
			t.Errorf("%s is not told: %q", name, exit.Notes)
		}
	}
	before := tree(t, root)
	runInProject(t, s, root, "for f in docs/devbox.json .flox/env/manifest.toml .flox/env.json; do (echo evil >$f; rm -f $f) 2>/dev/null; done; touch .flox/run/x && rm .flox/run/x")
	same(t, root, before)
}

// TestDecoysHideNothing: however many files a command makes that others obey, the
// most dangerous come first in what is said of them, and each kind is counted.
func TestDecoysHideNothing(t *testing.T) {
	root := monorepo(t)
	s := open(t, Config{Shield: obeyedShield(t, t.TempDir())})
	exit := runInProject(t, s, root, `for i in $(seq 60); do mkdir -p a/$i; echo {} >a/$i/package.json; echo x >a/$i/.travis.yml; echo x >a/$i/.gitlab-ci.yml; echo 'script-shell=x' >a/$i/.npmrc; done
for n in .appveyor.yml .cirrus.yml .drone.yml .gclient .lintstagedrc .pre-commit-config.yaml appveyor.yml azure-pipelines.yml; do echo x >$n; done
echo 'yarnPath: x' >packages/app/.yarnrc.yml; mkdir packages/app/.windsurf; echo {} >packages/app/.windsurf/mcp.json`)
	if len(exit.Notes) != 11 {
		t.Fatalf("%d notes: %q", len(exit.Notes), exit.Notes)
	}
	if !strings.Contains(exit.Notes[0], "packages/app/.windsurf") || !slices.ContainsFunc(exit.Notes[:6], func(n string) bool { return strings.Contains(n, "packages/app/.yarnrc.yml") }) {
		t.Errorf("%q", exit.Notes)
	}
	rest := exit.Notes[10]
	for _, want := range []string{"more files", ".npmrc", ".travis.yml", ".gitlab-ci.yml", "azure-pipelines.yml"} {
		if !strings.Contains(strings.Join(exit.Notes, "\n"), want) || want == "more files" && !strings.Contains(rest, want) {
			t.Errorf("%s is not named: %q", want, exit.Notes)
		}
	}
	left := 0
	for _, name := range slices.Sorted(maps.Keys(map[string]bool{".npmrc": true, "package.json": true})) {
		found, err := filepath.Glob(filepath.Join(root, "a", "*", name))
		if err != nil {
			t.Fatal(err)
		}
		left += len(found)
	}
	if left != 60 {
		t.Errorf("%d of the decoys and manifests are left", left)
	}
	if want := fmt.Sprintf("%d more", 60*3+8+2-10); !strings.HasPrefix(rest, want) {
		t.Errorf("want %s: %s", want, rest)
	}
}
