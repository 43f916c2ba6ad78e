package shellguard

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
)

// chainMachine is a machine with a tool chain in a home directory and a project
// that an agent writes. The programs in the list were looked at by the person.
func chainMachine(t *testing.T, looked ...string) (opt Options, project string) {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	project = filepath.Join(root, "work")
	home := filepath.Join(root, "home")
	put := func(path, content string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if target, ok := strings.CutPrefix(content, "->"); ok {
			err = os.Symlink(target, path)
		} else {
			err = os.WriteFile(path, []byte(content), 0o755)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	put(home+"/.cargo/bin/rustup", "x")
	put(home+"/.cargo/bin/cargo", "->rustup")
	put(home+"/.cargo/bin/git", "->rustup") // not what it says
	put(home+"/node/bin/npm", "->../lib/npm-cli.js")
	put(home+"/node/lib/npm-cli.js", "x")
	put(home+"/node/bin/npx", "->"+project+"/npx-cli.js") // leads to where an agent writes
	put(project+"/npx-cli.js", "x")
	put(home+"/node/bin/tsc", "->"+root+"/elsewhere/tsc")
	put(root+"/elsewhere/tsc", "x")
	for _, name := range []string{"gradlew", "cargo", "ls", "node_modules/.bin/eslint", "node_modules/.bin/cat", "node_modules/.bin/git", "sub/gradlew", ".venv/bin/pytest"} {
		put(filepath.Join(project, name), "x")
	}
	bins := []string{home + "/.cargo/bin", home + "/node/bin"}
	search := append(append(bins, SystemDirs()...), project+"/node_modules/.bin")
	known := map[string]bool{}
	for _, name := range looked {
		known[filepath.Join(project, name)] = true
	}
	return Options{
		Dir: project, Look: LookIn(search...), EvalSymlinks: filepath.EvalSymlinks, Stat: os.Stat, Lstat: os.Lstat,
		Trusted: append(bins, SystemDirs()...), Trees: []string{home + "/node"}, Writable: []string{project},
		Project: func(path string) error {
			if known[path] {
				return nil
			}
			return errors.New("nobody has trusted it")
		},
	}, project
}

func judgedLine(t *testing.T, opt Options, line string, rules ...string) toolcrib.Decision {
	t.Helper()
	parsed, err := ParseRules(rules)
	if err != nil {
		t.Fatal(err)
	}
	g := &Guard{AllowShell: true, Bounded: true, Options: opt, Rules: parsed, Reach: func(string) error { return nil }}
	return g.judgeLine(toolcrib.Call{}, line, opt.Dir, false, false, false).Decision
}

// TestToolchainPrograms: a program in a trusted directory is the one that its name
// says, and one of the same name elsewhere is not.
func TestToolchainPrograms(t *testing.T) {
	t.Parallel()
	opt, project := chainMachine(t)
	rules := []string{"cargo test *", "npm test", "npx tsc *", "tsc *", "git commit *", "gradlew test *"}
	for line, want := range map[string]toolcrib.Decision{
		"cargo test": toolcrib.Allow, "cargo test --release": toolcrib.Allow, opt.Trusted[0] + "/cargo test": toolcrib.Allow, "npm test": toolcrib.Allow,
		"cargo test --config x=y": toolcrib.Ask, "cargo +nightly test": toolcrib.Ask,
		"./cargo test": toolcrib.Ask, project + "/cargo test": toolcrib.Ask, "cd sub && ../cargo test": toolcrib.Ask,
		"PATH=. cargo test": toolcrib.Ask, "npx tsc": toolcrib.Ask, "tsc": toolcrib.Ask, "git commit -m x": toolcrib.Ask, "git status": toolcrib.Ask,
		"./gradlew test": toolcrib.Ask, "eslint .": toolcrib.Ask,
		"ls": toolcrib.Allow, "./ls": toolcrib.Ask, "cat a.txt": toolcrib.Allow,
	} {
		if got := judgedLine(t, opt, line, rules...); got != want {
			t.Errorf("%s: %v", line, got)
		}
	}
}

// TestVouchedPrograms: a program of the project that the person has looked at takes
// rules, is never one that only reads, and does not count in a line that may have
// changed it by then.
func TestVouchedPrograms(t *testing.T) {
	t.Parallel()
	opt, project := chainMachine(t, "gradlew", "node_modules/.bin/eslint", "node_modules/.bin/cat", "node_modules/.bin/git", ".venv/bin/pytest", "ls")
	rules := []string{"gradlew test *", "eslint *", "cp *", "make build", "pytest *", "git log *"}
	for line, want := range map[string]toolcrib.Decision{
		"./gradlew test": toolcrib.Allow, project + "/gradlew test": toolcrib.Allow, "cd src && ../gradlew test": toolcrib.Allow, "timeout 60 ./gradlew test 2>&1 | tail -5": toolcrib.Allow,
		"./gradlew test > /dev/null": toolcrib.Allow, "eslint src": toolcrib.Allow, "node_modules/.bin/eslint src": toolcrib.Allow, ".venv/bin/pytest -q": toolcrib.Allow,
		"./gradlew publish": toolcrib.Ask, "cd sub && ./gradlew test": toolcrib.Ask, "./sub/gradlew test": toolcrib.Ask, "sub/../gradlew test": toolcrib.Allow,
		// Never read-only, whatever it is called.
		"./ls": toolcrib.Ask, "node_modules/.bin/cat a.txt": toolcrib.Ask, "node_modules/.bin/git log --oneline": toolcrib.Ask, "./ls --version": toolcrib.Ask,
		// The directories of the project come last.
		"cat a.txt": toolcrib.Allow,
		// What the line does first.
		"cp a.txt gradlew && ./gradlew test": toolcrib.Ask, "make build && ./gradlew test": toolcrib.Ask, "echo x > gradlew; ./gradlew test": toolcrib.Ask,
		"./gradlew test; cp a b": toolcrib.Ask, "cat > gradle/wrapper/x <<'E'\nx\nE\n./gradlew test": toolcrib.Ask,
		"cp a b": toolcrib.Allow,
		// By other ways.
		"./gradlew test --init-script x": toolcrib.Ask, "X=./gradlew; $X test": toolcrib.Ask, "PATH=node_modules/.bin eslint src": toolcrib.Ask,
	} {
		if got := judgedLine(t, opt, line, rules...); got != want {
			t.Errorf("%s: %v", line, got)
		}
	}
}

// TestVouchingNeedsAWritablePlace: what is not trusted for another reason stays so,
// even if somebody vouched for it.
func TestVouchingNeedsAWritablePlace(t *testing.T) {
	t.Parallel()
	opt, _ := chainMachine(t)
	opt.Project = func(string) error { return nil }
	for _, line := range []string{"tsc", "git commit -m x", "npx tsc", "/elsewhere/tsc", "missing"} {
		if got := judgedLine(t, opt, line, "tsc *", "git commit *", "npx tsc *", "missing"); got != toolcrib.Ask {
			t.Errorf("%s: %v", line, got)
		}
	}
}
