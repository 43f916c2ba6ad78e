package shellguard

import (
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/shellguard/shelltest"
)

// TestLimit: with a limit nothing else runs, however harmless, whatever rules and the
// mode say, and however it is put into a line.
func TestLimit(t *testing.T) {
	rules, err := ParseRules([]string{"ls *", "git status *"})
	if err != nil {
		t.Fatal(err)
	}
	for _, unasked := range []bool{false, true} {
		s := shellOn(t, shelltest.NewMachine())
		s.Limit, s.Only, s.Rules = rules, true, append(s.Rules, rules...)
		s.Unasked = func(toolcrib.Call) bool { return unasked }
		for _, line := range []string{"ls", "ls -la src", "git status", "git status --short", "ls; git status", "ls | ls"} {
			if v := shelltest.JudgeTool(t, s, "run_command", map[string]string{"command": line}); v.Decision != toolcrib.Allow {
				t.Errorf("%q (unasked %v): %+v", line, unasked, *v)
			}
		}
		for _, line := range []string{
			"cat main.go", "head main.go", "git log", "git log --oneline", "git", "lsblk", "go test ./...", "pwd", "echo hi", "true", ":",
			"ls | head", "ls; cat main.go", "ls && cat main.go", "ls & cat main.go", "ls\ncat main.go", "ls $(cat main.go)", "ls `cat main.go`", "ls <(cat main.go)",
			"cat main.go | ls", "(cat main.go)", "{ cat main.go; }", "f() { cat main.go; }; ls", "if ls; then cat main.go; fi", "for f in a; do cat $f; done",
			"env ls", "sh -c ls", "sh -c 'cat main.go'", "xargs ls", "nice cat main.go", "timeout 5 cat main.go", "find . -exec ls {} ;", "ls > out", "ls >> out", "X=1 cat main.go",
			"PATH=. ls", "./ls", "src/ls", "command cat main.go", "exec cat main.go", "eval ls", "\\cat main.go", "'c'at main.go", "git -c core.pager=x status", "rm -rf /",
		} {
			v := shelltest.JudgeTool(t, s, "run_command", map[string]string{"command": line})
			if v.Decision != toolcrib.Deny {
				t.Errorf("%q (unasked %v): %+v", line, unasked, *v)
			} else if !strings.Contains(v.Reason, "only_commands") && v.Rule != "allowed_commands" {
				t.Errorf("%q is refused for another reason: %+v", line, *v)
			}
		}
		for _, tool := range []string{"start_command"} {
			if v := shelltest.JudgeTool(t, s, tool, map[string]string{"command": "cat main.go"}); v.Decision != toolcrib.Deny {
				t.Errorf("%s: %+v", tool, *v)
			}
		}
	}
}
