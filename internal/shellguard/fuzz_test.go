package shellguard

import (
	"bytes"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"mvdan.cc/sh/v3/syntax"

	"github.com/toolcrib/toolcrib/internal/shellguard/shelltest"
)

// FuzzAnalyze: no line makes it panic or run for long, and a line that only
// reads still only reads, with the same words, when it is written in another
// way.
func FuzzAnalyze(f *testing.F) {
	for _, files := range [][]string{{"everyday.txt"}, {"agents.txt"}, hostileFiles(), {"hostile_lines.txt"}} {
		for _, e := range shelltest.Battery(f, files...) {
			f.Add(e.Command)
		}
	}
	opt := optionsOn(shelltest.NewMachine())
	rules := shellOn(f, shelltest.NewMachine()).Rules
	f.Fuzz(func(t *testing.T, line string) {
		start := time.Now()
		l := Analyze(line, opt)
		l.Floor()
		if n := len(strings.Join(l.Explain(), "; ")); n > 1<<20 {
			t.Errorf("%d bytes of explanation", n)
		}
		for i := range l.Programs {
			for _, r := range rules {
				r.Match(&l.Programs[i])
			}
		}
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("took %v for %d bytes", took, len(line))
		}
		if len(l.Programs) > maxPrograms || len(l.Unknown) > maxReasons {
			t.Errorf("%d programs, %d reasons", len(l.Programs), len(l.Unknown))
		}
		if !l.ReadOnly() {
			return
		}
		file, err := parse(line)
		if err != nil {
			t.Fatalf("%q only reads and does not parse: %v", line, err)
		}
		var b bytes.Buffer
		if err := syntax.NewPrinter().Print(&b, file); err != nil {
			t.Fatalf("printing %q: %v", line, err)
		}
		again := Analyze(b.String(), opt)
		if !again.ReadOnly() {
			t.Errorf("%q only reads, %q does not: %v", line, b.String(), again.Explain())
		}
		if !slices.Equal(argumentsOf(l), argumentsOf(again)) {
			t.Errorf("%q and %q differ: %q, %q", line, b.String(), argumentsOf(l), argumentsOf(again))
		}
	})
}

func argumentsOf(l *Line) []string {
	var out []string
	for i := range l.Programs {
		p := &l.Programs[i]
		if !strings.HasPrefix(p.Name, "-") {
			out = append(out, p.Name)
		}
		for _, a := range p.Args {
			out = append(out, a.Text)
		}
	}
	return out
}

// FuzzParseRule: rules come from files that people wrote.
func FuzzParseRule(f *testing.F) {
	for _, s := range []string{"git status", "npm run *", "go test:*", "ls", "a 'b c' *", "*", "x\x00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := ParseRule(text)
		if err != nil {
			return
		}
		if len(r.Words) == 0 || r.Words[0] == "" {
			t.Errorf("%q gives a rule without a program", text)
		}
	})
}

// FuzzSed: scripts that are taken for harmless have none of the commands that
// write, read or run, whichever way one cuts them.
func FuzzSed(f *testing.F) {
	for _, s := range []string{"p", "1,5p", "s/a/b/g", "/x/d", "$!N", "s|a|b|", "{p;d}", "s/[/]/x/", "y/a/b/", "1~2p", "w x", "s/a/b/w x", "e"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, script string) {
		if checkSedScript(script) != "" {
			return
		}
		// What remains when every s, y and /…/ is taken out is made of letters
		// that only print and delete.
		if rest := sedRest(script); strings.ContainsAny(rest, "wWrReFaic:btTv") {
			t.Errorf("%q is taken for harmless; outside its expressions it has %q", script, rest)
		}
	})
}

// sedRest drops the expressions of a script, by a simpler reading than the
// checker's: from an s, a y or a / to the right number of delimiters.
func sedRest(s string) string {
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		parts, delim := 0, byte(0)
		switch {
		case (s[i] == 's' || s[i] == 'y') && i+1 < len(s):
			parts, delim = 3, s[i+1]
			i++
		case s[i] == '/':
			parts, delim = 2, '/'
		default:
			out.WriteByte(s[i])
			continue
		}
		for seen := 1; seen < parts && i+1 < len(s); {
			i++
			if s[i] == '\\' {
				i++
			} else if s[i] == delim {
				seen++
			}
		}
	}
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("gpiIm", r) {
			return -1 // flags of s
		}
		return r
	}, out.String())
}

// TestHugeLines: 64 KiB of the worst cost neither much time nor much memory.
func TestHugeLines(t *testing.T) {
	opt := optionsOn(shelltest.NewMachine())
	for _, piece := range []string{
		"(", "{ ", "$(", "`", "$((", "((", "\"$(", "${a:-", "if ", "while ", "! ", "time ", "case a in a) ", "<(", "a|", "a&&", "a;", "f(){ ", "\\", "'", "[[ ( ", "\"", "a=(", "$[", "{a,", "coproc ", "((a?", "<<a\n", "<<a b\\\nx\na\n", "a[", "$a[", "${a[", "`\\`",
		"@(", "for i in a; do ", "until ", "function f { ", "let a=(", "declare a=$(", "((-", "((!", "ls ", "ls\n", "cd a;", "cd a&&", "cd a||", ">a ", "<a ", "a=b ", "{a,b}", "{a..b}", "{a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a}{a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a}{a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a}{a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a} ", "x{a,b}{c,d}{e,f}{g,h}$(", "sh -c ", "env ", "nice ", "timeout 1 ", "eval ", "xargs ", "~", "*", "#", "\n", "sudo ", "find . -exec ", "\\\n", "a#", "''", "-", "--a=", "s/a/b/;",
	} {
		line := strings.Repeat(piece, maxLine/len(piece))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := workTime()
		l := Analyze(line, opt)
		l.Floor()
		l.Explain()
		took := workTime() - start
		runtime.ReadMemStats(&after)
		if took > 3*time.Second {
			t.Errorf("64 KiB of %q take %v", piece, took)
		}
		if grown := after.TotalAlloc - before.TotalAlloc; grown > 128<<20 {
			t.Errorf("64 KiB of %q allocate %d MiB", piece, grown>>20)
		}
		if l.ReadOnly() && !strings.HasPrefix(piece, "ls") && !strings.ContainsAny(piece, "#") {
			t.Errorf("64 KiB of %q only read", piece)
		}
	}
	if l := Analyze(strings.Repeat("a", maxLine+1), opt); len(l.Unknown) == 0 {
		t.Error("a line that is too long is taken apart")
	}
}

func BenchmarkAnalyze(b *testing.B) {
	opt := optionsOn(shelltest.NewMachine())
	for name, line := range map[string]string{
		"simple":  "git status",
		"typical": "git log --oneline -20 | grep -n 'foo bar' | head -5",
		"long":    "cd src && find . -name '*.go' -not -path './vendor/*' | sort | uniq -c | sort -rn | head -20 2>/dev/null && git diff --stat HEAD~3..HEAD -- . && sed -n '1,40p' main.go",
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if !Analyze(line, opt).ReadOnly() {
					b.Fatal("not read-only")
				}
			}
		})
	}
}

func BenchmarkJudge(b *testing.B) {
	s := shellOn(b, shelltest.NewMachine())
	b.ReportAllocs()
	for b.Loop() {
		shelltest.Judge(b, s, "git log --oneline -20 | grep -n 'foo bar' | head -5")
	}
}
