package policy

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/gitconfig"
	"github.com/toolcrib/toolcrib/internal/linked"
	"github.com/toolcrib/toolcrib/internal/named"
	"github.com/toolcrib/toolcrib/internal/sensitive"
)

// namesDesk is a policy over a project in which servers of the person are started by npx and
// python -m, with programs of the machine and directories of the project in PATH.
func namesDesk(t testing.TB, granted ...string) (guards []toolcrib.Guard, root string) {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	machine, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"git", "ls", "ssh", "sed", "pager", "git-credential-x", "sh", "claude", "env"} {
		putFile(t, filepath.Join(machine, name), "#!/bin/sh\n", 0o755)
	}
	set, err := sensitive.NewObeyedSet(granted...)
	if err != nil {
		t.Fatal(err)
	}
	rules, err := NewRules(nil, RuleOptions{Own: []string{"files"}, Base: root, Resolve: RealPath, Conditions: &Conditions{}})
	if err != nil {
		t.Fatal(err)
	}
	list := func(dirs ...string) func() []string { return func() []string { return dirs } }
	return []toolcrib.Guard{&Policy{Rules: rules, Mode: inMode(ModeAutoEdit), Obeyed: &Obeyed{
		Set: set, Roots: []string{root}, Base: root, Resolve: RealPath, List: linked.Read, Git: gitconfig.Source{Read: os.ReadFile},
		Names: Names{
			Taken: func() named.Taken {
				all := named.TakenBy("server x", "npx", []string{"-y", "mcp-x"}, nil)
				all.Add(named.TakenBy("server y", "npx", []string{"@sc/y@latest"}, nil))
				all.Add(named.TakenBy("server z", "python3", []string{"-m", "mcp_z"}, nil))
				all.Add(named.TakenBy("server p", "pipx", []string{"run", "p"}, nil))
				all.Dirs = []string{"servers/one", filepath.Join(root, "servers", "two")}
				return all
			},
			Path:   list(filepath.Join(root, ".venv", "bin"), filepath.Join(root, "bin"), filepath.Join(root, "later", "bin"), machine),
			First:  list(filepath.Join(root, "tools")),
			Writes: func(dir string) bool { return linked.Within(dir, root) },
		},
	}}}, root
}

func putFile(t testing.TB, file, text string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

// written is a file that is written, "path" or "path -> target" for a link, with its content.
type written struct{ file, text string }

func (w written) link() (file, to string, ok bool) { return strings.Cut(w.file, " -> ") }

// put makes what was written.
func (w written) put(t *testing.T, root string) {
	t.Helper()
	file, to, isLink := w.link()
	file = filepath.Join(root, file)
	if !isLink {
		putFile(t, file, w.text, 0o755)
		return
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(to, file); err != nil {
		t.Fatal(err)
	}
}

// judgeWritten judges one change as that of a command or, if it is no link, of write_file.
func judgeWritten(t *testing.T, guards []toolcrib.Guard, w written) Explanation {
	t.Helper()
	file, to, isLink := w.link()
	if !isLink {
		return verdictOf(t, guards, fileTool("write_file"), map[string]string{"path": file, "content": w.text})
	}
	input := `{"path":"` + file + `","content":"` + to + `"}`
	return explain(guards, toolcrib.Review{Spec: fileTool("write_file"), Input: []byte(input), Change: &toolcrib.Change{Path: file, After: aLink(t)}})
}

// aLink is what is known of a symbolic link.
func aLink(t *testing.T) fs.FileInfo {
	t.Helper()
	name := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink("to", name); err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(name)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

// TestNamesAreAsked: of each way to put something where a program of the person's own
// takes it by its name, at least one change is asked about, whatever the order.
func TestNamesAreAsked(t *testing.T) {
	long := strings.Repeat("a", 1_100_000)
	evil := `{"name": "mcp-x"}`
	for name, test := range map[string]struct{ live, set []written }{
		"program":             {set: []written{{"node_modules/.bin/mcp-x", "x"}}},
		"with a version":      {set: []written{{"node_modules/.bin/@sc/y@latest", "x"}}},
		"program by a link":   {set: []written{{"node_modules/.bin/mcp-x -> ../../src/a", ""}}},
		"package":             {set: []written{{"node_modules/@sc/y/package.json", "{}"}}},
		"code of a package":   {set: []written{{"node_modules/mcp-x/index.js", "x"}}},
		"package as a link":   {set: []written{{"node_modules/mcp-x -> ../src", ""}}},
		"a scope as a link":   {set: []written{{"src/y/package.json", "{}"}, {"node_modules/@sc -> ../src", ""}}},
		"other directory":     {set: []written{{"node_modules/foo/package.json", evil}}},
		"deeper":              {set: []written{{"node_modules/@a/b/node_modules/mcp-x/package.json", "{}"}}},
		"written otherwise":   {set: []written{{"node_modules/foo/package.json", `{"name": "m\u0063p-x", "Name": "a"}`}}},
		"with a mark":         {set: []written{{"node_modules/foo/package.json", "\ufeff" + evil}}},
		"with spaces":         {set: []written{{"node_modules/foo/package.json", `{"name": " mcp-x\t"}`}}},
		"broken":              {set: []written{{"node_modules/foo/package.json", `{"name": "mcp-x",}`}}},
		"in place":            {live: []written{{"node_modules/old/package.json", `{"name": "old"}`}}, set: []written{{"node_modules/old/package.json", evil}}},
		"another case":        {set: []written{{"Node_Modules/foo/Package.JSON", evil}}},
		"by a link":           {set: []written{{"node_modules/foo -> ../src", ""}, {"src/package.json", evil}}},
		"npm's list":          {set: []written{{"node_modules/.package-lock.json", `{"packages": {"node_modules/old": {"name": "mcp-x"}}}`}}},
		"its other field":     {set: []written{{"node_modules/foo/package.json", `{"packageName": "mcp-x"}`}}},
		"too long":            {set: []written{{"node_modules/foo/package.json", `{"name": "mcp-x", "x": "` + long + `"}`}}},
		"project, too long":   {set: []written{{"package.json", `{"x": "` + long + `", "name": "mcp-x"}`}}},
		"a part":              {set: []written{{"packages/a/package.json", evil}, {"package.json", `{"name": "p", "workspaces": ["packages/*"]}`}}},
		"a part by a link":    {set: []written{{"e/package.json", evil}, {"packages/a -> ../e", ""}, {"package.json", `{"workspaces": {"packages": ["./packages/{a,b}"]}}`}}},
		"list of folders":     {set: []written{{"node_modules/.package-lock.json", `{"packages": {"node_modules/mcp-x": {"bin": {"z": "i.js"}}}}`}}},
		"list of links":       {set: []written{{"node_modules/.package-lock.json", `{"packages": {"node_modules/zz": {"resolved": "lib/mcp-x", "link": true}, "lib/mcp-x": {"version": "1.0.0"}}}`}}},
		"list of a scope":     {set: []written{{"node_modules/.package-lock.json", `{"packages": {"node_modules/@sc//y": {}}}`}}},
		"unreadable list":     {set: []written{{"node_modules/.package-lock.json", `{"packages":`}}},
		"a list as a link":    {set: []written{{"node_modules/.package-lock.json -> ../src/list", ""}}},
		"link of modules":     {set: []written{{"nm/mcp-x/package.json", "{}"}, {"node_modules -> nm", ""}}},
		"link of programs":    {set: []written{{"nm/mcp-x", "x"}, {"node_modules/.bin -> ../nm", ""}}},
		"link of a scope":     {set: []written{{"sc/q/package.json", evil}, {"node_modules/@s -> ../sc", ""}}},
		"around a link":       {set: []written{{"st/a/package.json", `{"name": "a", "dependencies": {"q": "*"}}`}, {"nm/q/package.json", evil}, {"st/node_modules -> ../nm", ""}, {"node_modules/a -> ../st/a", ""}}},
		"the project":         {set: []written{{"package.json", evil}}},
		"its programs":        {set: []written{{"package.json", `{"name": "a", "bin": {"mcp-x": "e.js"}}`}}},
		"programs as a path":  {set: []written{{"package.json", `{"name": "a", "bin": {"x:mcp-x": "e.js"}}`}}},
		"programs as a list":  {set: []written{{"package.json", `{"name": "a", "bin": ["b\\mcp-x"]}`}}},
		"one program":         {set: []written{{"package.json", `{"name": "@a/mcp-x", "bin": "e.js"}`}}},
		"directory of them":   {set: []written{{"tl/mcp-x", "x"}, {"package.json", `{"name": "a", "directories": {"bin": "tl"}}`}}},
		"into a directory":    {live: []written{{"package.json", `{"directories": {"bin": "./tl"}}`}}, set: []written{{"tl/d/mcp-x", "x"}}},
		"a dependency":        {set: []written{{"package.json", `{"dependencies": {"mcp-x": "file:e"}}`}}},
		"before node":         {set: []written{{"node_modules/.bin/node", "x"}}},
		"before a program":    {set: []written{{"node_modules/.bin/jq", "x"}}},
		"in linked modules":   {live: []written{{"node_modules -> nm", ""}}, set: []written{{"nm/mcp-x/package.json", "{}"}}},
		"in linked programs":  {live: []written{{"node_modules/.bin -> ../nm", ""}}, set: []written{{"nm/mcp-x", "x"}}},
		"in a linked scope":   {live: []written{{"node_modules/@sc -> ../sc", ""}}, set: []written{{"sc/y/package.json", "{}"}}},
		"a linked manifest":   {live: []written{{"package.json -> p", ""}, {"p", "{}"}}, set: []written{{"p", evil}}},
		"its file by a link":  {set: []written{{"node_modules/old/package.json -> ../../d/p", ""}, {"d/p", evil}}},
		"to what was there":   {live: []written{{"mine/package.json", evil}}, set: []written{{"node_modules/a -> ../mine", ""}}},
		"over what is made":   {live: []written{{"mine/package.json", evil}}, set: []written{{"n/a", "a"}, {"node_modules/a -> ../n/../mine", ""}}},
		"to what is below":    {live: []written{{"my/mine/package.json", evil}}, set: []written{{"packages -> my", ""}}},
		"as a part":           {live: []written{{"e/package.json", evil}}, set: []written{{"package.json", `{"workspaces": ["e"]}`}}},
		"as a deep part":      {live: []written{{"a/b/c/package.json", evil}}, set: []written{{"package.json", `{"workspaces": ["!!a/**"]}`}}},
		"as a part elsewhere": {live: []written{{"e/package.json", evil}}, set: []written{{"sub/package.json", `{"workspaces": ["../e"]}`}}},
		"as a linked part":    {live: []written{{"p/a -> ../mine/x", ""}, {"mine/x/package.json", evil}}, set: []written{{"p/package.json", `{"workspaces": ["*"]}`}}},
		"module":              {set: []written{{"mcp_z.py", "x"}}},
		"compiled":            {set: []written{{"mcp_z.cpython-312-x86_64-linux-gnu.so", "x"}}},
		"a package of it":     {set: []written{{"mcp_z/__init__.py", "x"}}},
		"standard library":    {set: []written{{"argparse.py", "x"}}},
		"a private module":    {set: []written{{"_json.py", "x"}}},
		"of the future":       {set: []written{{"__future__.py", "x"}}},
		"a part of it in C":   {set: []written{{"_ssl.so", "x"}}},
		"what is tried":       {set: []written{{"org/__init__.py", "x"}}},
		"of the build":        {set: []written{{"_sysconfigdata__linux_x86_64-linux-gnu.py", "x"}}},
		"a seldom one":        {set: []written{{"cmd.py", "x"}}},
		"a module as a link":  {set: []written{{"json -> src", ""}}},
		"behind a link":       {live: []written{{"json -> lib", ""}, {"lib/x", ""}}, set: []written{{"lib/__init__.py", "x"}}},
		"in its own place":    {set: []written{{"servers/one/json.py", "x"}}},
		"in another place":    {set: []written{{"servers/two/mcp_z/__main__.py", "x"}}},
		"its place as a link": {set: []written{{"servers/two -> ../src", ""}}},
		"not to be read":      {live: []written{{"mine/package.json", strings.Repeat("x", 2<<20)}}, set: []written{{"node_modules/a -> ../mine", ""}}},
		"in a repository":     {live: []written{{"sub/.git/HEAD", "ref: refs/heads/main\n"}}, set: []written{{"sub/json.py", "x"}}},
		"an entry":            {set: []written{{"__pypackages__/3.12/x", "x"}}},
		"in PATH":             {set: []written{{".venv/bin/git", "x"}}},
		"in PATH, made anew":  {set: []written{{"later/bin/ssh", "x"}}},
		"in PATH by a link":   {set: []written{{"bin/ls -> ../src/a", ""}}},
		"changed in PATH":     {live: []written{{"bin/ls", "x"}}, set: []written{{"bin/ls", "y"}}},
		"a helper of git":     {set: []written{{"bin/git-credential-x", "x"}}},
		"put first":           {set: []written{{"tools/sed", "x"}}},
		"what a link runs":    {live: []written{{"bin/ls -> ../d/l", ""}, {"d/l -> ../s/x", ""}, {"s/x", "x"}}, set: []written{{"s/x", "y"}}},
		"a link on the way":   {live: []written{{"bin/ls -> ../d/l", ""}, {"d/l -> ../s/x", ""}, {"s/x", "x"}}, set: []written{{"d/l -> ../e", ""}}},
		"around what it runs": {live: []written{{"bin/ls -> ../d/l", ""}, {"d/l", "x"}}, set: []written{{"d -> e", ""}}},
		"a directory of PATH": {set: []written{{"e/ls", "x"}, {"bin -> e", ""}}},
		"around one of PATH":  {set: []written{{"e/bin/ssh", "x"}, {"later -> e", ""}}},
		"before a shell":      {set: []written{{"node_modules/.bin/sh", "x"}}},
		"in other modules":    {set: []written{{"nm/.bin/sh", "x"}, {"node_modules -> nm", ""}}},
	} {
		t.Run(name, func(t *testing.T) {
			guards, root := namesDesk(t)
			for _, w := range append(test.live, written{"src/a", "a"}) {
				w.put(t, root)
			}
			asked := false
			for _, w := range test.set {
				e := judgeWritten(t, guards, w)
				asked = asked || e.Decision == isAsk && e.By[0].Guard == "obeyed"
			}
			if !asked {
				t.Error("nothing of it is asked about")
			}
		})
	}
}

// TestNamesOneByOne: also where each command has the ones before applied, and nobody answers,
// the last step of these is not reached: a change before it is asked about.
func TestNamesOneByOne(t *testing.T) {
	const evil = `{"name": "mcp-x"}`
	for name, steps := range map[string][]written{
		"the link first":       {{"node_modules/foo -> ../src", ""}, {"src/package.json", evil}},
		"the package first":    {{"e/package.json", evil}, {"node_modules/a -> ../e", ""}},
		"links to links":       {{"f/x/a", "a"}, {"l -> f", ""}, {"node_modules/a -> ../l/x", ""}, {"f/x/package.json", evil}},
		"its file by a link":   {{"d/p", `{"name": "a"}`}, {"node_modules/old/package.json -> ../../d/p", ""}, {"d/p", evil}},
		"modules by a link":    {{"nm/mcp-x/package.json", "{}"}, {"node_modules -> nm", ""}},
		"as a part":            {{"package.json", `{"workspaces": ["e"]}`}, {"e/package.json", evil}},
		"programs by patience": {{"tl/a", "a"}, {"package.json", `{"directories": {"bin": "tl"}}`}, {"tl/mcp-x", "x"}},
		"a module by patience": {{"json/a.json", "{}"}, {"json/__init__.py", "x"}},
		"a directory of PATH":  {{"e/ls", "x"}, {"bin -> e", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			guards, root := namesDesk(t)
			written{"src/a", "a"}.put(t, root)
			for i, w := range steps {
				if e := judgeWritten(t, guards, w); e.Decision == isAsk {
					return
				} else if i == len(steps)-1 {
					t.Errorf("nothing of it is asked about: %+v", e)
				}
				w.put(t, root)
			}
		})
	}
}

// TestNamesStay: what was there before is worked on, and the ordinary work of a project has
// other names.
func TestNamesStay(t *testing.T) {
	guards, root := namesDesk(t)
	for _, w := range []written{
		{"mcp_z/__init__.py", ""}, {"json.py", ""}, {"node_modules/mcp-x/package.json", `{"name": "mcp-x"}`}, {"node_modules/.bin/mcp-x", "x"}, {"node_modules/.bin/node", "x"},
		{"packages/own/package.json", `{"name": "mcp-x"}`}, {"package.json", `{"name": "p", "workspaces": ["packages/*"]}`}, {"node_modules/.package-lock.json", `{"packages": {"node_modules/mcp-x": {}}}`},
	} {
		w.put(t, root)
	}
	all := []written{
		{"mcp_z/__init__.py", "x"}, {"mcp_z/__main__.py", "x"}, {"mcp_z/a.py", "x"}, {"json.py", "x"}, {"node_modules/mcp-x/package.json", `{"name": "mcp-x", "version": "2"}`}, {"node_modules/mcp-x/index.js", "x"},
		{"node_modules/.bin/mcp-x", "y"}, {"node_modules/.bin/node", "y"}, {"node_modules/.bin/tsc -> ../typescript/bin/tsc", ""}, {"packages/own/package.json", `{"name": "mcp-x", "version": "2"}`},
		{"node_modules/.package-lock.json", `{"packages": {"node_modules/mcp-x": {}, "node_modules/other": {}}}`}, {"node_modules/other/package.json", `{"name": "other", "bin": {"y": "a"}}`},
		{"package.json", `{"name": "project", "bin": {"p": "p.js"}, "workspaces": ["packages/*"], "dependencies": {"mcp-x": "^1.0.0"}}`}, {"parser.py", "x"}, {"_version.py", "x"}, {"json/a.json", "x"}, {"test/__init__.py", "x"}, {"src/argparse.py", "x"}, {"src/json/__init__.py", "x"},
		{".venv/bin/python -> /usr/bin/python3", ""}, {".venv/bin/pip", "x"}, {".venv/bin/curl", "x"}, {"src/git", "x"}, {"bin/tool", "x"}, {"bin/git-cz", "x"}, {"node_modules/.bin/claude-x", "x"}, {"node_modules/a/node_modules/.bin/sh", "x"},
		{".venv/lib64 -> lib", ""}, {"node_modules/foo -> .pnpm/foo@1/node_modules/foo", ""}, {"docs/current -> ../src", ""}, {"node_modules/.pnpm/a@1/node_modules/b -> ../../b@1/node_modules/b", ""}, {"env/pyvenv.cfg", "x"}, {"package-lock.json", `{"packages": {"node_modules/mcp-x": {}}}`},
	}
	for _, w := range all {
		if e := judgeWritten(t, guards, w); e.Decision != isAllow {
			t.Errorf("%s is %s: %+v", w.file, e.Decision, e.By)
		}
	}
	for _, path := range []string{"mcp_z.py", "node_modules/mcp-x/package.json", "bin/git", "package.json"} {
		if e := verdictOf(t, guards, fileTool("delete_file"), map[string]string{"path": path}); slices.ContainsFunc(e.By, func(v toolcrib.Verdict) bool { return v.Guard == "obeyed" }) {
			t.Errorf("deleting %s is asked about: %+v", path, e.By)
		}
	}
}
