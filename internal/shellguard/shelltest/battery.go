package shelltest

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
)

// Judge is the verdict of a guard on a command line.
func Judge(t testing.TB, g toolcrib.Guard, command string) *toolcrib.Verdict {
	t.Helper()
	return JudgeTool(t, g, "run_command", map[string]string{"command": command})
}

// JudgeTool is the verdict of a guard on a call of a tool of the box shell.
func JudgeTool(t testing.TB, g toolcrib.Guard, tool string, in map[string]string) *toolcrib.Verdict {
	t.Helper()
	input, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	v, err := g.Judge(context.Background(), toolcrib.Review{Spec: toolcrib.Entry{Spec: toolcrib.Spec{Name: "x"}, Native: tool, Box: "shell"}, Input: input})
	if err != nil {
		t.Fatalf("judging %q: %v", in["command"], err)
	}
	if v != nil && v.Decision != toolcrib.Allow && slices.Contains(strings.Split(v.Reason, "\n"), "") {
		t.Errorf("%q: a line of the reason says nothing: %q", in["command"], v.Reason)
	}
	return v
}

// Entry is a command of a battery and where it stands.
type Entry struct {
	File, Why, Command string
	Line               int
}

//go:embed testdata
var batteries embed.FS

// Batteries are the names of all batteries.
func Batteries(t testing.TB) []string {
	t.Helper()
	files, err := batteries.ReadDir("testdata")
	if err != nil || len(files) == 0 {
		t.Fatal("no command lines", err)
	}
	var names []string
	for _, f := range files {
		names = append(names, f.Name())
	}
	return names
}

// Battery reads commands from testdata: one a line, ## says why.
func Battery(t testing.TB, names ...string) []Entry {
	t.Helper()
	var out []Entry
	for _, name := range names {
		data, err := batteries.ReadFile("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		why, n := "", 0
		for text := range strings.SplitSeq(string(data), "\n") {
			n++
			switch {
			case text == "":
			case strings.HasPrefix(text, "## "):
				why = text[3:]
			case strings.HasPrefix(text, "# "):
			case strings.HasPrefix(text, "go:"):
				s, err := strconv.Unquote(text[3:])
				if err != nil {
					t.Fatalf("%s:%d: %v", name, n, err)
				}
				out = append(out, Entry{name, why, s, n})
			default:
				out = append(out, Entry{name, why, text, n})
			}
		}
	}
	seen := map[string]string{}
	for _, e := range out {
		at := fmt.Sprintf("%s:%d", e.File, e.Line)
		if before, ok := seen[e.Command]; ok {
			t.Errorf("%s: %q is already at %s", at, e.Command, before)
		}
		seen[e.Command] = at
	}
	return out
}
