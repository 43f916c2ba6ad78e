package shellguard

import (
	"path/filepath"
	"regexp"
	"strings"

	"pgregory.net/rapid"
)

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
	case a.sample && hashLike.MatchString(a.Text) && hashLike.MatchString(word): // one name of a commit stands for any other
		return true
	}
	// A number stands for any other, and two of them for any lines of numbers.
	if a.sample {
		word = strings.Join(strings.Fields(word), " ")
	}
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
