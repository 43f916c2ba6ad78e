package cli

import (
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib/internal/text"
)

// TestToolListFitsTheScreen: whatever servers call their tools, no line is wider than the
// screen, names are whole, and a tool takes one line, or two with a long name.
func TestToolListFitsTheScreen(t *testing.T) {
	t.Parallel()
	const about = "Set the volume of the speakers in the living room, the kitchen or wherever the person is at this moment, and tell how loud it was before that."
	rows := []toolRow{
		{"read_file", "files", "reads", "Read a text file, or a part of it by line numbers."},
		{"delete_file", "files", "reads,writes,destroys", about},
		{"odd__list_all_open_pull_requests_of_the_repository_with_reviews", "odd", "undeclared", about},
		{"very-long-server-name__set_volume", "very-long-server-name", "calls tools", about},
		{"wide__音量を設定する", "wide", "network", "音量を設定する。音量を設定する。音量を設定する。音量を設定する。音量を設定する。音量を設定する。"},
		{"bad\x1b[31m__name", "bad", "pure", "a\nb\x1b[2J"},
	}
	for _, wide := range []int{60, 80, 100, 120, 140, 160, 240} {
		lines := toolLines(rows, wide)
		all := strings.Join(lines, "\n")
		for _, line := range lines {
			if alone := !strings.Contains(line, " "); text.Width(line) > wide && !alone {
				t.Errorf("%d columns: %d in %q", wide, text.Width(line), line)
			}
		}
		for _, r := range rows {
			if name := text.ShowLine(r.name); !strings.Contains(all, name) {
				t.Errorf("%d columns: %s is cut:\n%s", wide, name, all)
			}
		}
		if strings.Contains(all, "\x1b") || len(lines) > len(rows)+4 {
			t.Errorf("%d columns, %d lines:\n%s", wide, len(lines), all)
		}
		if effects := strings.Contains(all, "reads,writes,destroys"); effects != (wide >= 140) {
			t.Errorf("%d columns: effects %v:\n%s", wide, effects, all)
		}
	}
	if wide := strings.Join(toolLines(rows, 240), "\n"); !strings.Contains(wide, about) {
		t.Errorf("a description is cut where there is room:\n%s", wide)
	}
}
