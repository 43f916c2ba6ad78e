package shellguard

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// shellsOf are the shells that lines are tried in: dash and bash, and zsh for those of a
// client, where it is installed. CI installs it.
func shellsOf(t testing.TB, client bool) []string {
	t.Helper()
	shells := realShells(t)
	if !client {
		return shells
	}
	zsh, err := exec.LookPath("zsh")
	switch {
	case err == nil:
		return append(shells, zsh)
	case os.Getenv("CI") == "true":
		t.Fatal("there is no zsh; .ci/run installs it")
	}
	t.Log("there is no zsh, so that the lines are tried in sh and bash only")
	return shells
}

// tries is how many values and lines are generated. They are the same at each run; the
// fuzz target looks for others.
const tries = 2000

// harmlessTried makes a directory and programs that only record how they are called,
// and gives a function that tries one line: if the guard takes it for harmless, no
// shell may start, write or delete anything because of it.
func harmlessTried(t testing.TB, client bool) func(t testing.TB, line string) (called bool) {
	t.Helper()
	shells := shellsOf(t, client)
	bin, calls := recorders(t, "sort", "uniq", "git", "ls", "head", "touch", "sed", "grep", "rm", "tee", "cp")
	for _, name := range []string{"sh", "cat", "xargs", "find", "seq", "wc", "basename", "dirname"} {
		program, err := exec.LookPath(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(program, filepath.Join(bin, name)); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	files := map[string]string{"f": "-z q\nr s\n*\n7\n", "b.txt": "1\n", "c d.txt": "2\n", "sub/-o": "3\n", "docs/a.txt": "4\n"}
	write(t, dir, files)
	before := snapshot(t, dir)
	opt := Options{
		Dir: dir, Trusted: []string{bin}, Writable: []string{}, Look: LookIn(bin), Zsh: client,
		EvalSymlinks: func(p string) (string, error) { return p, nil }, Stat: os.Stat, Lstat: os.Lstat,
	}
	env := []string{"PATH=" + bin, "HOME=" + dir, "LC_ALL=C.UTF-8"}
	return func(t testing.TB, line string) bool {
		_, against, by := Analyze(line, opt).judged(nil, everyReader, nil)
		if len(against) > 0 {
			return false
		}
		for _, shell := range shells {
			out := runLine(t, shell, line, dir, env)
			for _, call := range calls() {
				if !knows(by, call) {
					t.Fatalf("%s -c %q starts %q, of which the guard does not know\n%s", shell, line, call, out)
				}
			}
			if after := snapshot(t, dir); !maps.Equal(before, after) {
				_ = os.RemoveAll(dir)
				write(t, dir, files)
				t.Fatalf("%s -c %q changes the directory, and the guard calls it harmless: %v, before %v", shell, line, after, before)
			}
		}
		return true
	}
}

// genHostile makes a line that would run, write or delete if a shell read one of its words
// otherwise than the guard.
func genHostile(rt *rapid.T) string {
	value := func() string {
		return rapid.SampledFrom([]string{"exec", "-exec", "delete", "-delete", "a", "-a", "docs", "ok", "a-delete", "-deletea", "x/-delete", "-delete/x", "a b", "touch", ">", "*", "-o", "rm", "t", ""}).Draw(rt, "value")
	}
	cut := func(name string) string {
		form := rapid.SampledFrom([]string{
			"$%", "\"$%\"", "${%}", "${%/#/-}", "${%/%/x}", "${%#[^a]}", "${%#[!a]}", "${%##*/}", "${%%/*}", "${%%a}", "${%#a}", "${%/a/}", "${%//a/&}", "${%:1}", "${%:0:7}", "$%:t", "$%:h", "$%[1]", "$%[2,-1]", "$=%", "$~%", "$#%", "${%:-a}", "${%:+-delete}", "\"$%[1]\"", "\"$%:t\"", "${%,,}", "-$%", "-${%#-}", "=$%", "{$%,a}", "$(echo $%)", "$%~/docs", "\"$%\"~/docs", "$%=rm", "x$%", "x\"$%\"", "docs/$%", "./$%",
		}).Draw(rt, "form")
		return strings.ReplaceAll(form, "%", name)
	}
	word := func() string {
		return rapid.OneOf(rapid.Custom(func(rt *rapid.T) string { return cut("x") }), rapid.Custom(func(rt *rapid.T) string { return cut("y") }), rapid.SampledFrom([]string{"docs", "b.txt", "f", "sub", "docs/a.txt", "-name", "-print", "*", "=rm", "^b", "{,b.txt}", "<1-3>"})).Draw(rt, "word")
	}
	line := "x='" + value() + "'; y='" + value() + "'; "
	switch rapid.IntRange(0, 7).Draw(rt, "setting") { // which may fail
	case 0:
		line += "{ x='" + value() + "'; } <" + rapid.SampledFrom([]string{"none", "f", "&9"}).Draw(rt, "from") + "; "
	case 1:
		line += "x='" + value() + "' " + rapid.SampledFrom([]string{"<none", "<&9", "3<none", ">&9", "<f"}).Draw(rt, "from") + "; "
	case 2:
		line += "\n{ z=$((1" + rapid.SampledFrom([]string{"/0", "%0", "+08", "+1"}).Draw(rt, "sum") + ")); x='" + value() + "'; }\n"
	case 3:
		line += "\n{ cat " + rapid.SampledFrom([]string{"*.none", "${z?}", "${z:?}", "f"}).Draw(rt, "file") + "; x='" + value() + "'; }\n"
	case 4:
		line += "x='" + value() + "' && false || y='" + value() + "'; "
	}
	switch rapid.IntRange(0, 5).Draw(rt, "kind") {
	case 0:
		return line + "find docs " + word() + " " + word() + rapid.SampledFrom([]string{"", " sh run.sh \\;", " {} +"}).Draw(rt, "end")
	case 1:
		return line + "for z in " + word() + " " + word() + "; do find docs $z; done"
	case 2:
		return line + word() + " b.txt"
	case 3:
		return line + "cat " + word() + " | xargs " + rapid.SampledFrom([]string{"", "-n1 "}).Draw(rt, "how") + word()
	case 4:
		return line + rapid.SampledFrom([]string{"sort", "uniq", "git log", "sed -n 1p"}).Draw(rt, "program") + " " + word() + " " + word()
	}
	return line + "z=" + word() + "; find docs \"$z\" " + word()
}

// TestHarmlessInEveryShell: of the lines that are generated, those that are called
// harmless change nothing in dash, bash and zsh, and start nothing that the guard has
// not seen.
func TestHarmlessInEveryShell(t *testing.T) {
	t.Parallel() // it waits for shells
	for _, client := range []bool{false, true} {
		try := harmlessTried(t, client)
		harmless := 0
		for i := range tries {
			if try(t, genAnyLine().Example(i)) {
				harmless++
			}
		}
		if t.Logf("client %v: %d of %d lines are called harmless", client, harmless, tries); harmless < tries/12 {
			t.Errorf("only %d of %d lines are called harmless, so that little was tried", harmless, tries)
		}
	}
}

func genAnyLine() *rapid.Generator[string] {
	return rapid.OneOf(rapid.Custom(genHostile), rapid.Custom(func(rt *rapid.T) string { return genPlain(rt, 2) }))
}

// TestKnownDifferencesOfShells: lines that a shell reads otherwise than the parser.
func TestKnownDifferencesOfShells(t *testing.T) {
	try := harmlessTried(t, true)
	for _, line := range []string{
		`x=exec; find docs ${x/#/-} touch made \;`, `x=-delete; find docs ${x#[^a]}`, `x=a-delete; find docs ${x#[^b]}`, `x=/-delete; find docs $x:t`, `x=-deletex; find docs $x[1,-2]`, `x='-name a -delete'; find docs $=x`,
		`x='-delete b'; find docs "$x"`, `x=delete; find docs ${x/#delete/-&}`, `x=-DELETE; find docs ${x,,}`, `x=_delete; find docs ${x/_/-}`, `x=docs; find $x:h -delete`, `x=-delete; y=x; find docs ${!y}`, `x=-deleteä; find docs ${x:0:7}`,
		`find sub docs -exec uniq {} \; ; find sub docs -exec uniq {} +`, `find docs =-delete`, `find docs $'-delete'`, `x=-delete; find docs $x`, `x=-delete; for i in $x; do find docs $i; done`,
	} {
		if try(t, line) {
			t.Errorf("%q is called harmless", line)
		}
	}
}

func FuzzHarmlessInEveryShell(f *testing.F) {
	try := harmlessTried(f, true)
	f.Fuzz(func(t *testing.T, data []byte) {
		rapid.MakeFuzz(func(rt *rapid.T) { try(t, genAnyLine().Draw(rt, "line")) })(t, data)
	})
}
