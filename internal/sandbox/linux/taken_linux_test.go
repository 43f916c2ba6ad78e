//go:build amd64 || arm64

package linux

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
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
	return open(t, Config{Shield: shield}), toolcrib.Grant{Dirs: []files.Dir{{Path: root, Write: true}}}, root
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
		"its other field":   {`mkdir -p node_modules/foo; echo '{"packageName": "mcp-x"}' > node_modules/foo/package.json`, "node_modules/foo/package.json"},
		"too long":          {`mkdir -p node_modules/foo; { printf '{"name": "mcp-x", "x": "'; head -c 1100000 /dev/zero | tr '\0' a; printf '"}'; } > node_modules/foo/package.json`, "node_modules/foo/package.json"},
		"project, too long": {`{ printf '{"name": "mcp-x", "x": "'; head -c 1100000 /dev/zero | tr '\0' a; printf '"}'; } > package.json`, "package.json"},
		"a part":            {`mkdir -p packages/a; echo '{"name": "mcp-x"}' > packages/a/package.json; echo '{"name": "p", "workspaces": ["packages/*"]}' > package.json`, "packages/a/package.json"},
		"a part by a link":  {`mkdir -p e packages; echo '{"name": "mcp-x"}' > e/package.json; ln -s ../e packages/a; echo '{"workspaces": {"packages": ["./packages/{a,b}"]}}' > package.json`, "e/package.json"},
		"a deep part":       {`mkdir -p a/b/c; echo '{"name": "mcp-x"}' > a/b/c/package.json; echo '{"workspaces": ["!!a/**"]}' > package.json`, "a/b/c/package.json"},
		"list of folders":   {`mkdir node_modules/mcp-x; echo '{"packages": {"node_modules/mcp-x": {"bin": {"z": "i.js"}}}}' > node_modules/.package-lock.json`, "node_modules/.package-lock.json"},
		"list of links":     {`ln -s ../src node_modules/zz; echo '{"packages": {"node_modules/zz": {"resolved": "lib/mcp-x", "link": true}, "lib/mcp-x": {"version": "1.0.0"}}}' > node_modules/.package-lock.json`, "node_modules/.package-lock.json"},
		"unreadable list":   {`echo '{"packages":' > node_modules/.package-lock.json`, "node_modules/.package-lock.json"},
		"link of modules":   {`rm -r node_modules; mkdir -p nm/q; echo '{"name": "mcp-x"}' > nm/q/package.json; ln -s nm node_modules`, "nm/q/package.json"},
		"link of a scope":   {`mkdir -p sc/q; echo '{"name": "mcp-x"}' > sc/q/package.json; ln -s ../sc node_modules/@s`, "sc/q/package.json"},
		"around a link":     {`mkdir -p st/a nm/q; echo '{"name": "a", "dependencies": {"q": "*"}}' > st/a/package.json; echo '{"name": "mcp-x"}' > nm/q/package.json; ln -s ../nm st/node_modules; ln -s ../st/a node_modules/a`, "nm/q/package.json"},
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

// TestTakenLater: what lay elsewhere, and nobody looked for its name there, is
// found when another program makes it a package.
func TestTakenLater(t *testing.T) {
	const evil = `mkdir -p e; echo '{"name": "mcp-x"}' > e/package.json; `
	for name, scripts := range map[string][2]string{
		"in the place of another": {evil, "rm -r node_modules/old; mv e node_modules/old"},
		"its file":                {evil, "mv e/package.json node_modules/old/package.json"},
		"by a link":               {evil, "ln -s ../e node_modules/a"},
		"by a link that was":      {evil + "ln -s ../src node_modules/a", "mv src s; mv e src"},
		"by links to links":       {evil + "mkdir f; ln -s f l; mkdir -p f/x e2; mv e e2/x; ln -s ../l/x node_modules/a", "rm l; ln -s e2 l"},
		"its file by a link":      {`mkdir d; echo '{"name": "a"}' > d/p; ln -sf ../../d/p node_modules/old/package.json; mkdir e; echo '{"name": "mcp-x"}' > e/p`, "mv d f; mv e d"},
		"link of modules":         {`mkdir -p e/x f; echo '{"name": "mcp-x"}' > e/x/package.json; rm -r node_modules; ln -s f node_modules`, "rmdir f; mv e f"},
		"as a part":               {evil, `echo '{"workspaces": ["e"]}' > package.json`},
		"in the place of a part":  {`mkdir p; echo '{"workspaces": ["p"]}' > package.json; ` + evil, "rmdir p; mv e p"},
		"in what nobody searches": {`mkdir -p .git/x; echo '{"name": "mcp-x"}' > .git/x/package.json`, "ln -s ../.git/x node_modules/a"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, grant, root := takenShield(t)
			put(t, root, map[string]string{"src/a": "a", "node_modules/old/package.json": `{"name": "old"}`})
			if out, exit := sh(t, s, grant, scripts[0]); exit.Code != 0 || len(exit.Notes) > 0 {
				t.Errorf("%+v\n%s", exit, out)
			}
			time.Sleep(1100 * time.Millisecond) // or else its files would be young enough to be looked at for their times
			out, exit := sh(t, s, grant, scripts[1])
			if exit.Code != 0 || len(exit.Notes) != 1 || !strings.Contains(exit.Notes[0], "was set aside") {
				t.Errorf("%+v\n%s", exit, out)
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
