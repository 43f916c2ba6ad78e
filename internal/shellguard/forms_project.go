package shellguard

import (
	"strings"
	"unicode"
)

// goForm finds the form of a go command. What builds or runs the project's code
// has class Runs: a rule may allow it, with these options and no others, since
// many of them change which programs are run (-exec, -toolexec, -vettool,
// -ldflags, -overlay, -modfile, -C …) or write files (-o, -coverprofile …).
func goForm(args []Arg) found {
	if len(args) == 0 || !args[0].Literal {
		return found{known: true, form: form{class: ReadOnly}, why: "it has no subcommand"}
	}
	out := found{known: true, rest: args[1:]}
	f := form{class: ReadOnly, most: -1}
	build := " v? x? n? a? race? msan? asan? tags= p= trimpath?"
	switch args[0].Text {
	case "version":
		f.dash = "m? v?"
	case "env":
		f.dash, f.names = "json? changed?", true
	case "help":
		f.names = true
	case "doc":
		f.dash, f.names = "all? c? cmd? short? src? u?", true
	case "list":
		// Not -export, -compiled (compile), -u, -versions, -retracted (ask the network).
		f.dash, f.check = "json? f= deps? test? e? find? m? tags=", checkPackages
	case "test":
		f.class, f.check = Runs, checkPackages
		f.dash = "run= skip= bench= benchmem? benchtime= count= cpu= timeout= short? cover? covermode= coverpkg= failfast? parallel= json? list= shuffle= vet= fullpath?" + build
	case "build":
		f.class, f.check = Runs, checkPackages
		f.dash = strings.TrimSpace(build)
	case "vet":
		f.class, f.check = Runs, checkPackages
		f.dash = "json? c=" + build
	default:
		if strings.HasPrefix(args[0].Text, "-") {
			return found{known: true, form: f, why: "go's option " + Quote(args[0].Text) + " is not known to be harmless"}
		}
		return found{}
	}
	out.form = f
	return out
}

// checkPackages: a package at a version is fetched, and a file given by name is
// compiled wherever it lies (which the path guard sees).
func checkPackages(u *usage) string {
	for _, a := range u.operands {
		if strings.Contains(a.Text, "@") {
			return "the package " + Quote(a.Text) + " comes from the network"
		}
	}
	return ""
}

// npmForm: test and the scripts of the project. Not --prefix, -C, --cwd,
// --script-shell, --node-options, --userconfig …, nor their abbreviations; and
// nothing for the script behind --, where options change what it runs.
func npmForm(name string, args []Arg) found {
	if len(args) == 1 && args[0].Literal && asksVersion(name, args[0].Text) {
		return found{known: true, form: form{class: ReadOnly}}
	}
	if len(args) == 0 || !args[0].Literal {
		return found{known: true, form: form{class: Runs}, why: "it has no subcommand"}
	}
	f := form{class: Runs, most: -1, short: "s", long: "silent if-present workspaces ws workspace=", shortArg: "w"}
	switch args[0].Text {
	case "test", "t", "tst":
	case "run", "run-script":
		f.need, f.text = 1, 1
	default:
		if strings.HasPrefix(args[0].Text, "-") {
			return found{known: true, form: f, why: "the option " + Quote(args[0].Text) + " is not known to be harmless"}
		}
		return found{}
	}
	return found{known: true, form: f, rest: args[1:]}
}

// cargoForm: build, check and test. Not --config, --manifest-path,
// --target-dir, -Z, and nothing behind --.
func cargoForm(args []Arg) found {
	if len(args) == 0 || !args[0].Literal {
		return found{known: true, form: form{class: Runs}, why: "it has no subcommand"}
	}
	f := form{
		class: Runs, most: -1, names: true, short: "qvr", shortArg: "pjF",
		long: "release workspace all lib bins tests examples benches all-targets all-features no-default-features features= package= no-run no-fail-fast quiet verbose offline locked frozen jobs= bin= test= message-format= color=",
	}
	switch args[0].Text {
	case "test", "t", "build", "b", "check", "c", "clippy":
		return found{known: true, form: f, rest: args[1:]}
	}
	if strings.HasPrefix(args[0].Text, "-") || strings.HasPrefix(args[0].Text, "+") {
		return found{known: true, form: f, why: "the option " + Quote(args[0].Text) + " is not known to be harmless"}
	}
	return found{}
}

// projectForm: other programs that build and test what is in the directory.
func projectForm(name string) (form, bool) {
	f := form{class: Runs, most: -1}
	switch name {
	case "pytest", "py.test":
		// Not -c, -p, -o, --rootdir, --confcutdir, --basetemp, --junitxml …
		f.short, f.shortArg, f.check = "vqxsl", "kmr", noResponseFiles
		f.long = "verbose quiet exitfirst maxfail= tb= lf last-failed ff failed-first co collect-only durations= no-header showlocals color= strict-markers"
	case "make", "gmake":
		// Not -f, -C, -I, -E, --eval, and no NAME=VALUE, which may be SHELL.
		f.short, f.shortOpt, f.names, f.check = "ksnBw", "j", true, checkTargets
		f.long = "jobs? keep-going silent quiet dry-run always-make no-print-directory"
	default:
		return form{}, false
	}
	return f, true
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
