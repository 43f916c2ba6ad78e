package named_test

import (
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolcrib/toolcrib/internal/named"
)

func npxTaken() named.Taken {
	t := named.TakenBy("x", "npx", []string{"mcp-x"}, nil)
	t.Add(named.TakenBy("y", "npx", []string{"@sc/y"}, nil))
	return t
}

// TestClaims: a package claims the names of its own and of its programs, however they are
// written, and a list those that it gives to packages.
func TestClaims(t *testing.T) {
	for text, want := range map[string]string{
		`{"name": "mcp-x"}`: "mcp-x", `{"name": "mcp-xy", "bin": {"z": "mcp-x"}}`: "", `{"bin": {"y": "a", "b\\mcp-x": "c"}}`: "mcp-x y", `{"bin": ["q/mcp-x"]}`: "mcp-x", `{"name": "@q/y", "bin": "a"}`: "y",
		`{"packageName": "@sc\/y"}`: "@sc/y", `{"name": "\u0040sc/y"}`: "@sc/y", `{"dependencies": {"mcp-x": "^1.0.0"}}`: "", `{"devDependencies": {"mcp-x": "npm:evil@1"}}`: "mcp-x", `{"optionalDependencies": {"@sc/y": "./e"}}`: "@sc/y",
		`{"scripts": {"a": "npx mcp-x"}}`: "", `{"name": "mcp-x"`: "mcp-x", `{"name": "\u006d`: "@sc/y mcp-x y", `{"name": "a", "name": "mcp-x"}`: "mcp-x", "": "", "null": "", `{"files": ["mcp-x"]}`: "",
	} {
		if got := strings.Join(slices.Sorted(maps.Keys(npxTaken().Claims([]byte(text)))), " "); got != want {
			t.Errorf("%s claims %q", text, got)
		}
	}
	for text, want := range map[string]string{
		`{"packages": {"node_modules/mcp-x": {}}}`: "mcp-x", `{"packages": {"a/@sc/./y": {}}}`: "@sc/y", `{"packages": {"node_modules/q": {"name": "mcp-x "}}}`: "mcp-x", `{"packages": {"node_modules/mcp-x": {"name": "q"}}}`: "",
		`{"packages": {}}`: "", "": "", `{"packages": []}`: "@sc/y mcp-x", `{"packages"`: "@sc/y mcp-x", `"mcp-x": 1}`: "mcp-x", `"mcp-z": 1}`: "", `{"packages": {"node_modules/mcp-y": {}}}`: "",
	} {
		got := npxTaken()
		got.Bins = nil
		if got := strings.Join(slices.Sorted(maps.Keys(got.Locked([]byte(text)))), " "); got != want {
			t.Errorf("the list %s gives %q", text, got)
		}
	}
	for text, want := range map[string][]string{
		`{"workspaces": ["a/*", "!b", 1]}`: {"a/*", "b"}, `{"workspaces": {"packages": [".."]}}`: {".."}, `{"workspaces": "a"}`: nil, `{`: {"**"}, "": nil,
	} {
		if diff := cmp.Diff(want, named.PartsOf([]byte(text))); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
	for text, want := range map[string]string{`{"directories": {"bin": "./tl/"}}`: "tl", `{"directories": {"bin": "..\\..:x"}}`: "x", `{"directories": {"lib": "x"}}`: "", `{"directories": {"bin": "/"}}`: ".", `{`: ""} {
		if got := named.ProgramDir([]byte(text)); got != want {
			t.Errorf("%s: %q", text, got)
		}
	}
}

// TestModules: files and directories that Python would import.
func TestModules(t *testing.T) {
	taken := named.TakenBy("x", "python", []string{"-m", "mcp_z"}, nil)
	for name, want := range map[string][2]bool{
		"mcp_z.py": {true, true}, "mcp_z": {true, false}, "json.cpython-312-x86_64-linux-gnu.so": {true, true}, "json.json": {false, true}, "src": {false, false}, "_sysconfigdata_x.py": {true, true}, ".py": {false, true}, "a.json.py": {false, true},
	} {
		if by, file := taken.Module(name); (by != "") != want[0] || file != want[1] {
			t.Errorf("%s: %q, %v", name, by, file)
		}
	}
	if by, _ := (named.Taken{}).Module("json.py"); by != "" {
		t.Error("nobody imports anything")
	}
}

// FuzzClaims: whatever a package or npm's list says, it is read, a name that is claimed is
// one that was asked for, and nothing leads out of the package.
func FuzzClaims(f *testing.F) {
	for _, text := range []string{
		`{"name": "mcp-x", "bin": {"z": "a"}, "workspaces": ["a/**", "!b"]}`, `{"bin": ["a/mcp-x"], "directories": {"bin": ".."}}`, `{"name": " mcp-x", "bin": "x", "workspaces": {"packages": [".."]}}`,
		`{"packages": {"node_modules/@a/b": {}, "../..": {"name": "mcp-x"}}}`, `{"packages": []}`, "{", "null", `"mcp-x"`, `{"dependencies": {"mcp-x": "file:"}}`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		taken := npxTaken()
		for _, claims := range []map[string]string{taken.Claims([]byte(text)), taken.Locked([]byte(text))} {
			for name, by := range claims {
				if by == "" || taken.Packages[name] != by && taken.Bins[name] != by {
					t.Errorf("%q by %q", name, by)
				}
			}
		}
		if dir := named.ProgramDir([]byte(text)); dir != "" && (path.IsAbs(dir) || dir == ".." || strings.HasPrefix(dir, "../")) {
			t.Errorf("%q", dir)
		}
		for _, pattern := range named.PartsOf([]byte(text)) {
			if pattern == "" {
				t.Error("an empty pattern")
			}
		}
	})
}

// TestCommands: names of programs are whole words of the list.
func TestCommands(t *testing.T) {
	for name, want := range map[string]bool{"git": true, "GIT": true, "git-lfs": true, "gi": false, "git-l": false, "lfs": false, "sh": true, "opencode": true, "": false, "git git-lfs": false, "git-remote-x": true, "git-cz": false, "env": true, "ss": true} {
		if named.IsCommand(name) != want {
			t.Errorf("%q", name)
		}
	}
	for _, name := range named.Imported() {
		if by, _ := (named.Taken{Python: "x"}).Module(name); by != "x" {
			t.Errorf("%q is not imported", name)
		}
	}
	if !named.IsPackaged("jq") || named.IsPackaged("git") || !named.IsRunner("node") || named.IsRunner("npm") {
		t.Error("what npm brings along, or npx starts")
	}
}
