package shellguard

import (
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/toolcrib/toolcrib/internal/shellguard/shelltest"
)

// TestShellsAgree: whatever line is generated, if the guard understands it,
// then real shells start exactly the programs it says, with the arguments it
// says, and write nothing. The programs only record how they were called.
func TestShellsAgree(t *testing.T) {
	corpus := append(shelltest.Battery(t, hostileFiles()...), shelltest.Battery(t, "everyday.txt")...)
	for _, gen := range []struct {
		name string
		line func(*rapid.T) string
	}{
		{"pieces", genLine},
		{"mutations", func(rt *rapid.T) string {
			return mutate(rt, corpus[rapid.IntRange(0, len(corpus)-1).Draw(rt, "line")].Command)
		}},
	} {
		t.Run(gen.name, func(t *testing.T) { shellsAgree(t, gen.line) })
	}
}

func shellsAgree(t *testing.T, gen func(*rapid.T) string) {
	shells := realShells(t)
	names := []string{"ls", "cat", "head", "tail", "wc", "sort", "uniq", "tr", "git", "rev", "grep", "rg", "find", "sed", "awk", "jq", "cut", "diff", "du", "stat", "file", "tree", "rm", "touch", "tee", "xargs", "sh", "bash", "go", "npm", "date", "env", "timeout", "nice", "id"}
	bin, calls := recorders(t, names...)
	dir := t.TempDir()
	opt := Options{
		Dir: dir, Trusted: []string{bin}, Writable: []string{}, Look: LookIn(bin),
		EvalSymlinks: func(p string) (string, error) { return p, nil }, Stat: os.Stat,
	}
	env := []string{"PATH=" + bin, "HOME=" + dir, "LC_ALL=C.UTF-8"}
	understood, lines := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		line := gen(rt)
		lines++
		l := Analyze(line, opt)
		if len(l.Unknown) > 0 || !allLiteral(l) {
			return
		}
		understood++
		var want []string
		for i := range l.Programs {
			p := &l.Programs[i]
			if slices.Contains(names, path.Base(p.Name)) {
				want = append(want, join(path.Base(p.Name), p.Args))
			}
		}
		for _, shell := range shells {
			runLine(t, shell, line, dir, env)
			for _, got := range calls() {
				if s := strings.Join(got, "\x01"); !slices.Contains(want, s) {
					rt.Fatalf("%s -c %q started %q, which was not seen in\n%s", shell, line, got, strings.Join(l.Explain(), "\n"))
				}
			}
			if files, err := os.ReadDir(dir); err != nil || len(files) > 0 {
				rt.Fatalf("%s -c %q wrote %v (%v)", shell, line, files, err)
			}
		}
	})
	t.Logf("%d of %d generated lines understood and run", understood, lines)
	if understood < lines/30 {
		t.Errorf("too few generated lines are understood: %d of %d", understood, lines)
	}
}

// mutate puts pieces into a known line and takes bytes out of it.
func mutate(t *rapid.T, line string) string {
	pieces := rapid.SampledFrom([]string{" ", "\n", ";", "&", "|", "\\", "\\\n", "'", "\"", "#", " #", "(", ")", "{", "}", "!", "=", "<", ">", " ls ", "$", "*", "~", "\t", "a", "-", " && ", "''", "\"\"", "2>&1"})
	for range rapid.IntRange(0, 3).Draw(t, "changes") {
		at := rapid.IntRange(0, len(line)).Draw(t, "at")
		if rapid.Bool().Draw(t, "insert") {
			line = line[:at] + pieces.Draw(t, "piece") + line[at:]
		} else if at < len(line) {
			line = line[:at] + line[at+1:]
		}
	}
	return line
}

// allLiteral: every program known by name, no redirection to a file.
func allLiteral(l *Line) bool {
	for i := range l.Redirects {
		if l.Redirects[i].Class != ReadOnly {
			return false
		}
	}
	for i := range l.Programs {
		p := &l.Programs[i]
		if !p.trusted || p.Dynamic || p.Builtin && p.Class != ReadOnly || slices.ContainsFunc(p.Args, func(a Arg) bool { return !a.Literal }) {
			return false
		}
	}
	return len(l.Programs) > 0
}

func join(name string, args []Arg) string {
	parts := []string{name}
	for _, a := range args {
		parts = append(parts, a.Text)
	}
	return strings.Join(parts, "\x01")
}

// genLine builds lines out of what shells read in surprising ways.
func genLine(t *rapid.T) string {
	piece := rapid.SampledFrom([]string{
		"ls", "cat", "head", "wc", "git", "rev", "echo", "true", " ", " ", " ", " ", "  ", "\t", "a", "b-c", "-la", "--x=y", "'a b'", "\"a b\"", "'", "\"", "\\", "\\ ", "\\\n", "\\'", "\\\"", "\"\\\"\"", "'\\'", "\"a\\b\"", "\"\\\\\"", "\"'\"", "'\"'",
		";", "; ", " && ", " || ", " | ", " & ", "\n", "&", "|", "#", " # x", "#x", "a#b", "(", ")", "{ ", "; }", "}", "!", "! ", "=", "a=b", "~", "a~", ",", ":", "%", "@", "^", "+", ".", "..", "/", "]", "[", "é", "日",
		" 2>/dev/null", " >/dev/null", " 2>&1", " </dev/null", " <<E\nx 'y\nE\n", " <<'E'\n$x `y`\nE\n", "if ", "; then ", "; fi", "for i in a b; do ", "; done", "case a in a) ", ";; esac", "time ", "command ", "timeout ", "in", "do", "done", "then", "fi", "esac", "''", "\"\"", "x''y", "\\\\", "\\;", "\\|", "\\#",
	})
	var b strings.Builder
	b.WriteString(rapid.SampledFrom([]string{"ls ", "cat ", "git ", "", "{ ", "( ", "! "}).Draw(t, "start"))
	for _, p := range rapid.SliceOfN(piece, 1, 12).Draw(t, "pieces") {
		b.WriteString(p)
	}
	return b.String()
}

// TestSedAgrees: GNU sed has a mode that refuses scripts which read, write or
// run. A script that is taken for harmless is never one of them.
func TestSedAgrees(t *testing.T) {
	realShells(t)
	sed := func(script string) string {
		out, _ := exec.Command("sed", "--sandbox", "-n", script, os.DevNull).CombinedOutput() // a script it refuses is what is looked for
		return string(out)
	}
	if !strings.Contains(sed("w x"), "sandbox") {
		t.Skip("this sed has no --sandbox")
	}
	piece := rapid.SampledFrom([]string{"p", "d", "s", "y", "/", "/a/", "s/a/b/", "s|a|b|", "[", "]", "[/]", "\\", "\\/", "\n", ";", "{", "}", "!", "$", "1", ",", "~", "+", "w", "e", "r", "F", "W", "R", " w f", "g", "I", "M", "m", " ", "a", "i", "c", ":", "b", "t", "x", "|", "#", "q", "l", "n", "N", "=", "&", "[^]", "[[:x:]]", "*", "é"})
	harmless := 0
	rapid.Check(t, func(rt *rapid.T) {
		script := strings.Join(rapid.SliceOfN(piece, 1, 10).Draw(rt, "script"), "")
		if checkSedScript(script) != "" {
			return
		}
		harmless++
		if out := sed(script); strings.Contains(out, "sandbox") {
			rt.Fatalf("%q is taken for harmless; sed says %s", script, out)
		}
	})
	t.Logf("%d harmless scripts tried", harmless)
}
