package shellguard

import (
	"path"
	"slices"
	"strings"
)

// A rule that allows means the command also where it is told in which directory to
// work ("make -C docs html" is "cd docs && make html"), and by the names that package
// managers have for the same thing.

// spellings are the ways to write the command; the first is what stands there.
func (p *Program) spellings() []*Program {
	out := []*Program{p}
	if q := p.elsewhere(); q != nil {
		out = append(out, q)
	}
	for _, q := range slices.Clone(out) {
		if args := sameCommand(path.Base(q.Name), q.Args); args != nil {
			out = append(out, q.with(args, q.Dirs))
		}
	}
	return out
}

// with is the program with other arguments, judged anew.
func (p *Program) with(args []Arg, dirs []string) *Program {
	q := *p
	q.Args, q.Dirs, q.Why, q.Paths, q.repoDirs, q.known, q.fits = args, dirs, nil, nil, nil, false, false
	judge(&q, path.Base(q.Name))
	return &q
}

// elsewhere is the command as it is read in the directory that it is sent to; nil if
// it is sent nowhere.
func (p *Program) elsewhere() *Program {
	switch path.Base(p.Name) {
	case "git", "make", "gmake", "go":
	default: // npm --prefix takes up the settings of that directory as well
		return nil
	}
	dir, args := "", p.Args
	if len(args) > 1 && args[0].Literal && args[1].Literal && args[0].Text == "-C" {
		dir, args = args[1].Text, args[2:]
	}
	if dir == "" || strings.HasPrefix(dir, "-") || len(args) == 0 || strings.HasPrefix(args[0].Text, "-") {
		return nil
	}
	var dirs []string
	for _, d := range p.Dirs {
		dirs = append(dirs, Path{Dir: d, Text: dir}.Full())
	}
	return p.with(args, dirs)
}

// sameCommand is another way to say what npm and its like are told; nil if there is
// none.
func sameCommand(name string, args []Arg) []Arg {
	if len(args) == 0 || !args[0].Literal || !isOneOf(name, "npm yarn pnpm") {
		return nil
	}
	word := func(text string) Arg { return Arg{Text: text, Literal: true} }
	is := func(i int, words string) bool {
		return i < len(args) && args[i].Literal && isOneOf(args[i].Text, words)
	}
	const scripts = "test build lint start dev typecheck format check"
	switch {
	case name == "npm" && is(0, "i add"), name == "pnpm" && is(0, "i"):
		return append([]Arg{word("install")}, args[1:]...)
	case name == "npm" && is(0, "t tst"):
		return append([]Arg{word("test")}, args[1:]...)
	case name == "npm" && is(0, "run run-script") && is(1, "test start"):
		return args[1:]
	case name != "npm" && is(0, scripts):
		return append([]Arg{word("run")}, args...)
	case name != "npm" && is(0, "run") && is(1, scripts):
		return args[1:]
	}
	return nil
}

// Tools that are the same whoever starts them.
const (
	pythonTools = "pytest mypy black isort flake8 ruff unittest"
	nodeTools   = "tsc eslint prettier jest vitest mocha"
)

// programs are the names of the programs that the rule may mean.
func (r Rule) programs() []string {
	out := []string{programName(r.Words[0])}
	switch {
	case r.Exact:
	case isOneOf(r.Words[0], pythonTools):
		out = append(out, "python", "python3")
	case r.Words[0] == "npx" && len(r.Words) > 1 && isOneOf(r.Words[1], nodeTools):
		out = append(out, r.Words[1], "pnpm", "npm", "yarn")
	}
	return out
}

// asMeant is the program as the rule calls it, where another one starts the same tool:
// python -m pytest is pytest, tsc and pnpm exec tsc are npx tsc.
func (r Rule) asMeant(p *Program) *Program {
	name := path.Base(p.Name)
	if r.Exact || name == r.Words[0] {
		return p
	}
	as := func(name string, args []Arg) *Program {
		q := *p
		q.Name = name
		return q.with(args, p.Dirs)
	}
	first := func(i int, text string) bool { return i < len(p.Args) && p.Args[i].Literal && p.Args[i].Text == text }
	switch {
	case (name == "python" || name == "python3") && isOneOf(r.Words[0], pythonTools) && first(0, "-m") && first(1, r.Words[0]):
		return as(r.Words[0], p.Args[2:])
	case r.Words[0] != "npx" || len(r.Words) < 2 || !isOneOf(r.Words[1], nodeTools):
	case name == r.Words[1]:
		return as("npx", append([]Arg{{Text: name, Literal: true}}, p.Args...))
	case (name == "pnpm" || name == "npm") && first(0, "exec") && first(1, r.Words[1]):
		return as("npx", p.Args[1:])
	case name == "yarn" && first(0, r.Words[1]):
		return as("npx", p.Args)
	}
	return p
}
