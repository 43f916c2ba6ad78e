package shellguard

import (
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/pattern"
)

// ownArguments reads the arguments of commands that have a grammar of their own:
// what stands behind -- is for the project's own program, a compiler glues values to
// its letters. False: the tables say what is taken.
func ownArguments(p *Program, name string, words []string, rest []Arg) (why string, ok bool) {
	if key, shift := tableName(name, words); shift > 0 && shift <= len(p.Args) { // uv run pytest
		q := *p
		q.Name = key
		if as := q.with(p.Args[shift:], p.Dirs); as.known {
			if as.fits {
				return "", true
			}
			return whyNot(as), true
		}
		return "", false
	}
	switch {
	case isOneOf(name, "npm yarn pnpm"):
		return scriptArguments(p, name, words)
	case name == "cargo":
		return cargoArguments(p, words, rest)
	case name == "go" && len(p.Args) > 1 && p.Args[0].Text == "run":
		return goRunArguments(p.Args[1:]), true
	case isCompiler(name):
		return refusesCompiler(rest), true
	case name == "cmake" && (len(p.Args) == 0 || p.Args[0].Text != "--build"):
		return refusesCMake(rest), true
	case (name == "mvn" || name == "mvnw") && slices.ContainsFunc(rest, isMavenChoice):
		return refuses(name, words, slices.DeleteFunc(slices.Clone(rest), isMavenChoice)), true
	}
	return "", false
}

// scriptArguments: the rule allows a script of the project, and what follows is for
// that script: it may say which tests, and how much is shown, but name no settings,
// no code and no file to write.
func scriptArguments(p *Program, name string, words []string) (why string, ok bool) {
	if len(p.Args) == 0 || len(words) == 0 {
		return "", false
	}
	at := 1 // where the arguments of the script begin
	switch first := p.Args[0].Text; {
	case first == "run" || first == "run-script":
		at = 2
	case first == "test" || first == "t" || first == "tst" || first == "start":
	case name != "npm" && isOneOf(first, "build lint dev typecheck format check"):
	default:
		return "", false
	}
	if len(p.Args) < at || at == 2 && (len(p.Args) < 2 || strings.HasPrefix(p.Args[1].Text, "-")) {
		return "", false
	}
	cut := slices.IndexFunc(p.Args, func(a Arg) bool { return a.Text == "--" && a.Literal })
	before, after := p.Args[:at], p.Args[at:]
	switch {
	case cut >= at:
		before, after = p.Args[:cut], p.Args[cut+1:]
	case name == "npm":
		return "", false // its own options
	}
	if name != "npm" { // yarn and pnpm hand everything on
		before = p.Args[:at]
		after = slices.DeleteFunc(slices.Clone(p.Args[at:]), func(a Arg) bool { return a.Text == "--" })
	}
	if q := p.with(before, p.Dirs); !q.fits && (q.known || len(before) > len(words)) {
		return whyNot(q), true
	}
	return fitsRow("<script>", after), true
}

// fitsRow holds arguments against a row of taken.txt that is about no program.
func fitsRow(row string, args []Arg) string {
	f, ok := takenTable().of(row)
	if !ok {
		return "nothing is known about it"
	}
	f.names, f.class = true, Runs
	_, why := f.fit(args)
	return why
}

// cargoArguments: behind -- stands what the tests, the linter or the program get.
func cargoArguments(p *Program, words []string, rest []Arg) (why string, ok bool) {
	cut := slices.IndexFunc(p.Args, func(a Arg) bool { return a.Text == "--" && a.Literal })
	if cut < 1 || len(words) == 0 || cut < len(words) {
		return "", false
	}
	before, after := p.Args[:cut], p.Args[cut+1:]
	switch q := p.with(before, p.Dirs); {
	case q.known && !q.fits:
		return whyNot(q), true
	case !q.known:
		at := slices.IndexFunc(rest, func(a Arg) bool { return a.Text == "--" })
		if why := refuses("cargo", words, rest[:max(at, 0)]); why != "" || at < 0 {
			return why, at >= 0
		}
	}
	switch p.Args[0].Text {
	case "test", "t", "bench", "nextest":
		return fitsRow("<libtest>", after), true
	case "clippy":
		return fitsRow("<lints>", after), true
	case "fmt":
		return fitsRow("<rustfmt>", after), true
	case "run", "r":
		return refusesScript(after), true
	}
	return Quote("--") + " may change what is run", true
}

// goRunArguments: options of go, a package of the project, and then what is for
// its program.
func goRunArguments(args []Arg) string {
	f, ok := takenTable().of("go run")
	if !ok {
		return "nothing is known about it"
	}
	_, behind, why := f.read(args, true)
	if why != "" {
		return why
	}
	n := 0
	for n < len(behind) && (n == 0 || strings.HasSuffix(behind[n].Text, ".go")) {
		n++
	}
	if why := checkPackages(&usage{operands: behind[:n]}); why != "" {
		return why
	}
	for _, a := range behind[:n] {
		if a.Glob && !strings.HasPrefix(a.Text, "./") {
			return "nobody knows what " + Quote(a.Text) + " becomes"
		}
	}
	return refusesScript(behind[n:])
}

// mavenChoice: settings of Maven that say which tests are run.
var mavenChoice = pattern.Of(`^-D(test|it\.test|skipTests|skipITs|maven\.test\.skip|failIfNoTests|surefire\.failIfNoSpecifiedTests|maven\.javadoc\.skip)(=[A-Za-z0-9_.,*#+$-]*)?$`)

func isMavenChoice(a Arg) bool { return a.Literal && mavenChoice.MatchString(a.Text) }
