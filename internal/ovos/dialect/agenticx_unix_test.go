//go:build unix

package dialect

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
	"github.com/toolcrib/toolcrib/toolbox/files"
)

func TestAgenticXTools(t *testing.T) {
	root := newTree(t)
	put(t, root+"/a.txt", "one\ntwo\nthree\n")
	put(t, root+"/twice", "x\ny\nx\n")
	put(t, root+"/dir/b", "\x00")
	put(t, root+"/.env", "")
	if err := os.Mkdir(root+"/none", 0o755); err != nil {
		t.Fatal(err)
	}
	r := newRoom(t, setup{root: root, write: true, sandbox: plain{}})
	type args map[string]any
	for _, tt := range []struct {
		tool string
		in   args
		want string // the beginning, if it ends in …
	}{
		{"bash_exec", args{"command": "echo out; echo err >&2; exit 3"}, "exit_code=3\nstdout:\nout\nstderr:\nerr"},
		{"bash_exec", args{"command": "pwd", "cwd": "dir"}, "exit_code=0\nstdout:\n" + root + "/dir\nstderr:\n(empty)"},
		{"bash_exec", args{"command": "echo early; sleep 30", "timeout_sec": -7}, "ERROR: command timeout after 1s\nstdout:\nearly\nstderr:\n(empty)"},
		{"bash_exec", args{"command": " "}, "ERROR: command is empty"},
		{"bash_exec", args{"command": "ls", "cwd": "/etc"}, "ERROR: path escapes workspace: /etc"},
		{"bash_exec", args{"command": "ls", "cwd": "gone"}, "ERROR: no such file or directory…"},
		{"file_read", args{"path": "a.txt"}, "one\ntwo\nthree\n"},
		{"file_read", args{"path": "a.txt", "start_line": 2}, "2|two\n3|three"},
		{"file_read", args{"path": "a.txt", "end_line": "2", "junk": 1}, "1|one\n2|two"},
		{"file_read", args{"path": "a.txt", "start_line": 0, "end_line": 1}, "1|one"},
		{"file_read", args{"path": "a.txt", "start_line": 3, "end_line": 1}, "ERROR: end_line 1 is before start_line 3"},
		{"file_read", args{"path": "dir/b"}, "(this is a binary file…"},
		{"file_read", args{"path": "gone"}, `ERROR: no such file or directory…`},
		{"file_read", args{"path": "../x"}, "ERROR: path escapes workspace: ../x"},
		{"file_read", args{"path": ".env"}, "ERROR: path is protected: .env"},
		{"file_write", args{"path": "new/f", "content": "call_123\r\n"}, "OK: wrote " + root + "/new/f"},
		{"file_write", args{"path": "dir", "content": ""}, "ERROR: it is a directory…"},
		{"file_write", args{"path": "a.txt"}, "refused: Parameter validation failed: …"},
		{"file_edit", args{"path": "a.txt", "old_text": "two", "new_text": "2"}, "OK: edited " + root + "/a.txt"},
		{"file_edit", args{"path": "a.txt", "old_text": "two", "new_text": "2"}, "ERROR: old_text not found in file…"},
		{"file_edit", args{"path": "a.txt", "old_text": "", "new_text": "2"}, "ERROR: old_text cannot be empty"},
		{"file_edit", args{"path": "twice", "old_text": "x", "new_text": "z"}, "ERROR: old_text is in the file 2 times, in lines 1, 3…"},
		{"file_edit", args{"path": "twice", "old_text": "x", "new_text": "z", "occurrence": 3}, "ERROR: occurrence 3 not found…"},
		{"file_edit", args{"path": "twice", "old_text": "x", "new_text": "z", "occurrence": 2}, "OK: edited " + root + "/twice"},
		{"list_files", args{}, "root: " + root + "\na.txt\ndir/\nnew/\nnone/\ntwice"},
		{"list_files", args{"recursive": true, "path": "dir"}, "root: " + root + "/dir\nb"},
		{"list_files", args{"path": "none"}, "root: " + root + "/none\n(empty directory)"},
		{"list_files", args{"limit": 2}, "root: " + root + "\na.txt\ndir/\n... (truncated, more than 2 entries)"},
		{"list_files", args{"limit": 3000}, "refused: Parameter validation failed: …"},
		{"list_files", args{"path": ".."}, "ERROR: path escapes workspace: .."},
	} {
		got := r.say(t, AgenticX, tt.tool, tt.in)
		begin, open := strings.CutSuffix(tt.want, "…")
		if got != tt.want && !(open && strings.HasPrefix(got, begin)) {
			t.Errorf("%s %v: %q, want %q", tt.tool, tt.in, got, tt.want)
		}
	}
	for file, want := range map[string]string{"new/f": "call_123\r\n", "twice": "x\ny\nz\n", "a.txt": "one\n2\nthree\n"} {
		if text, err := os.ReadFile(root + "/" + file); string(text) != want {
			t.Errorf("%s: %q, %v", file, text, err)
		}
	}
}

func TestAgenticXReadsTellWhatIsMissing(t *testing.T) {
	root := newTree(t)
	put(t, root+"/long", "one\ntwo\nthree\n")
	put(t, root+"/image", "\x89PNG\r\n\x1a\n")
	r := newRoom(t, setup{root: root, files: files.Config{MaxRead: 8}})
	if got := r.say(t, AgenticX, "file_read", fileRead{Path: "long"}); got != "one\ntwo\n... (truncated, lines 1 to 2 of 3; go on with start_line 3)" {
		t.Errorf("%q", got)
	}
	result, refusal := r.call(t, AgenticX, "file_read", mustJSON(fileRead{Path: "image"}))
	if result == nil || len(result.Content) != 2 || result.Content[1].Type != "image" {
		t.Errorf("%+v, %s", result, refusal)
	}
	if got := r.say(t, AgenticX, "file_write", ovosWrite{"long", ""}); got != "ERROR: path is read-only (mounted as reference): long" {
		t.Error(got)
	}
}

// A failed native tool is a failed result here too, whatever its text.
func TestAgenticXFailuresAreMarked(t *testing.T) {
	r := newRoom(t, setup{root: newTree(t)})
	for path, failed := range map[string]bool{"gone": true, "..": true, ".": false} {
		result, refusal := r.call(t, AgenticX, "list_files", mustJSON(listFiles{path, false, 10}))
		if result == nil || result.Failed != failed || result.Value != nil {
			t.Errorf("%s: %+v, %s", path, result, refusal)
		}
	}
}

func TestAgenticXTellsAPersonsNoApart(t *testing.T) {
	root := newTree(t)
	r := newRoom(t, setup{root: root, write: true, guards: []toolcrib.Guard{cribtest.Ask("it writes")}})
	write := ovosWrite{"a", ""}
	if got := r.say(t, AgenticX, "file_write", write); !strings.HasPrefix(got, "refused: Tool file_write execution failed: a person has to approve this, and nobody is there") {
		t.Error(got)
	}
	r.Approver = &cribtest.Person{Script: []cribtest.Reply{{Answer: toolcrib.Answer{Message: "not there"}}}}
	if got := r.say(t, AgenticX, "file_write", write); got != "CANCELLED: user denied file_write: not there" {
		t.Error(got)
	}
}

func TestAgenticXContracts(t *testing.T) {
	names := map[string]string{}
	for _, a := range Adapters(Options{}) {
		if a.Dialect != AgenticX {
			continue
		}
		names[a.Name] = a.Box + "/" + a.Native
		var s struct {
			Properties map[string]struct{ Type, Description string }
			Required   []string
		}
		if err := json.Unmarshal(a.Input, &s); err != nil {
			t.Fatal(err)
		}
		for name, p := range s.Properties {
			if p.Type == "" || p.Description == "" {
				t.Errorf("%s.%s has no type or no description", a.Name, name)
			}
		}
		for _, name := range s.Required {
			if _, ok := s.Properties[name]; !ok {
				t.Errorf("%s requires %s, which it does not have", a.Name, name)
			}
		}
	}
	for name, native := range map[string]string{
		"bash_exec": "shell/run_command", "file_read": "files/read_file", "file_write": "files/write_file", "file_edit": "files/edit_file", "list_files": "files/list_files",
		"todo_write": "session_notes/todo_write", "scratchpad_write": "session_notes/scratchpad_write", "scratchpad_read": "session_notes/scratchpad_read",
		"memory_append": "agent_memory/memory_append", "memory_search": "agent_memory/memory_search", "skill_use": "skill/use_skill", "skill_list": "skill/list_skills",
	} {
		if names[name] != native {
			t.Errorf("%s stands for %q", name, names[name])
		}
	}
}
