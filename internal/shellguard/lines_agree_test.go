package shellguard

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestPlainReadingAgrees: whatever line is generated, if the plain reading takes it
// for one that only reads, then real shells start no program with words that it does
// not know of. The programs only record how they were called.
func TestPlainReadingAgrees(t *testing.T) {
	shells := realShells(t)
	bin, calls := recorders(t, "sort", "uniq", "git", "ls", "head", "touch", "sed", "grep")
	for _, name := range []string{"cat", "xargs", "find", "seq", "wc", "basename", "dirname"} {
		program, err := exec.LookPath(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(program, filepath.Join(bin, name)); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	write(t, dir, map[string]string{"f": "-z q\nr s\n*\n7\n", "b.txt": "1\n", "c d.txt": "2\n", "sub/-o": "3\n"})
	opt := Options{
		Dir: dir, Trusted: []string{bin}, Writable: []string{}, Look: LookIn(bin),
		EvalSymlinks: func(p string) (string, error) { return p, nil }, Stat: os.Stat, Lstat: os.Lstat,
	}
	env := []string{"PATH=" + bin, "HOME=" + dir, "LC_ALL=C.UTF-8"}
	lines, understood, started := 0, 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		line := genPlain(rt, 2)
		lines++
		l := Analyze(line, opt)
		if l.plain == nil {
			return
		}
		if _, against := l.plain.allowed(nil, everyReader, nil); len(against) > 0 {
			return
		}
		understood++
		for _, shell := range shells {
			out := runLine(t, shell, line, dir, env)
			for _, call := range calls() {
				started++
				if !knows(l.plain, call) {
					rt.Fatalf("%s -c %q starts %q, of which the plain reading does not know\n%s", shell, line, call, out)
				}
			}
		}
	})
	t.Logf("%d lines, %d understood, %d programs started", lines, understood, started)
}

// knows: one of the programs of a reading stands for the call.
func knows(l *Line, call []string) bool {
	for i := range l.Programs {
		if p := &l.Programs[i]; filepath.Base(p.Name) == call[0] && fitsWords(p.Args, call[1:]) {
			return true
		}
	}
	return false
}

// fitsWords: the words may be what the arguments say.
func fitsWords(args []Arg, words []string) bool {
	if len(args) == 0 {
		return len(words) == 0
	}
	a := args[0]
	several := a.computed == computedWords || a.many || a.Glob && !a.one
	if several && fitsWords(args[1:], words) && a.computed != notComputed {
		return true
	}
	if len(words) == 0 || !fitsWord(a, words[0]) {
		return false
	}
	return fitsWords(args[1:], words[1:]) || several && fitsWords(args, words[1:])
}

func fitsWord(a Arg, word string) bool {
	switch {
	case a.computed == computedPlaces && a.many: // of several places at once
		return !strings.HasPrefix(word, "-")
	case a.computed == computedPlaces:
		return strings.HasPrefix(word, a.head)
	case a.computed != notComputed:
		return true
	case a.Glob:
		ok, err := filepath.Match(a.Text, word)
		return ok && err == nil || a.Text == word
	}
	// A number stands for any other.
	return digits.ReplaceAllString(a.Text, "1") == digits.ReplaceAllString(word, "1")
}

var digits = regexp.MustCompile(`[0-9]+`)

// genPlain makes a line of what the plain reading follows, and of what it must not.
func genPlain(rt *rapid.T, depth int) string {
	stmts := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) string { return genPlainStmt(rt, depth) }), 1, 4).Draw(rt, "stmts")
	var b strings.Builder
	for i, s := range stmts {
		if i > 0 {
			b.WriteString(rapid.SampledFrom([]string{"; ", " && ", " || ", "\n"}).Draw(rt, "between"))
		}
		b.WriteString(s)
	}
	return b.String()
}

func genPlainStmt(rt *rapid.T, depth int) string {
	word := func() string { return genPlainWord(rt, depth) }
	name := func() string { return rapid.SampledFrom([]string{"x", "y", "n"}).Draw(rt, "name") }
	kind := rapid.IntRange(0, 13).Draw(rt, "kind")
	if depth == 0 {
		kind %= 4
	}
	inner := func() string { return genPlain(rt, depth-1) }
	switch kind {
	case 0, 1:
		return name() + "=" + word()
	case 2, 3:
		program := rapid.SampledFrom([]string{"sort", "uniq", "git log", "ls", "head -1", "sed -n 1p", "grep a", "uniq b.txt", "cat", "$x", "touch", "read x <", "read y n <"}).Draw(rt, "program")
		return program + " " + word() + rapid.SampledFrom([]string{"", " " + word(), " >/dev/null"}).Draw(rt, "more")
	case 4, 5:
		return "for " + name() + " in " + word() + " " + word() + "; do " + inner() + "; done"
	case 6:
		return "if [ " + word() + " = " + word() + " ]; then " + inner() + "; else " + inner() + "; fi"
	case 7:
		return rapid.SampledFrom([]string{"cat f", "echo " + word(), "find sub", "seq 1 2", "printf '%s\\n' " + word()}).Draw(rt, "source") + " | while read " + name() + "; do " + inner() + "; done"
	case 8:
		return rapid.SampledFrom([]string{"cat f", "echo " + word(), "find sub -print0", "seq 1 2", "find sub"}).Draw(rt, "source") + " | xargs " +
			rapid.SampledFrom([]string{"", "-n1 ", "-I{} ", "-0 ", "-d '\\n' "}).Draw(rt, "how") + rapid.SampledFrom([]string{"ls", "uniq", "sort", "head -1", "uniq {}", "sort {}", "ls {}", "sort a{}", "git log --", "sh -c 'sort \"$1\"' _"}).Draw(rt, "program")
	case 9:
		return "find " + rapid.SampledFrom([]string{"sub", ".", "sub b.txt"}).Draw(rt, "root") + " -exec " + rapid.SampledFrom([]string{"sort {}", "uniq {}", "ls {}", "sh -c 'uniq \"$1\"' _ {}", "sort a{}"}).Draw(rt, "program") + rapid.SampledFrom([]string{" \\;", " +"}).Draw(rt, "end")
	case 10:
		return "case " + word() + " in a) " + inner() + ";; *) " + inner() + ";; esac"
	case 11:
		return "( " + inner() + " )"
	case 12:
		return "[[ " + rapid.SampledFrom([]string{"-n " + word(), word() + " == " + word(), word() + " -gt 1", "-f a && -n " + word()}).Draw(rt, "test") + " ]] && " + genPlainStmt(rt, 0)
	}
	return "for " + name() + " in 1 2; do " + inner() + "; " + rapid.SampledFrom([]string{"break", "continue", "[ -f f ] && break"}).Draw(rt, "leave") + "; " + inner() + "; done"
}

func genPlainWord(rt *rapid.T, depth int) string {
	words := []string{"a", "b.txt", "-o", "'x y'", "'*'", "*.txt", "7", "\"$x\"", "$x", "$y", "\"$y\"", "$n", "\"$n\"", "${x%a}", "\"${y#-}\"", "${n:-d}", "s\"$x\"", "\"-$y\"", "\"$x\"t", "{a,b}", "s{$x,b}", "$((n+1))", "sub/*", "\"$x\"/*"}
	if depth > 0 {
		words = append(words, "$(echo a)", "$(echo a b)", "\"$(echo -o)\"", "$(cat f)", "\"$(cat f)\"", "`echo $x`", "$(wc -l < f)", "$(seq 1 2)", "$(find sub)", "$(echo a; echo b)", "$(basename s/$x)", "<(cat f)", "\"s$(cat f)\"")
	}
	return rapid.SampledFrom(words).Draw(rt, "word")
}
