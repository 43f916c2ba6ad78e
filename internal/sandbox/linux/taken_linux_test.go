//go:build amd64 || arm64

package linux

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
	texts "github.com/toolcrib/toolcrib/internal/named"
)

func takenShield(t *testing.T) (*Sandbox, toolcrib.Grant, string) {
	t.Helper()
	root := tempProject(t)
	shield := obeyedShield(t, t.TempDir())
	shield.Taken = func() texts.Taken {
		all := texts.TakenBy("server x", "npx", []string{"-y", "mcp-x"}, nil)
		all.Add(texts.TakenBy("server y", "npx", []string{"@sc/y@latest"}, nil))
		all.Add(texts.TakenBy("server z", "python3", []string{"-m", "mcp_z"}, nil))
		return all
	}
	return open(t, Config{Shield: shield}), toolcrib.Grant{Dirs: []toolcrib.Dir{{Path: root, Write: true}}}, root
}

// TestTaken: what npx and python -m would run instead of what they mean is set
// aside, however it is put into the project.
func TestTaken(t *testing.T) {
	for name, test := range map[string]struct {
		script string
		gone   string
	}{
		"program":           {"mkdir -p node_modules/.bin; echo x > node_modules/.bin/mcp-x", "node_modules/.bin/mcp-x"},
		"with a version":    {"mkdir -p node_modules/.bin/@sc; echo x > node_modules/.bin/@sc/y@latest", "node_modules/.bin/@sc/y@latest"},
		"package":           {`mkdir -p node_modules/@sc/y; echo '{}' > node_modules/@sc/y/package.json`, "node_modules/@sc/y/package.json"},
		"other directory":   {`mkdir -p node_modules/foo; echo '{"name": "mcp-x"}' > node_modules/foo/package.json`, "node_modules/foo/package.json"},
		"deeper":            {`mkdir -p node_modules/@a/b/node_modules/mcp-x; echo '{"name": "mcp-x"}' > node_modules/@a/b/node_modules/mcp-x/package.json`, "node_modules/@a/b/node_modules/mcp-x/package.json"},
		"written otherwise": {`mkdir -p node_modules/foo; echo '{"name": "m\u0063p-x", "Name": "a"}' > node_modules/foo/package.json`, "node_modules/foo/package.json"},
		"in place":          {`echo '{"name": "mcp-x"}' > node_modules/old/package.json`, "node_modules/old/package.json"},
		"by a link":         {`ln -s ../src node_modules/foo; echo '{"name": "mcp-x"}' > src/package.json`, "node_modules/foo"},
		"npm's list":        {`echo '{"packages": {"node_modules/old": {"name": "mcp-x"}}}' > node_modules/.package-lock.json`, "node_modules/.package-lock.json"},
		"the project":       {`echo '{"name": "mcp-x"}' > package.json`, "package.json"},
		"its programs":      {`echo '{"name": "a", "bin": {"mcp-x": "e.js"}}' > package.json`, "package.json"},
		"directory of them": {`mkdir tl; echo x > tl/mcp-x; echo '{"name": "a", "directories": {"bin": "tl"}}' > package.json`, "package.json"},
		"before node":       {"mkdir -p node_modules/.bin; echo x > node_modules/.bin/node", "node_modules/.bin/node"},
		"linked modules":    {"rm -r node_modules; mkdir -p nm/.bin; ln -s nm node_modules; echo x > nm/.bin/mcp-x", "nm/.bin/mcp-x"},
		"module":            {"echo x > mcp_z.py", "mcp_z.py"},
		"compiled":          {"echo x > mcp_z.cpython-312-x86_64-linux-gnu.so", "mcp_z.cpython-312-x86_64-linux-gnu.so"},
		"a package of it":   {"mkdir mcp_z; echo x > mcp_z/__init__.py", "mcp_z"},
		"standard library":  {"echo x > argparse.py", "argparse.py"},
		"a private module":  {"echo x > _json.py", "_json.py"},
		"of the future":     {"echo x > __future__.py", "__future__.py"},
		"a part of it in C": {"echo x > _ssl.so", "_ssl.so"},
		"what is tried":     {"mkdir org; echo x > org/__init__.py", "org"},
		"of the build":      {"echo x > _sysconfigdata__linux_x86_64-linux-gnu.py", "_sysconfigdata__linux_x86_64-linux-gnu.py"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, grant, root := takenShield(t)
			put(t, root, map[string]string{"src/a": "a", "node_modules/old/package.json": `{"name": "old"}`})
			out, exit := sh(t, s, grant, test.script)
			if _, err := os.Lstat(filepath.Join(root, test.gone)); exit.Code != 0 || err == nil || len(exit.Notes) != 1 || !strings.Contains(exit.Notes[0], "the sandbox") {
				t.Errorf("%v: %+v\n%s", err, exit, out)
			}
			if out, exit := sh(t, s, grant, "true"); exit.Code != 0 || len(exit.Notes) > 0 {
				t.Errorf("%+v\n%s", exit, out)
			}
			// What was set aside is put back by another program.
			if _, exit := sh(t, s, grant, "mv $(find . -name '*"+filepath.Base(test.gone)+".set-aside-*') "+test.gone); exit.Code != 0 || len(exit.Notes) != 1 {
				t.Errorf("%+v", exit)
			}
		})
	}
}

// TestTakenStays: what was there before is worked on, and installing what the
// project needs is ordinary.
func TestTakenStays(t *testing.T) {
	s, grant, root := takenShield(t)
	put(t, root, map[string]string{
		"mcp_z/__init__.py": "", "mcp_z/a.py": "", "node_modules/mcp-x/package.json": `{"name": "mcp-x"}`, "node_modules/.bin/mcp-x": "x", "node_modules/.bin/node": "x",
		"sub/package.json": `{"name": "sub", "devDependencies": {"@sc/y": "1"}}`, "json.py": "",
	})
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x"}} {
		if out, err := exec.Command("git", append([]string{"-C", filepath.Join(root, "sub")}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	const script = `set -e
echo x > mcp_z/__init__.py; echo x >> json.py; echo '{"name": "mcp-x", "version": "2"}' > node_modules/mcp-x/package.json
rm -r node_modules; mkdir -p node_modules/mcp-x node_modules/.bin node_modules/other; echo '{"name": "mcp-x"}' > node_modules/mcp-x/package.json; echo y > node_modules/.bin/mcp-x; echo y > node_modules/.bin/tsc
echo '{"name": "other"}' > node_modules/other/package.json; echo '{"name": "project", "bin": {"p": "p.js"}}' > package.json; mkdir cmd json test; echo x > parser.py; echo x > _version.py; echo x > json/a.json; echo x > test/__init__.py
mkdir -p sub/node_modules/@sc/y sub/node_modules/.bin; echo '{"name": "@sc/y"}' > sub/node_modules/@sc/y/package.json; echo x > sub/node_modules/.bin/y; mkdir src; echo x > src/argparse.py`
	if out, exit := sh(t, s, grant, script); exit.Code != 0 || len(exit.Notes) > 0 {
		t.Errorf("%+v\n%s", exit, out)
	}
}

// TestTakenTold: a module of the standard library that programs seldom use, and
// whose name projects have for their own files, stays and is told.
func TestTakenTold(t *testing.T) {
	s, grant, root := takenShield(t)
	put(t, root, map[string]string{"a": "a"})
	if out, exit := sh(t, s, grant, "echo x > cmd.py"); exit.Code != 0 || len(exit.Notes) != 1 || !strings.Contains(exit.Notes[0], "cmd.py") {
		t.Errorf("%+v\n%s", exit, out)
	}
	if _, err := os.Stat(filepath.Join(root, "cmd.py")); err != nil {
		t.Error(err)
	}
}
