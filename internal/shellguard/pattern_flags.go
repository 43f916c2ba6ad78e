package shellguard

import (
	"slices"
	"strings"
)

// The options of a rule are meant in every spelling that programs take: letters
// together or apart, long names and their beginnings, values glued or apart.

// eachWord: programs for which every word is one more thing to do, in any order.
func eachWord(name string) bool {
	return runsTargets(name) || name == "mvn" || name == "gradle"
}

// namesPlace: what follows this option of such a program is a file or a directory, and
// no target.
func namesPlace(option string) bool {
	return slices.Contains([]string{"-C", "-f", "-I", "-o", "-W", "--directory", "--file", "--makefile", "--include-dir"}, option)
}

// hasPair reports whether an option was given with this value.
func hasPair(p pair, args []Arg) bool {
	is := func(value string) bool { return wildWord(p.value, strings.ToLower(value)) }
	for i, a := range args {
		t := a.Text
		if !strings.HasPrefix(t, "-") || !a.Literal {
			continue
		}
		if long, value, ok := strings.Cut(t, "="); ok && is(value) && hasFlag(p.flag, []Arg{{Text: long, Literal: true}}) {
			return true
		}
		if i+1 < len(args) && is(args[i+1].Text) && hasFlag(p.flag, args[i:i+1]) {
			return true
		}
		if letter := p.flag[len(p.flag)-1]; !strings.HasPrefix(t, "--") && !strings.HasPrefix(p.flag, "--") {
			if at := strings.IndexByte(t[1:], letter); at >= 0 && is(t[at+2:]) {
				return true
			}
		}
		if long := longValue(p.flag); long != "" && isLong(t, long) {
			if _, value, ok := strings.Cut(t, "="); ok && is(value) || i+1 < len(args) && is(args[i+1].Text) {
				return true
			}
		}
	}
	return false
}

// longValue is the long name of an option that has a value, where it is the same
// for nearly every program that has it.
func longValue(flag string) string {
	return valueIn("-X=request -n=namespace -v=volume -u=user -m=message -o=output -H=header -d=data -h=host -p=port -U=username -f=file -t=tag -e=env -c=command -r=region", flag)
}

// valueIn finds what stands behind a word in a list such as "a=x b=y"; empty if the
// word is not in it.
func valueIn(list, word string) string {
	for pair := range strings.FieldsSeq(list) {
		if key, value, _ := strings.Cut(pair, "="); key == word {
			return value
		}
	}
	return ""
}

// hasFlag reports whether an option was given, in this or another spelling.
func hasFlag(flag string, args []Arg) bool {
	name, _, _ := strings.Cut(strings.TrimLeft(flag, "-"), "=")
	if name == "" { // --, which may be missing before what can only be a path
		return slices.ContainsFunc(args, func(a Arg) bool { return a.Text == "--" || a.Text == "." || strings.HasPrefix(a.Text, "./") })
	}
	if strings.HasPrefix(flag, "--") {
		return slices.ContainsFunc(args, func(a Arg) bool {
			return isLong(a.Text, name) || shortOf(name) != "" && hasLetter(a.Text, shortOf(name))
		})
	}
	if slices.ContainsFunc(args, func(a Arg) bool { return a.Text == flag || wildWord(flag, a.Text) }) {
		return true
	}
	for i := range len(name) {
		letter := name[i : i+1]
		if !slices.ContainsFunc(args, func(a Arg) bool {
			return hasLetter(a.Text, sameLetters(letter)) || longOf(letter) != "" && isLong(a.Text, longOf(letter))
		}) {
			return false
		}
	}
	return true
}

// isLong: programs take the beginning of a long option for the option.
func isLong(arg, name string) bool {
	got, ok := strings.CutPrefix(arg, "--")
	got, _, _ = strings.Cut(got, "=")
	return ok && got != "" && strings.HasPrefix(name, got) || ok && strings.HasPrefix(got, name+"-") // --force-with-lease
}

func hasLetter(arg, letters string) bool {
	return len(arg) > 1 && arg[0] == '-' && arg[1] != '-' && strings.ContainsAny(arg[1:], letters)
}

func sameLetters(letter string) string {
	if letter == "r" || letter == "R" {
		return "rR"
	}
	return letter
}

func longOf(letter string) string { return valueIn("r=recursive R=recursive f=force", letter) }

func shortOf(long string) string { return valueIn("recursive=rR force=f", long) }
