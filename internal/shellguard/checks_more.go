package shellguard

import (
	"slices"
	"strings"
)

// checkShown: variables of the environment that are no secrets.
func checkShown(u *usage) string {
	return u.refuse("the variable ", " may be a secret", func(t string) bool { return !shownVariable(t) })
}

// onlyWords: names, and nothing that could be a file.
func onlyWords(u *usage) string {
	return u.refuse("", " may be a file", func(t string) bool { return !isWord(t) })
}

// checkOnlyLists is for programs that write unless they are told to list.
func checkOnlyLists(u *usage) string {
	if !u.has("p", "l", "L", "s", "S", "list", "listfiles", "status", "search", "print-architecture", "get-selections") {
		return "without an option that lists it may do more than look"
	}
	return ""
}

// checkToStdout is for programs that pack and unpack: to standard output, or not at
// all.
func checkToStdout(u *usage) string {
	switch {
	case u.has("c", "stdout", "to-stdout"):
	case u.has("l", "t", "list", "test") && !u.has("d", "decompress"): // of both, most of them obey the last
	default:
		return "it puts another file in the place of its operand"
	}
	return ""
}

// yqForm: there are two programs of that name. Both take a filter and files.
func yqForm(args []Arg) found {
	if len(args) > 0 && args[0].Literal && (args[0].Text == "eval" || args[0].Text == "e") {
		args = args[1:]
	}
	return found{known: true, rest: args, form: form{
		class: ReadOnly, most: -1, need: 1, text: 1, check: "yq", partial: true,
		short: "rPMCceyS", shortArg: "o", long: "raw-output prettyPrint no-colors colors compact-output exit-status output-format=",
	}}
}

func checkYQ(u *usage) string {
	if !u.operands[0].Literal {
		return "its filter is not literal"
	}
	for _, word := range []string{"load", "env", "ENV", "eval", "import", "include", "input", "$__", "system", "file"} {
		if strings.Contains(u.operands[0].Text, word) {
			return "its filter uses " + word
		}
	}
	for _, o := range u.opts {
		if (o.name == "o" || o.name == "output-format") && !isWord(strings.TrimPrefix(o.value, "=")) {
			return "its format is not known"
		}
	}
	return ""
}

// tarForm: tar that lists an archive, in the letters of old with or without a dash.
// An archive with a colon in its name is on another machine. For all else tar has no
// form, and rules go by taken.txt.
func tarForm(args []Arg) found {
	out := found{known: true, form: form{class: ReadOnly, most: -1}}
	for len(args) > 1 && args[0].Text == "-C" && args[0].Literal && args[1].Literal && out.dir == "" && args[1].Text != "" && args[1].Text[0] != '-' {
		out.dir, args = args[1].Text, args[2:]
	}
	if len(args) == 0 || !args[0].Literal {
		return found{}
	}
	letters := strings.TrimPrefix(args[0].Text, "-")
	if letters == "" || strings.Trim(letters, "tvzjJf") != "" || !strings.Contains(letters, "t") || strings.Count(letters, "f") != 1 || strings.HasPrefix(args[0].Text, "-") && !strings.HasSuffix(letters, "f") {
		return found{}
	}
	if len(args) < 2 || args[1].Text == "" || args[1].Text[0] == '-' || strings.Contains(args[1].Text, ":") || !args[1].Literal && (args[1].computed != computedPlaces || !strings.Contains(args[1].head, "/")) {
		return found{}
	}
	if slices.ContainsFunc(args[2:], func(a Arg) bool { return !a.Literal || strings.HasPrefix(a.Text, "-") }) {
		return found{}
	}
	return out.withPaths(args[1:2])
}

// checkNpmGet: npm pkg get and npm config get, of keys that are no secrets.
func checkNpmGet(u *usage) string {
	if u.operands[0].Text != "get" {
		return "it may do more than look"
	}
	return u.refuse("the key ", " may be a secret", func(t string) bool {
		return strings.ContainsAny(t, "/:") || strings.Contains(strings.ToLower(t), "auth") || strings.Contains(t, "key") && t != "keywords"
	})
}
