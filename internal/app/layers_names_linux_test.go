package app

import (
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib/internal/settings"
)

// namesProject is a project in which the person's clients start servers by npx and python -m,
// and whose directories stand in PATH before those of the machine.
func namesProject(t *testing.T, mode string) (*App, string) {
	t.Helper()
	t.Setenv("PATH", "bin:later/bin:"+os.Getenv("PATH"))
	for _, name := range []string{"XDG_CONFIG_HOME", "CODEX_HOME", "CLAUDE_CONFIG_DIR", "CLINE_MCP_SETTINGS_PATH", "PYTHONSAFEPATH"} {
		t.Setenv(name, "")
	}
	a, dir := layerProject(t, func(c *settings.Config) { c.Mode = mode })
	for name, text := range map[string]string{
		"../home/.claude.json":          `{"mcpServers": {"x": {"command": "npx", "args": ["-y", "mcp-x"]}, "y": {"command": "npx", "args": ["@sc/y@latest"]}, "z": {"command": "python3", "args": ["-m", "mcp_z"]}}}`,
		"src/a":                         "a\n",
		"node_modules/old/package.json": `{"name": "old"}`,
		"package.json":                  `{"name": "project"}`,
		"mine/package.json":             `{"name": "mcp-x"}`,
		"scripts/sed":                   "#!/bin/sh\n",
		"bin/cat":                       "not to be run\n",
		".envrc":                        "PATH_add tools\n",
		"tools/a":                       "a\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Chmod(filepath.Join(dir, "scripts", "sed"), 0o755), os.Symlink("../scripts/sed", filepath.Join(dir, "bin", "sed"))); err != nil {
		t.Fatal(err)
	}
	for began := time.Now(); len(a.reach.Names.Taken().Packages) == 0; time.Sleep(10 * time.Millisecond) { // it was asked before, and remembers
		if time.Since(began) > time.Minute {
			t.Fatal("the servers of the person are not known")
		}
	}
	return a, dir
}

// wouldRun is what the person's servers and shells would find under the names that they mean:
// npx a program, a package of the tree, npm's list or the project itself; Python a module; a
// shell a program before that of the machine.
func wouldRun(t *testing.T, dir string) string {
	t.Helper()
	var out []string
	add := func(kind, path string) {
		text, err := os.ReadFile(path)
		if info, serr := os.Stat(path); err == nil && serr == nil {
			out = append(out, kind+" "+strings.TrimPrefix(path, dir)+" "+info.Mode().String()+" "+string(text))
		}
	}
	for _, name := range []string{"mcp-x", "y", "@sc/y", "@sc/y@latest", "node", "ls", "sh"} {
		add("program", filepath.Join(dir, "node_modules", ".bin", name))
	}
	for _, name := range []string{"mcp-x", "@sc/y"} {
		add("package", filepath.Join(dir, "node_modules", name, "package.json"))
	}
	says := func(path string) (manifest struct {
		Name, PackageName string
		Bin               json.RawMessage
		Workspaces        json.RawMessage
		Packages          map[string]struct{ Name string }
		Directories       struct{ Bin string }
	}) {
		text, err := os.ReadFile(path)
		if err != nil {
			return manifest
		}
		var fields map[string]json.RawMessage // which tells letters apart
		if err := errors.Join(json.Unmarshal(text, &manifest), json.Unmarshal(text, &fields)); err != nil && strings.Contains(string(text), "mcp-x") || strings.Contains(string(fields["name"]), `p-x"`) {
			manifest.Name = "mcp-x"
		}
		return manifest
	}
	isEvil := func(path string) bool { m := says(path); return m.Name == "mcp-x" || m.PackageName == "mcp-x" }
	seen := map[string]bool{}
	var tree func(at string)
	tree = func(at string) {
		if seen[at] {
			return
		}
		seen[at] = true
		dirs, _ := filepath.Glob(filepath.Join(at, "node_modules", "[^.]*"))
		inner, _ := filepath.Glob(filepath.Join(at, "node_modules", "@*", "*"))
		for _, kid := range append(dirs, inner...) {
			if isEvil(filepath.Join(kid, "package.json")) {
				add("package", filepath.Join(kid, "package.json"))
			}
			there, err := filepath.EvalSymlinks(kid)
			if err != nil {
				continue
			}
			for ; strings.HasPrefix(there, dir); there = filepath.Dir(there) {
				tree(there)
			}
		}
	}
	tree(dir)
	top := says(filepath.Join(dir, "package.json"))
	if top.Name == "mcp-x" || strings.Contains(string(top.Bin), "mcp-x") {
		add("project", filepath.Join(dir, "package.json"))
	}
	if top.Directories.Bin != "" {
		add("program", filepath.Join(dir, top.Directories.Bin, "mcp-x"))
	}
	list := says(filepath.Join(dir, "node_modules", ".package-lock.json"))
	for at, entry := range list.Packages {
		if entry.Name == "mcp-x" || filepath.Base(at) == "mcp-x" {
			add("list", filepath.Join(dir, "node_modules", ".package-lock.json"))
		}
	}
	if len(top.Workspaces) > 0 { // which of them does not matter here
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err == nil && !strings.Contains(path, "/node_modules") && isEvil(filepath.Join(path, "package.json")) {
				add("part", filepath.Join(path, "package.json"))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"mcp_z", "argparse", "_json", "__future__", "json", "org", "cmd", "_sysconfigdata__linux_x86_64-linux-gnu", "_ssl", "mcp_z.cpython-312-x86_64-linux-gnu"} {
		for _, end := range []string{".py", ".so", "/__init__.py", "/__main__.py"} {
			add("module", filepath.Join(dir, name+end))
		}
	}
	for _, name := range []string{"ls", "cat", "sed", "sh", "env"} {
		for _, at := range []string{"bin", "later/bin", "tools"} {
			add("command", filepath.Join(dir, at, name))
		}
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}

// nameAttacks put something where a program of the person's takes it by its name, in one
// command or in several.
func nameAttacks() map[string][]string {
	const evil = `mkdir -p e; echo '{"name": "mcp-x"}' > e/package.json`
	long := `head -c 1100000 /dev/zero | tr '\0' a; printf '"}'`
	return map[string][]string{
		"program":                   {`mkdir -p node_modules/.bin; echo x > node_modules/.bin/mcp-x`},
		"program, moved there":      {`mkdir -p node_modules/b; echo x > node_modules/b/mcp-x; mv node_modules/b node_modules/.bin`},
		"program, a further name":   {`mkdir -p node_modules/.bin; ln src/a node_modules/.bin/mcp-x`},
		"program, in two":           {`mkdir -p node_modules/.bin; echo x > node_modules/.bin/x`, `mv node_modules/.bin/x node_modules/.bin/mcp-x`},
		"with a version":            {`mkdir -p node_modules/.bin/@sc; echo x > node_modules/.bin/@sc/y@latest`},
		"package":                   {`mkdir -p node_modules/@sc/y; echo '{}' > node_modules/@sc/y/package.json`},
		"other directory":           {`mkdir -p node_modules/foo; echo '{"name": "mcp-x"}' > node_modules/foo/package.json`},
		"deeper":                    {`mkdir -p node_modules/@a/b/node_modules/mcp-x; echo '{"name": "mcp-x"}' > node_modules/@a/b/node_modules/mcp-x/package.json`},
		"written otherwise":         {`mkdir -p node_modules/foo; echo '{"name": "m\u0063p-x", "Name": "a"}' > node_modules/foo/package.json`},
		"in place":                  {`echo '{"name": "mcp-x"}' > node_modules/old/package.json`},
		"by a link":                 {`ln -s ../src node_modules/foo; echo '{"name": "mcp-x"}' > src/package.json`},
		"npm's list":                {`echo '{"packages": {"node_modules/old": {"name": "mcp-x"}}}' > node_modules/.package-lock.json`},
		"its other field":           {`mkdir -p node_modules/foo; echo '{"packageName": "mcp-x"}' > node_modules/foo/package.json`},
		"too long":                  {`mkdir -p node_modules/foo; { printf '{"name": "mcp-x", "x": "'; ` + long + `; } > node_modules/foo/package.json`},
		"project, too long":         {`{ printf '{"name": "mcp-x", "x": "'; ` + long + `; } > package.json`},
		"longer than is judged":     {`{ printf '{"x": "'; head -c 5000000 /dev/zero | tr '\0' a; printf '", "name": "mcp-x"}'; } > package.json`},
		"a part":                    {`mkdir -p packages/a; echo '{"name": "mcp-x"}' > packages/a/package.json; echo '{"name": "p", "workspaces": ["packages/*"]}' > package.json`},
		"a part by a link":          {`mkdir -p e packages; echo '{"name": "mcp-x"}' > e/package.json; ln -s ../e packages/a; echo '{"workspaces": {"packages": ["./packages/{a,b}"]}}' > package.json`},
		"a deep part":               {`mkdir -p a1/b/c; echo '{"name": "mcp-x"}' > a1/b/c/package.json; echo '{"workspaces": ["!!a1/**"]}' > package.json`},
		"a part that was there":     {`echo '{"workspaces": ["mine"]}' > package.json`},
		"list of folders":           {`mkdir node_modules/mcp-x; echo '{"packages": {"node_modules/mcp-x": {"bin": {"z": "i.js"}}}}' > node_modules/.package-lock.json`},
		"list of links":             {`ln -s ../src node_modules/zz; echo '{"packages": {"node_modules/zz": {"resolved": "lib/mcp-x", "link": true}, "lib/mcp-x": {"version": "1.0.0"}}}' > node_modules/.package-lock.json`},
		"link of modules":           {`rm -r node_modules; mkdir -p nm/q; echo '{"name": "mcp-x"}' > nm/q/package.json; ln -s nm node_modules`},
		"link of modules, in two":   {`mkdir -p nm/mcp-x; echo '{}' > nm/mcp-x/package.json`, `rm -r node_modules; ln -s nm node_modules`},
		"link of a scope":           {`mkdir -p sc/q; echo '{"name": "mcp-x"}' > sc/q/package.json; ln -s ../sc node_modules/@s`},
		"around a link":             {`mkdir -p st/a nm/q; echo '{"name": "a", "dependencies": {"q": "*"}}' > st/a/package.json; echo '{"name": "mcp-x"}' > nm/q/package.json; ln -s ../nm st/node_modules; ln -s ../st/a node_modules/a`},
		"the project":               {`echo '{"name": "mcp-x"}' > package.json`},
		"its programs":              {`echo '{"name": "a", "bin": {"mcp-x": "e.js"}}' > package.json`},
		"directory of them":         {`mkdir tl; echo x > tl/mcp-x; echo '{"name": "a", "directories": {"bin": "tl"}}' > package.json`},
		"before node":               {`mkdir -p node_modules/.bin; echo x > node_modules/.bin/node`},
		"before a shell":            {`mkdir -p node_modules/.bin; cp /bin/true node_modules/.bin/sh`},
		"linked modules":            {`rm -r node_modules; mkdir -p nm/.bin; ln -s nm node_modules; echo x > nm/.bin/mcp-x`},
		"linked programs":           {`mkdir stuff; echo x > stuff/mcp-x`, `ln -s ../stuff node_modules/.bin`},
		"module":                    {`echo x > mcp_z.py`},
		"compiled":                  {`echo x > mcp_z.cpython-312-x86_64-linux-gnu.so`},
		"a package of it":           {`mkdir mcp_z; echo x > mcp_z/__init__.py`},
		"a module by a rename":      {`mkdir q; echo x > q/__init__.py`, `mv q json`},
		"a module by a link":        {`mkdir q2; echo x > q2/__init__.py`, `ln -s q2 json`},
		"standard library":          {`echo x > argparse.py`},
		"a private module":          {`echo x > _json.py`},
		"of the future":             {`echo x > __future__.py`},
		"what is tried":             {`mkdir org; echo x > org/__init__.py`},
		"of the build":              {`echo x > _sysconfigdata__linux_x86_64-linux-gnu.py`},
		"in the place of another":   {evil, `rm -r node_modules/old; mv e node_modules/old`},
		"what was there":            {`rm -r node_modules/old; cp -r mine node_modules/old`},
		"its file":                  {evil, `mv e/package.json node_modules/old/package.json`},
		"what was there, by a link": {`ln -s ../mine node_modules/a`},
		"by a link that was":        {evil + `; ln -s ../src node_modules/a`, `mv src s; mv e src`},
		"by a link that was, alone": {`ln -s ../src node_modules/a`, `echo '{"name": "mcp-x"}' > src/package.json`},
		"by links to links":         {evil + `; mkdir f; ln -s f l; mkdir -p f/x e2; mv e e2/x; ln -s ../l/x node_modules/a`, `rm l; ln -s e2 l`, `mkdir -p f/x; ln -s f l; ln -s ../l/x node_modules/a`, `rm l; mkdir m; ln -s ../mine m/x; ln -s m l`},
		"its file by a link":        {`mkdir d; echo '{"name": "a"}' > d/p; ln -sf ../../d/p node_modules/old/package.json`, `echo '{"name": "mcp-x"}' > d/p`},
		"as a part":                 {evil, `echo '{"workspaces": ["e"]}' > package.json`},
		"in the place of a part":    {`mkdir p; echo '{"workspaces": ["p"]}' > package.json`, `rm -r p; mv mine p`},
		"in what nobody searches":   {`mkdir -p .git/x; echo '{"name": "mcp-x"}' > .git/x/package.json`, `ln -s ../.git/x node_modules/a`},
		"in PATH":                   {`cp /bin/true bin/ls`},
		"in PATH, made anew":        {`mkdir -p later/bin; cp /bin/true later/bin/ls`},
		"in PATH by a link":         {`cp /bin/true src/t`, `ln -s ../src/t bin/ls`},
		"a further name in PATH":    {`cp /bin/true src/t2`, `ln src/t2 bin/ls`},
		"a new bit":                 {`chmod +x bin/cat`},
		"not to be run, yet":        {`echo x > bin/ls`, `chmod +x bin/ls`},
		"what a link in PATH runs":  {`echo evil >> scripts/sed`, `cp /bin/true scripts/s; mv scripts/s scripts/sed`},
		"around what it runs":       {`cp -r scripts s2; echo evil >> s2/sed`, `rm -r scripts; ln -s s2 scripts`},
		"PATH led elsewhere":        {`mkdir o; cp /bin/true o/ls`, `rm -r bin; ln -s o bin`},
		"around PATH":               {`mkdir -p o2/bin; cp /bin/true o2/bin/ls`, `ln -s o2 later`},
		"moved into PATH":           {`mkdir -p o3/bin; cp /bin/true o3/bin/ls`, `mv o3 later`},
		"put first":                 {`cp /bin/true tools/ls`},
	}
}

// TestNameAttacks: in auto-edit and yolo, with nobody to answer, programs of the person find
// afterwards under the names that they mean what they found before.
func TestNameAttacks(t *testing.T) {
	all := nameAttacks()
	names := slices.Sorted(maps.Keys(all))
	for shard, mode := range []string{"auto-edit", "yolo"} { // which of them makes no difference here
		var a *App
		var dir, before string
		for i := shard; i < len(names); i += 2 {
			name, lines := names[i], all[names[i]]
			if a == nil || len(lines) > 1 { // the steps before the last may be harmless
				a, dir = namesProject(t, mode)
				openLayers(t, filepath.Join(filepath.Dir(dir), "state", "layers"))
				before = wouldRun(t, dir)
			}
			told := ""
			for _, line := range lines {
				out, said, err := lineOn(t, a, line)
				if err != nil {
					t.Errorf("%s, %s: %q did not run: %v", mode, name, line, err)
				}
				if told += said; len(lines) == 1 && out.ExitCode != 0 {
					t.Errorf("%s, %s: %q failed: %+v", mode, name, line, out)
				}
			}
			if now := wouldRun(t, dir); now != before {
				t.Errorf("%s, %s: programs would run\n%s\nbefore:\n%s\ntold %q", mode, name, now, before, told)
				a = nil
			}
			if !strings.HasPrefix(told, "Nothing that the command changed was applied: ") && !strings.HasPrefix(told, "These new files were not kept:") {
				t.Errorf("%s, %s: told %q", mode, name, told)
			}
			if len(lines) > 1 {
				a = nil
			}
		}
	}
}

// TestNamesOfWork: installing and building what has other names is applied unasked where the
// mode allows to write, and so is the work on what the project had before.
func TestNamesOfWork(t *testing.T) {
	a, dir := namesProject(t, "auto-edit")
	s := &asker{}
	a.Crib.Approver = s
	for _, line := range []string{
		`rm -r node_modules; for i in 1 2 3; do mkdir -p node_modules/p$i/bin node_modules/@s/p$i node_modules/.bin; echo "{\"name\": \"p$i\", \"bin\": {\"run$i\": \"bin/x\"}}" > node_modules/p$i/package.json; echo "{\"name\": \"@s/p$i\"}" > node_modules/@s/p$i/package.json; echo x > node_modules/p$i/bin/x; ln -s ../p$i/bin/x node_modules/.bin/run$i; done; echo '{"packages": {"node_modules/p1": {}, "node_modules/@s/p1": {}}}' > node_modules/.package-lock.json`,
		`mkdir -p node_modules/.pnpm/a@1/node_modules/a; ln -s .pnpm/a@1/node_modules/a node_modules/a; echo '{"name": "a"}' > node_modules/a/package.json`,
		`echo '{"name": "project", "version": "2.0.0", "workspaces": [], "dependencies": {"p1": "^1.0.0"}}' > package.json; echo '{"packages": {}}' > package-lock.json`,
		`python3 -m venv --without-pip .venv 2>/dev/null || mkdir -p .venv/bin; echo x > .venv/bin/pip; mkdir -p .venv/lib/json; echo x > .venv/lib/json/__init__.py`,
		`echo '{"name": "mcp-x", "version": "2.0.0"}' > mine/package.json; echo x > mine/index.js`,
		`mkdir -p out/json; echo x > out/json/__init__.py; echo x > main.py; echo x > bin/tool; chmod +x bin/tool; mkdir json; echo '{}' > json/a.json; ln -s src current`,
		`cp /bin/true bin/app; cp /bin/true src/ls; rm bin/cat`,
	} {
		if out, told, err := lineOn(t, a, line); err != nil || told != "" || out.ExitCode != 0 {
			t.Errorf("%q: %+v, %q, %v", line, out, told, err)
		}
	}
	for _, q := range s.seen {
		t.Errorf("asked %+v", q.Reasons)
	}
	if _, err := os.Stat(filepath.Join(dir, "bin", "app")); err != nil {
		t.Error(err)
	}
}
