package shellguard

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/toolcrib/toolcrib/internal/shellguard/shelltest"
)

// doublings are pieces of a line each of which makes a value twice as long.
func doublings() []string {
	return []string{
		"a=$a$a;", `a="$a$a";`, "a+=$a;", "a=($a $a);", "printf -v a %s $a $a;", "a=$(echo $a$a);", "a=`echo $a$a`;", "b=${c:-$a$a};a=$b;", ": ${b:=$a$a}; a=$b$b;",
		"set -- $a $a; a=$1$2;", "f() { a=$a$a; }; f;", `eval a=\$a\$a;`, "read a <<< $a$a;", "for i in 1 2 3; do a=$a$a; done;", "a=$a$b;b=$b$a;", "a=$a{$a,$a};", "echo $a | tee b; echo $a >> b;", "export a=$a$a;",
		"while read a; do a=$a$a; done <<< $a;", "case $a in x) a=$a$a;; esac;", "a=${a/x/$a$a};", "sh -c \"$a$a\";", "cat <<E\n$a$a\nE\n", "for a in $a$a $a$a; do ls $a; done;", "printf '%s%s' $a $a | sh;", "a=$a/$a;",
	}
}

// affordable fails if a line takes long to be judged, or much memory.
func affordable(t testing.TB, line string, opt Options) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := workTime()
	l := Analyze(line, opt)
	l.Floor()
	l.Explain()
	took := workTime() - start
	runtime.ReadMemStats(&after)
	if took > 3*time.Second {
		t.Errorf("%d bytes take %v: %.80q", len(line), took, line)
	}
	if grown := (after.TotalAlloc - before.TotalAlloc) >> 20; grown > 200 {
		t.Errorf("%d bytes allocate %d MiB: %.80q", len(line), grown, line)
	}
}

// TestDoubledValuesAreBounded: a value that doubles with each assignment is followed
// only as far as it stays short, however the line doubles it.
func TestDoubledValuesAreBounded(t *testing.T) {
	opt := optionsOn(shelltest.NewMachine())
	for _, piece := range doublings() {
		affordable(t, "a=x;b=y;"+strings.Repeat(piece, 40)+"echo $a", opt)
	}
	mixed := rapid.SliceOfN(rapid.SampledFrom(doublings()), 10, 60)
	for i := range 100 {
		affordable(t, "a=x;b=y;"+strings.Join(mixed.Example(i), "")+"echo $a", opt)
	}
}

// TestWorkOfOneLineIsBounded: nor does it help to repeat what is looked at again
// wherever it is used.
func TestWorkOfOneLineIsBounded(t *testing.T) {
	opt := optionsOn(shelltest.NewMachine())
	for _, line := range []string{
		strings.Repeat("echo a | ", 3000) + "cat", strings.Repeat("echo a | tee b | ", 2000) + "cat", "printf '%999999999d' 1 | sh", "printf '%*d' 999999999 1 | sh", "printf '%.999999999f' 1 | sh", "printf -v x '%0900000000d' 1; echo $x",
		"a=" + strings.Repeat("y", 4000) + "; echo" + strings.Repeat(" x$a", 14000), "x='" + strings.Repeat("a ", 20000) + "'; for i in $x; do ls $i; done", "printf '%s%s%s%s' " + strings.Repeat("aaaa ", 8000) + "| sh",
		"for a in 1 2 3 4 5 6 7 8; do for b in 1 2 3 4 5 6 7 8; do ls " + strings.Repeat("$a$b", 500) + "; done; done", strings.Repeat("for x in $x$x $x$x; do ", 20) + "echo $x" + strings.Repeat("; done", 20),
		"git " + strings.Repeat("-c a.b=c ", 5000) + "log", "find . " + strings.Repeat(`-exec sh -c 'find . -exec ls {} +' \; `, 300), strings.Repeat("alias a=b;", 3000) + "a", "echo $((" + strings.Repeat("1+", 20000) + "1))",
	} {
		affordable(t, line, opt)
	}
}

// TestOrdinaryLinesAreFarFromTheBound: what people and agents really write takes a small part of
// the work that one judgement may do.
func TestOrdinaryLinesAreFarFromTheBound(t *testing.T) {
	opt := optionsOn(shelltest.NewMachine())
	most, of := 0, ""
	for _, file := range []string{"everyday.txt", "agents.txt", "broad.txt", "work_writes.txt", "work_builds.txt", "work_network.txt"} {
		for _, e := range shelltest.Battery(t, file) {
			work := &meter{left: maxWork}
			analyze(e.Command, opt, work)
			if used := maxWork - work.left; used > most {
				most, of = used, e.Command
			}
		}
	}
	if t.Logf("the most work: %d of %d for %.80q", most, maxWork, of); most > maxWork/500 {
		t.Errorf("%d of %d for %q", most, maxWork, of)
	}
}
