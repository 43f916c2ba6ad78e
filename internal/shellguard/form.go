package shellguard

import (
	"slices"
	"strings"
)

// form lists the arguments of a program that are known: what is not in it is
// not harmless. The zero form takes no argument at all.
//
// Options are given as letters (short, shortArg, shortOpt) and as words with a
// space between (long, dash). A word that ends in = takes a value, glued or as
// the next argument; one that ends in ? may have a glued value.
type form struct {
	class    Class
	short    string // letters without a value
	shortArg string // letters with a value
	shortOpt string // letters whose value, if any, is glued
	long     string // --words
	dash     string // -words, for programs that have no letters (go, find); --words mean the same there
	number   bool   // -5 is an option
	single   bool   // one letter to a word, values apart: the program does not read clusters
	patterns string // --words that take any value without harm, so also what a pattern becomes

	// need is the least and most the greatest number of operands; most -1 is
	// any number.
	need, most int
	// text is how many operands come first that are not files; none of them
	// if an option of textUnless is there (the pattern of grep, unless -e).
	text       int
	textUnless string
	names      bool // operands are not files at all
	// anyOption: no option of this program does harm, so a pattern may become
	// one.
	anyOption bool
	partial   bool   // the program can do more, which rules may allow
	dashed    bool   // behind -- everything is an operand
	check     string // the name of more conditions, see checkOf
	// Of a row of neutral.txt: the options are those of the open rule, and further
	// operands are taken.
	open, operands bool
}

// usage is a program's arguments read by its form.
type usage struct {
	opts     []option
	operands []Arg
	dashes   int // how many operands stand before --; -1 without one
}

type option struct {
	name  string // without dashes
	value string
}

func (u *usage) has(names ...string) bool {
	return slices.ContainsFunc(u.opts, func(o option) bool { return slices.Contains(names, o.name) })
}

// read reads arguments by the form. With stop it ends at the first operand, as
// wrappers do, and rest is what follows. Why says what does not fit.
func (f *form) read(args []Arg, stop bool) (u usage, rest []Arg, why string) {
	u.dashes = -1
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a.computed != notComputed:
			if stop && a.computed == computedPlaces {
				return u, args[i:], ""
			}
			if why := f.computedWord(&u, a); why != "" || stop {
				return u, nil, "the argument " + clip(a.Text) + " is not literal"
			}
		case !a.Literal && !a.Glob:
			return u, nil, "the argument " + clip(a.Text) + " is not literal"
		case u.dashes >= 0 || a.Text == "-" || a.Text == "" || a.Text[0] != '-':
			if stop {
				return u, args[i:], ""
			}
			if strings.HasPrefix(a.Text, "-") && a.Text != "-" {
				// Only if every table here is right does -- make it harmless.
				return u, nil, "the operand " + Quote(a.Text) + " looks like an option"
			}
			u.operands = append(u.operands, a)
		case a.Text == "--" && a.Literal:
			if u.dashes = len(u.operands); stop {
				return u, args[i+1:], ""
			}
		default:
			n, why := f.option(&u, args[i:])
			if why != "" {
				return u, nil, why
			}
			i += n
		}
	}
	return u, nil, ""
}

// computedWord takes a word that is decided while the line runs, where it does not
// matter what it is: it cannot be an option, or no option of the program does harm.
func (f *form) computedWord(u *usage, a Arg) (why string) {
	name, _, glued := strings.Cut(strings.TrimPrefix(a.head, "--"), "=")
	switch {
	case f.check == "printf" && len(u.operands) > 0: // it reads no options behind its format
	case a.computed == computedShown:
		return "it gives a program a variable of the environment"
	case f.dashed && u.dashes < 0 && strings.Contains(a.head, ":"):
		return "git would show a file by a name that nobody knows" // no sandbox hides it
	case a.computed == computedPlaces:
	case f.anyOption:
	case u.dashes >= 0 && f.dashed:
	case a.computed == computedWord && glued && strings.HasPrefix(a.head, "--") && slices.Contains(strings.Fields(f.patterns), name):
		u.opts = append(u.opts, option{name: name})
		return ""
	default:
		return "it may be an option"
	}
	u.operands = append(u.operands, a)
	return ""
}

// readsComputed: a check that looks at the words of a program leaves room for files
// whose names are not known.
func (f *form) readsComputed(u *usage) bool {
	at := slices.IndexFunc(u.operands, func(a Arg) bool { return a.computed != notComputed })
	switch f.check {
	case "", "pattern", "git-format", "diff":
		return true
	case "printf", "awk", "jq":
		return at != 0
	case "sed":
		return at != 0 || u.has("e", "expression")
	}
	return at < 0
}

// option reads the option at args[0] and says how many words its value took.
func (f *form) option(u *usage, args []Arg) (taken int, why string) {
	text := args[0].Text
	unknown := "the option " + Quote(text) + " is not known to be harmless"
	if args[0].Glob {
		// It becomes whatever a file is called: only where any value is harmless.
		eq := strings.IndexByte(text, '=')
		if eq < 0 || args[0].fixed <= eq || !slices.Contains(strings.Fields(f.patterns), strings.TrimPrefix(text[:eq], "--")) {
			return 0, unknown
		}
	}
	words := f.long
	name, isLong := strings.CutPrefix(text, "--")
	if !isLong && f.dash != "" {
		name, isLong = text[1:], true
	}
	if f.dash != "" {
		words = f.dash
	}
	if !isLong {
		return f.letters(u, args, unknown)
	}
	name, value, glued := strings.Cut(name, "=")
	kind := wordKind(words, name)
	switch {
	case kind == 0 || glued && kind == ' ':
		if f.number && f.dash != "" && isNumber(name) {
			u.opts = append(u.opts, option{name: name})
			return 0, ""
		}
		return 0, unknown
	case kind == '=' && !glued:
		if value, why = nextValue(args); why != "" {
			return 0, why
		}
		taken = 1
	}
	u.opts = append(u.opts, option{name, value})
	return taken, ""
}

// letters reads a cluster such as -la, -n5 or -n 5.
func (f *form) letters(u *usage, args []Arg, unknown string) (taken int, why string) {
	text := args[0].Text
	if f.single && len(text) != 2 {
		return 0, unknown
	}
	if f.number && isNumber(text[1:]) {
		u.opts = append(u.opts, option{name: text[1:]})
		return 0, ""
	}
	for i := 1; i < len(text); i++ {
		name := text[i : i+1]
		switch {
		case strings.Contains(f.short, name):
			u.opts = append(u.opts, option{name: name})
		case strings.Contains(f.shortOpt, name):
			u.opts = append(u.opts, option{name, text[i+1:]})
			return 0, ""
		case strings.Contains(f.shortArg, name):
			value := text[i+1:]
			if value == "" {
				if value, why = nextValue(args); why != "" {
					return 0, why
				}
				taken = 1
			}
			u.opts = append(u.opts, option{name, value})
			return taken, ""
		default:
			return 0, unknown
		}
	}
	return 0, ""
}

// nextValue takes the value of an option from the next word. If the real
// program took no value here, that word would be an operand; so it must not be
// one that could be an option instead.
func nextValue(args []Arg) (value, why string) {
	switch {
	case len(args) < 2:
		return "", "the option " + Quote(args[0].Text) + " lacks its value"
	case !args[1].Literal: // a pattern becomes whatever a file is called
		return "", "the argument " + clip(args[1].Text) + " is not literal"
	case strings.HasPrefix(args[1].Text, "-") && !isNumber(args[1].Text[1:]) && args[1].Text != "-":
		return "", "the value " + Quote(args[1].Text) + " of " + Quote(args[0].Text) + " looks like an option"
	}
	return args[1].Text, ""
}

// fit holds arguments against the form: why they do not fit, and which of
// them are files.
func (f *form) fit(args []Arg) (files []Arg, why string) {
	u, _, why := f.read(args, false)
	if why != "" {
		return nil, why
	}
	if !f.readsComputed(&u) {
		return nil, "it is given words that are not literal"
	}
	for i, a := range u.operands {
		if f.most >= 0 && (a.computed == computedWords || a.many) {
			return nil, "nobody knows how many words it is given"
		}
		if !a.Glob {
			continue
		}
		if f.most >= 0 && !a.one {
			return nil, "nobody knows how many files " + Quote(a.Text) + " becomes"
		}
		if !a.safePattern() && !f.anyOption && (u.dashes < 0 || i < u.dashes) {
			return nil, "a file named like an option would make " + Quote(a.Text) + " one"
		}
	}
	switch n := len(u.operands); {
	case n < f.need:
		return nil, "an operand is missing"
	case f.most >= 0 && n > f.most:
		return nil, "it has more operands than is known to be harmless"
	}
	if f.check != "" {
		if why := checkOf(f.check)(&u); why != "" {
			return nil, why
		}
	}
	if f.names {
		return nil, ""
	}
	text := f.text
	if text > 0 && f.textUnless != "" && u.has(strings.Fields(f.textUnless)...) {
		text = 0
	}
	return u.operands[min(text, len(u.operands)):], ""
}

// isOneOf reports whether a word is in a list of words with spaces between. What is
// asked for every word of a line is a switch instead, which takes a tenth of the time.
func isOneOf(word, list string) bool {
	at := strings.Index(list, word)
	return at >= 0 && wordKind(list[max(0, at-1):], word) == ' '
}

// wordKind finds an option in a list of words: ' ' without a value, '=' with,
// '?' perhaps with, 0 not there.
func wordKind(words, name string) byte {
	if name == "" || strings.ContainsAny(name, " =?") {
		return 0
	}
	for from := 0; ; {
		i := strings.Index(words[from:], name)
		if i < 0 {
			return 0
		}
		i += from
		end := i + len(name)
		if i == 0 || words[i-1] == ' ' {
			switch {
			case end == len(words) || words[end] == ' ':
				return ' '
			case words[end] == '=' || words[end] == '?':
				return words[end]
			}
		}
		from = i + 1
	}
}

func isNumber(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}
