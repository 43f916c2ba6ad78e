package shellguard

import (
	"strconv"
	"strings"
	"unicode"
)

// The checks that rows of forms.txt and taken.txt name. Each says what is wrong.

// refuse says what is wrong with the first operand that a test takes.
func (u *usage) refuse(before, after string, test func(text string) bool) string {
	for _, a := range u.operands {
		if test(a.Text) {
			return before + Quote(a.Text) + after
		}
	}
	return ""
}

// checkDiff: through directories it follows links, unless told otherwise.
func checkDiff(u *usage) string {
	if u.has("r", "recursive") && !u.has("no-dereference") {
		return "it follows links out of the tree (without --no-dereference)"
	}
	return ""
}

// needsPattern refuses a search without one: then a file would be taken for it.
func needsPattern(u *usage) string {
	if len(u.operands) == 0 && !u.has("e", "regexp", "files", "type-list") {
		return "it has no pattern"
	}
	if len(u.operands) > 0 && u.operands[0].Glob && u.operands[0].fixed == 0 {
		return "its pattern is not quoted, so files of the directory take its place"
	}
	return ""
}

// noResponseFiles: @name means a file of options to this program.
func noResponseFiles(u *usage) string {
	return u.refuse("it reads options from ", "", func(t string) bool { return strings.HasPrefix(t, "@") })
}

// checkDate: an operand that is not a format sets the clock.
func checkDate(u *usage) string {
	if len(u.operands) == 1 && !strings.HasPrefix(u.operands[0].Text, "+") {
		return "it would set the clock"
	}
	return ""
}

// checkPS: the letters without a dash mean other things, and e among them
// prints every program's environment.
func checkPS(u *usage) string {
	if len(u.operands) == 1 && strings.Trim(u.operands[0].Text, "auxfwlj") != "" {
		return "the options " + Quote(u.operands[0].Text) + " are not known to be harmless"
	}
	for _, o := range u.opts {
		if strings.Contains(strings.ToLower(o.value), "env") {
			return "it prints the environment of other programs"
		}
	}
	return ""
}

// checkSleep bounds the time; a line that only waits is still a waste.
func checkSleep(u *usage) string {
	s := strings.TrimSuffix(u.operands[0].Text, "s")
	n, err := strconv.ParseFloat(s, 64)
	if err != nil || n < 0 || n > 60 || strings.ContainsAny(s, "xXpPiIn") {
		return "it waits for longer than a minute"
	}
	return ""
}

func onlyNumbers(u *usage) string {
	return u.refuse("the operand ", " is not a number", func(t string) bool { return !isNumber(t) })
}

// checkPrintf: in bash %n sets a variable and %(…)T is its own.
func checkPrintf(u *usage) string {
	if u.operands[0].Glob {
		return "its format is not literal"
	}
	s := u.operands[0].Text
	for i := 0; i < len(s); i++ {
		if s[i] != '%' {
			continue
		}
		for i++; i < len(s) && strings.IndexByte("-+ #0123456789.*'", s[i]) >= 0; i++ {
		}
		if i < len(s) && strings.IndexByte("diouxXeEfFgGaAcsbq%", s[i]) < 0 {
			return "its format uses %" + Quote(s[i:i+1])
		}
	}
	return ""
}

// checkPackages: a package at a version is fetched, and a file given by name is
// compiled wherever it lies (which the path guard sees).
func checkPackages(u *usage) string {
	return u.refuse("the package ", " comes from the network", func(t string) bool { return strings.Contains(t, "@") })
}

func checkTargets(u *usage) string {
	for _, a := range u.operands {
		if strings.ContainsAny(a.Text, "=:") {
			return "the word " + Quote(a.Text) + " sets a variable"
		}
		// Many a makefile puts its targets into the lines that it runs.
		if strings.ContainsFunc(a.Text, func(r rune) bool {
			return r <= ' ' || strings.ContainsRune("\"'`$;&|<>()*?[]{}#!~\\^", r) || r > '~' && !unicode.IsLetter(r)
		}) {
			return "the word " + Quote(a.Text) + " may be code in a line of the project"
		}
	}
	for _, o := range u.opts {
		if o.name == "j" && o.value != "" && !isNumber(o.value) {
			return "the option -j" + Quote(o.value) + " is not a number"
		}
	}
	return ""
}

// checkRequirements: packages by their names, perhaps with a version.
func checkRequirements(u *usage) string {
	return u.refuse("", " is not a package by its name", func(t string) bool { return strings.ContainsAny(t, "/@:") || notPackage(t) })
}

// checkCurl: values that curl takes for the name of a file.
func checkCurl(u *usage) string {
	for _, o := range u.opts {
		bad := false
		switch o.name {
		case "d", "data", "data-ascii", "data-binary", "json", "H", "header", "w", "write-out":
			bad = strings.HasPrefix(o.value, "@") || strings.Contains(o.value, "%output{")
		case "data-urlencode", "url-query":
			at, eq := strings.IndexByte(o.value, '@'), strings.IndexByte(o.value, '=')
			bad = at >= 0 && (eq < 0 || at < eq)
		case "F", "form":
			_, value, ok := strings.Cut(o.value, "=")
			bad = !ok || strings.ContainsAny(value, "@<;")
		case "o", "output":
			bad = o.value != "/dev/null" && o.value != "-"
		case "b", "cookie":
			bad = !strings.Contains(o.value, "=")
		case "url":
			bad = refusesWords("curl", nil, []Arg{{Text: o.value}}) != ""
		case "u", "user":
			bad = !strings.Contains(o.value, ":") // it would ask for the password
		}
		if bad {
			return "the value " + Quote(o.value) + " of " + Quote(o.name) + " is a file to curl"
		}
	}
	return ""
}

// checkWget: the answer may go to standard output, not over any file.
func checkWget(u *usage) string {
	for _, o := range u.opts {
		if (o.name == "O" || o.name == "output-document") && o.value != "-" && o.value != "/dev/null" {
			return "it writes " + Quote(o.value)
		}
	}
	return ""
}

// noOperands is for subcommands that are harmless only alone.
func noOperands(u *usage) string {
	return u.refuse("", " may do more than look", func(string) bool { return true })
}

// checkKubectl: some formats are read from a file.
func checkKubectl(u *usage) string {
	for _, o := range u.opts {
		if o.name != "o" && o.name != "output" {
			continue
		}
		switch kind, _, _ := strings.Cut(o.value, "="); kind {
		case "json", "yaml", "wide", "name", "jsonpath", "jsonpath-as-json", "custom-columns", "go-template", "template":
		default:
			return "its format " + Quote(o.value) + " may be a file"
		}
	}
	return ""
}

// checkCd: nobody knows where it was before.
func checkCd(u *usage) string {
	if u.operands[0].Text == "-" || u.operands[0].Text == "" {
		return "nobody knows where it leads"
	}
	return ""
}

// checkUnzip: without -l or -p it writes.
func checkUnzip(u *usage) string {
	if !u.has("l", "p") {
		return "it unpacks"
	}
	return ""
}

// checkCommand: with -v or -V it only says what it would run.
func checkCommand(u *usage) string {
	if !u.has("v", "V") {
		return "it runs a program"
	}
	return ""
}

// checkSet: options that end the line sooner, and none that change how it is read.
func checkSet(u *usage) string {
	for _, o := range u.opts {
		if o.name == "o" && o.value != "pipefail" && o.value != "errexit" && o.value != "nounset" {
			return "it sets the option " + Quote(o.value)
		}
	}
	if len(u.opts) == 0 {
		return "it prints every variable" // where secrets may be
	}
	return ""
}
