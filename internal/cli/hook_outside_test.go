package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// TestSandboxRulesDoNotAllowClientCommands: a rule about a command is about the one that
// runs in our sandbox. In the client's own shell nothing bounds it, so the client asks.
func TestSandboxRulesDoNotAllowClientCommands(t *testing.T) {
	t.Parallel()
	lines := []struct{ line, want string }{
		{"curl https://example.org", "ask"},
		{"python3 script.py", "ask"},
		{"make", "ask"},
		{"make | tail -n 3", "ask"},
		{"go test ./...", "ask"},
		{"git commit -m x", "ask"},
		{"cat ok/a.txt && make", "ask"},
		{"cat .env", "ask"},
		{"grep -r KEY .", "ask"},
		{"git push origin main", "no"},
		{"cat ok/a.txt", "pass"},
		{"ls ok", "pass"},
	}
	for name, c := range map[string]struct {
		settings string
		but      map[string]string // what these settings answer otherwise
	}{
		"rules":            {`permissions: {allow: ["run_command(curl *)", "run_command(python3 script.py)", "run_command(make *)", "run_command(go test *)", "run_command(git commit *)", "run_command(cat *)", "run_command(grep *)"], deny: ["run_command(git push *)"]}`, map[string]string{"cat ok/a.txt": "allow"}},
		"every command":    {`permissions: {allow: [run_command], deny: ["run_command(git push *)"]}`, nil},
		"allowed_commands": {`toolboxes: {shell: {allow_shell: true, allowed_commands: [curl, python3 script.py, make, go test, git commit, cat, grep]}}` + "\n" + `permissions: {deny: ["run_command(git push *)"]}`, map[string]string{"cat ok/a.txt": "allow"}},
		"nobody is asked": {`toolboxes: {shell: {allow_shell: true, ask: false, allowed_commands: [curl, python3 script.py, make, go test, git commit, cat, grep]}}` + "\n" + `permissions: {deny: ["run_command(git push *)"]}`,
			map[string]string{"cat ok/a.txt": "allow", "ls ok": "no", "make | tail -n 3": "no", "cat .env": "no"}},
	} {
		s := newHookSite(t, c.settings+"\n")
		for _, l := range lines {
			want := l.want
			if other, ok := c.but[l.line]; ok {
				want = other
			}
			if got := s.word("claude-code", "PreToolUse", "Bash", fmt.Sprintf(`{"command":%q}`, l.line)); got != want && !(want == "no" && strings.HasPrefix(got, "no: ")) {
				t.Errorf("%s: %s: %s, want %s", name, l.line, got, want)
			}
		}
	}
	// The mode yolo asks about nothing, and says nothing in the client's place either.
	s := newHookSite(t, "mode: yolo\n")
	for line, want := range map[string]string{"make": "pass", "cat ok/a.txt": "pass", "rm -rf /": "ask"} {
		if got := s.word("claude-code", "PreToolUse", "Bash", fmt.Sprintf(`{"command":%q}`, line)); got != want {
			t.Errorf("yolo: %s: %s, want %s", line, got, want)
		}
	}
}

// TestSandboxAnswersDoNotAllowClientCommands: an answer that was given for good about a
// command in our sandbox is none about the same line in the client's own shell.
func TestSandboxAnswersDoNotAllowClientCommands(t *testing.T) {
	t.Parallel()
	s := newHookSite(t, "toolboxes: {shell: {allow_shell: true}}\n")
	s.mode = "bypassPermissions" // the client does not ask, so the desk is asked
	input := fmt.Sprintf(`{"command":"touch made","working_dir":%q}`, s.dir)
	// Our own tool in the same directory, with the very arguments that the hook judges.
	_, said, _ := s.hookless("call", "run_command", "--json", input)
	id := regexp.MustCompile(`toolcrib approvals allow (q-\w+)`).FindStringSubmatch(said)
	if id == nil {
		if runtime.GOOS != "linux" { // there may be no sandbox, and then nobody is asked
			t.Skip(said)
		}
		t.Fatal(said)
	}
	if out, errs, status := s.hookless("approvals", "allow", id[1], "--always"); status != 0 {
		t.Fatal(out, errs)
	}
	if _, errs, status := s.hookless("call", "run_command", "--json", input); status != 0 {
		t.Fatal("the answer does not count for our own tool: ", errs)
	}
	if err := os.Remove(filepath.Join(s.dir, "made")); err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	if got := s.word("claude-code", "PreToolUse", "Bash", `{"command":"touch made"}`); !strings.HasPrefix(got, "no: ") {
		t.Errorf("the client runs it by an answer about the sandbox: %s", got)
	}
}

// TestNamesakesAreJudged: only a tool that our own server has is left to it, by its exact
// name. Whatever else is named like one of ours is a tool of another server.
func TestNamesakesAreJudged(t *testing.T) {
	t.Parallel()
	s := newHookSite(t, "permissions: {deny: [mcp__toolcrib__evil__wipe]}\n")
	check := func(why string, words map[string]string) {
		t.Helper()
		for tool, want := range words {
			if got := s.word("claude-code", "PreToolUse", tool, `{}`); !strings.HasPrefix(got, want) {
				t.Errorf("%s: %s: %s, want %s", why, tool, got, want)
			}
		}
	}
	check("nothing of the project's", map[string]string{
		"mcp__toolcrib__read_file": "allow", "mcp__toolcrib__write_file": "allow",
		"mcp__toolcrib__evil__run": "ask", "mcp__toolcrib__evil__wipe": "no", "mcp__toolcrib__evil": "ask", "mcp__toolcrib__read_file__run": "ask",
		"mcp__toolcrib__READ_FILE": "ask", "mcp__toolcrib___read_file": "ask", "mcp__toolcribs__read_file": "ask", "mcp__toolcrib__": "ask", "mcp__toolcrib": "ask",
		"mcp__toolcrib__run_command": "ask", // commands are switched off, so our server has no such tool
	})
	s.write(filepath.Join(s.dir, ".mcp.json"), `{"mcpServers":{"toolcrib__evil":{"command":"/bin/evil"}}}`)
	check("a server named like ours", map[string]string{"mcp__toolcrib__read_file": "ask", "mcp__toolcrib__evil__run": "ask", "mcp__toolcrib__evil__wipe": "no"})
	// A rule about our own tools, or about a server behind ours, is none about another server.
	s = newHookSite(t, `permissions: {allow: [evil/run, mcp__toolcrib__evil__run]}`+"\n")
	check("rules about ours", map[string]string{"mcp__toolcrib__evil__run": "ask"})
}

// hookless runs another command of the program in the project.
func (s *hookSite) hookless(args ...string) (stdout, stderr string, status int) {
	s.t.Helper()
	var out, errs bytes.Buffer
	c := &command{in: io.NopCloser(strings.NewReader("")), out: &out, err: &errs, dir: s.dir, environ: []string{"TOOLCRIB_HOME=" + s.home, "HOME=" + s.home}}
	status = c.run(s.t.Context(), args)
	return out.String(), errs.String(), status
}
