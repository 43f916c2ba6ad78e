package policy

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/toolcrib/toolcrib"
)

// TestNamesByOtherTools: an edit counts with what comes of it, and a tool of somebody else may
// write anything.
func TestNamesByOtherTools(t *testing.T) {
	guards, root := namesDesk(t)
	written{"package.json", `{"name": "mcp-xy", "version": "1", "a": "1"}`}.put(t, root)
	for _, test := range []struct {
		input map[string]any
		want  toolcrib.Decision
	}{
		{map[string]any{"path": "package.json", "old_text": "xy", "new_text": "x"}, isAsk},
		{map[string]any{"path": "package.json", "old_text": `"1"`, "new_text": `"2"`, "occurrence": 2}, isAllow},
		{map[string]any{"path": "package.json", "old_text": `"1"`, "new_text": `"2", "bin": {"mcp-x": ""}`, "occurrence": 2}, isAsk},
		{map[string]any{"path": "package.json", "old_text": `"1"`, "new_text": `"2"`, "occurrence": 0}, isAllow},
		{map[string]any{"path": "package.json", "old_text": "not there", "new_text": ""}, isAsk},
	} {
		if e := verdictOf(t, guards, fileTool("edit_file"), test.input); e.Decision != test.want {
			t.Errorf("%v is %s: %+v", test.input, e.Decision, e.By)
		}
	}
	written{"x/package.json", `{"name": "mc`}.put(t, root)
	if e := verdictOf(t, guards, fileTool("write_file"), map[string]any{"path": "x/package.json", "content": `p-x"}`, "append": true}); e.Decision != isAsk {
		t.Errorf("what is added is %s", e.Decision)
	}
	stranger := toolcrib.Entry{Spec: toolcrib.Spec{Name: "copy", Effects: reads | writes}, Native: "copy_file", Box: "fsserver"}
	for path, want := range map[string]toolcrib.Decision{"package.json": isAsk, "node_modules/.bin/mcp-x": isAsk, "json.py": isAsk, "bin/git": isAsk, "a.json": isAllow} {
		if e := verdictOf(t, guards, stranger, map[string]string{"source": "a", "destination": path}); e.Decision != want {
			t.Errorf("%s by another tool is %s: %+v", path, e.Decision, e.By)
		}
	}
}

// TestNamesAllowed: who names a place in grant.unprotected is not asked about it.
func TestNamesAllowed(t *testing.T) {
	guards, _ := namesDesk(t, "bin/git", "package.json")
	for file, want := range map[string]toolcrib.Decision{"bin/git": isAllow, "package.json": isAllow, "bin/ls": isAsk} {
		if e := judgeWritten(t, guards, written{file, `{"name": "mcp-x"}`}); e.Decision != want {
			t.Errorf("%s is %s: %+v", file, e.Decision, e.By)
		}
	}
}

// TestNamesByRedirection: what a command line writes to a file is not known before it runs.
func TestNamesByRedirection(t *testing.T) {
	guards, root := namesDesk(t)
	p := guards[0].(*Policy)
	for file, want := range map[string]bool{"src/a": true, "package.json": false, "node_modules/a/package.json": false, "json.py": false, "bin/git": false, "node_modules/.bin/x": true} {
		if err := p.Writes(toolcrib.Call{}, filepath.Join(root, file)); (err == nil) != want {
			t.Errorf("%s: %v", file, err)
		}
	}
}

// FuzzNames: whatever is written wherever, by a link or not, it is judged, and a package of a
// name that npx looks for is asked about.
func FuzzNames(f *testing.F) {
	for _, s := range [][2]string{{"node_modules/a/package.json", `{"name": "mcp-x"}`}, {"package.json", `{"workspaces": ["../**"]}`}, {"node_modules/@s", "../../.."}, {".bin/.bin/sh", ""}, {"json/__init__.", "x"}, {"bin/..//./git", "//"}} {
		f.Add(s[0], s[1], false)
		f.Add(s[0], s[1], true)
	}
	guards, root := namesDesk(f)
	putFile(f, filepath.Join(root, "src", "a"), "a", 0o644)
	f.Fuzz(func(t *testing.T, file, text string, link bool) {
		input, err := json.Marshal(map[string]string{"path": file, "content": text})
		if err != nil {
			t.Fatal(err)
		}
		r := toolcrib.Review{Spec: fileTool("write_file"), Input: input}
		if link {
			r.Change = &toolcrib.Change{Path: filepath.Join(root, file), After: aLink(t)}
		}
		e := explain(guards, r)
		var manifest map[string]any
		if filepath.Base(file) == "package.json" && json.Unmarshal([]byte(text), &manifest) == nil && manifest["name"] == "mcp-x" && e.Decision == isAllow {
			t.Errorf("%q with %q is allowed", file, text)
		}
	})
}
