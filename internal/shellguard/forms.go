package shellguard

import (
	"slices"
	"strings"
)

// found is the form that holds for a command.
type found struct {
	known bool // there is one; if not, the program is not known
	form  form
	rest  []Arg  // the arguments the form is about, after a subcommand
	dir   string // where the program goes first (git -C)
	why   string // what is wrong before the form is even asked
}

// findForm looks a program up. Programs with subcommands or a language of
// their own have a function; the rest is in forms.txt.
func findForm(name string, args []Arg) found {
	switch name {
	case "git":
		return gitForm(args)
	case "go", "npm", "yarn", "pnpm", "cargo":
		return projectForm(name, args)
	case "find":
		return found{known: true, form: form{class: ReadOnly, most: -1, names: true}, why: checkFind(args)}.withPaths(findRoots(args))
	case "echo", ":", "true", "false", "expr":
		return found{known: true, form: form{class: ReadOnly, most: -1, names: true, anyOption: true}, why: allPlain(args)}
	case "test", "[":
		return found{known: true, form: form{class: ReadOnly, most: -1, names: true, anyOption: true}, why: checkTest(name, args)}.withPaths(testFiles(args))
	case "jq":
		if len(args) != 1 || !args[0].Literal || !asksVersion(name, args[0].Text) {
			return jqForm(args)
		}
	case "yq":
		return yqForm(args).unlessMore()
	case "tar":
		if len(args) != 1 || !args[0].Literal || !asksVersion(name, args[0].Text) {
			return tarForm(args)
		}
	case "pip", "pip3", "gem", "apt", "apt-cache":
		if name == "pip3" {
			name = "pip"
		}
		if len(args) > 0 && args[0].Literal {
			if f, ok := formTable().of(name + " " + args[0].Text); ok {
				return found{known: true, form: f, rest: args[1:]}.unlessMore()
			}
		}
	}
	if strings.HasPrefix(name, "python") && len(args) > 1 && args[0].Text == "-m" && args[1].Text == "pytest" {
		f, _ := formTable().of("pytest")
		return found{known: true, form: f, rest: args[2:]}
	}
	if len(args) == 1 && args[0].Literal && asksVersion(name, args[0].Text) {
		return found{known: true, form: form{class: ReadOnly}}
	}
	if f, ok := formTable().of(name); ok && !strings.ContainsAny(name, " <") {
		return found{known: true, form: f, rest: args}.unlessMore()
	}
	return found{}
}

// unlessMore is no form where the program is told to do more than the form is about.
func (f found) unlessMore() found {
	if f.form.partial {
		if _, why := f.form.fit(f.rest); why != "" {
			return found{}
		}
	}
	return f
}

// projectForm finds the form of a subcommand that works on what is in the
// directory.
func projectForm(name string, args []Arg) found {
	switch {
	case name == "npm" && len(args) == 1 && args[0].Literal && asksVersion(name, args[0].Text):
		return found{known: true, form: form{class: ReadOnly}}
	case name == "npm" && len(args) == 1 && args[0].Literal && args[0].Text == "run":
		return found{known: true, form: form{class: ReadOnly}} // it lists the scripts
	case name == "npm" && len(args) > 0 && args[0].Literal:
		// Not yarn and pnpm: a project says which program these start.
		if f, ok := formTable().of("npm only " + args[0].Text); ok {
			return found{known: true, form: f, rest: args[1:]}
		}
	}
	switch {
	case len(args) == 0 || !args[0].Literal:
		return found{known: true, why: "it has no subcommand"}
	case name == "yarn" || name == "pnpm":
		name = "npm"
	}
	word := args[0].Text
	if f, ok := formTable().of(name + " " + word); ok {
		return found{known: true, form: f, rest: args[1:]}
	}
	switch {
	case strings.HasPrefix(word, "-") && name == "go":
		return found{known: true, why: "go's option " + Quote(word) + " is not known to be harmless"}
	case strings.HasPrefix(word, "-"), strings.HasPrefix(word, "+") && name == "cargo":
		return found{known: true, why: "the option " + Quote(word) + " is not known to be harmless"}
	}
	return found{}
}

// withPaths makes the form's operands the given files: for programs whose
// arguments were judged by their own grammar.
func (f found) withPaths(files []Arg) found {
	f.form.names = false
	f.rest = files
	return f
}

// allPlain is for programs that take any word: it only has to be one.
func allPlain(args []Arg) string {
	for _, a := range args {
		if !a.Literal && !a.Glob && a.computed == notComputed {
			return "the argument " + clip(a.Text) + " is not literal"
		}
	}
	return ""
}

// takeForm finds the row of taken.txt for an open rule: by the program and as
// many of the words after it as name a subcommand. The arguments it gives back
// are those that the row is about; what the rule spells out is not.
func takeForm(name string, words []string, rest []Arg) (f form, args []Arg, ok bool) {
	name, shift := tableName(name, words)
	words = words[shift:]
	all := slices.Concat(words, argTexts(rest))
	for n := min(3, len(all)); n >= 0; n-- {
		if n > len(words) && slices.ContainsFunc(all[len(words):n], func(w string) bool { return len(w) > 1 && w[0] == '-' && w[1] != '-' }) {
			continue // a row about an option is for rules that spell it out
		}
		key := strings.Join(append([]string{name}, all[:n]...), " ")
		if f, ok = takenTable().of(key); ok {
			return f, rest[max(0, n-len(words)):], true
		}
	}
	return form{}, nil, false
}

// asksVersion: the one argument that makes well-known programs print their
// version and nothing else. Not yarn, pnpm, cargo and their like, which first
// start the copy that the project names, nor those that look for updates.
func asksVersion(name, arg string) bool {
	switch name {
	case "node", "npm", "python", "python3", "ruby", "gcc", "g++", "clang", "make", "cmake", "docker", "podman", "bash", "git", "curl", "wget", "jq", "rg", "pip", "pip3", "gopls", "ninja",
		"ls", "cat", "grep", "sed", "find", "sort", "tar", "gzip", "awk", "gawk", "diff", "perl", "sqlite3", "psql",
		"cc", "c++", "clang++", "tsc", "ldd", "head", "tail", "wc", "cut", "xargs", "du", "df", "stat", "file", "fd", "tree", "uniq", "xz", "zstd", "as", "ld", "bc", "patch", "rsync", "zip":
		switch arg {
		case "--version":
			return true
		case "--help":
			return name != "docker" && name != "podman" && name != "git"
		case "-V":
			return isOneOf(name, "python python3 rg")
		case "-v":
			return name == "g++" || name == "c++" || isOneOf(name, "node npm ruby perl gcc cc clang")
		}
	case "java", "javac":
		return arg == "-version" || arg == "--version"
	}
	return false
}

// checkTest reads the words of test and [. Not -v and -R: bash evaluates what
// stands in the subscript of the name they are given.
func checkTest(name string, args []Arg) string {
	if slices.ContainsFunc(args, func(a Arg) bool { return a.computed != notComputed || a.one }) {
		return testShape(name, args)
	}
	if why := allPlain(args); why != "" {
		return why
	}
	if name == "[" && (len(args) == 0 || args[len(args)-1].Text != "]") {
		return "it has no closing ]"
	}
	for _, a := range args {
		if a.Glob {
			return "nobody knows what " + Quote(a.Text) + " becomes"
		}
		if !strings.HasPrefix(a.Text, "-") || isNumber(a.Text[1:]) {
			continue
		}
		switch a.Text {
		case "-", "-a", "-b", "-c", "-d", "-e", "-f", "-g", "-h", "-k", "-L", "-n", "-o", "-p", "-r", "-s", "-S", "-t", "-u", "-w", "-x", "-z", "-O", "-G", "-N",
			"-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef":
		default:
			return "the operator " + Quote(a.Text) + " is not known to be harmless"
		}
	}
	return ""
}

// testFiles are the words a test may look at as files: it only learns whether
// they exist and how old they are, yet that is something.
func testFiles(args []Arg) []Arg {
	var out []Arg
	for i, a := range args {
		if a.computed != notComputed {
			continue
		}
		if i > 0 && len(args[i-1].Text) == 2 && args[i-1].Text[0] == '-' && strings.Contains("bcdefghkLprsSuwxOGN", args[i-1].Text[1:]) && a.Text != "]" && !strings.HasPrefix(a.Text, "-") {
			out = append(out, a)
		}
	}
	return out
}
