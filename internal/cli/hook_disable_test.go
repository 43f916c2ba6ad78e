package cli

import (
	"strings"
	"testing"
)

// Most of tools.disable is about tools that a client does not have.
func TestHookJudgesWithToolsDisabled(t *testing.T) {
	t.Parallel()
	for _, disable := range []string{"[delete_file]", "[no_such_tool, math/*]", "[read_file]"} {
		s := newHookSite(t, "tools: {disable: "+disable+"}\n")
		out, errs, status := s.hook(t.Context(), strings.NewReader(s.raw("PreToolUse", "Read", `{"file_path":"ok/a.txt"}`)), "claude-code")
		want := 0
		if disable == "[read_file]" {
			want = 2
		}
		if status != want || want == 2 && !strings.Contains(errs, "tools.disable") {
			t.Errorf("tools.disable %s: status %d, %q, %q", disable, status, out, errs)
		}
	}
}
