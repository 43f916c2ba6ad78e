package shellguard

import (
	"path"
	"slices"
	"strings"
)

// Match reports whether the rule allows the program.
func (r Rule) Match(p *Program) bool {
	why, _ := r.refusal(p)
	return why == ""
}

// refusal says why the rule does not allow the program; empty if it does. Near: the
// rule is about this very command, and something behind its words speaks against it.
func (r Rule) refusal(p *Program) (why string, near bool) {
	if len(r.Words) == 0 || p.Dynamic || !p.trusted && !p.vouched || p.Builtin {
		return "no rule means it", false
	}
	p = r.asMeant(p)
	name := path.Base(p.Name)
	if strings.Contains(r.Words[0], "/") && p.Path != r.Words[0] || !strings.Contains(r.Words[0], "/") && name != r.Words[0] {
		return "it is another program", false
	}
	if r.Exact {
		switch words := r.Words[1:]; {
		case !beginsWith(p.Args, words):
			return "the words are others", false
		case len(p.Args) > len(words) && !r.Open:
			return Quote(p.Args[len(words)].Text) + " is not in the rule", true
		default:
			return r.covers(p, name, p.Args[len(words):]), true
		}
	}
	if n := len(r.Words) - 1; !r.Open && name == "go" && n > 1 && r.Words[n] == "./..." { // some of them are meant, too
		if why, _ := (Rule{Words: r.Words[:n]}).refusal(p); why == "" {
			return "", true
		}
	}
	why = "the words are others"
	for i, q := range p.spellings() {
		rest, ok := r.behind(name, q.Args)
		if !ok {
			continue
		}
		if i == 0 || !near {
			why, near = r.covers(q, name, rest), true
		} else if r.covers(q, name, rest) == "" {
			why = ""
		}
		if why == "" {
			return "", true
		}
	}
	return why, near
}

// covers looks at what stands behind the words of a rule.
func (r Rule) covers(p *Program, name string, rest []Arg) string {
	words := r.Words[1:]
	for _, a := range rest {
		if !a.Literal && !a.safePattern() {
			return "the argument " + clip(a.Text) + " is not literal"
		}
	}
	if p.fed && obeysInput(name) && !safeSQL(words) {
		return "it takes commands from its input"
	}
	switch {
	case r.Open:
		return takes(p, name, words, rest)
	case len(rest) == 0:
		return ""
	}
	return neutral(p, name, words, rest)
}

// behind finds the words of the rule in the arguments and gives the others. The words
// come first; options that the tables know may stand between them, for programs
// that read those wherever they stand.
func (r Rule) behind(name string, args []Arg) (rest []Arg, ok bool) {
	words := r.Words[1:]
	if beginsWith(args, words) {
		return args[len(words):], true
	}
	from := 0
	switch {
	case isOneOf(name, "git npm pnpm yarn cargo go pip pip3"):
		from = 1 // options before the subcommand are of another kind
	case runsAnything(name) || hasSubcommands(name) || len(words) == 0:
		return nil, false
	}
	if len(args) < from || len(words) < from || !beginsWith(args, words[:from]) {
		return nil, false
	}
	f, known := rowOf(name, words)
	found := from
	for i := from; i < len(args); i++ {
		a := args[i]
		switch {
		case found < len(words) && a.Literal && a.Text == words[found]:
			found++
		case !strings.HasPrefix(a.Text, "-") || a.Text == "--":
			if found < len(words) {
				return nil, false
			}
			rest = append(rest, a)
		case !known:
			return nil, false
		default:
			var u usage
			n, why := f.option(&u, args[i:])
			if why != "" && found < len(words) {
				return nil, false
			}
			rest = append(rest, args[i:i+1+n]...)
			i += n
		}
	}
	return rest, found == len(words)
}

func beginsWith(args []Arg, words []string) bool {
	if len(args) < len(words) {
		return false
	}
	for i, w := range words {
		if !args[i].Literal || args[i].Text != w {
			return false
		}
	}
	return true
}

// rowOf is the row that says which options a command has.
func rowOf(name string, words []string) (form, bool) {
	if f, _, ok := takeForm(name, words, nil); ok {
		return f, true
	}
	found := findForm(name, asArgs(words))
	return found.form, found.known
}

// takes: the * of an open rule takes these arguments; if not, why.
func takes(p *Program, name string, words []string, rest []Arg) string {
	if p.fed && (sendsInput(name) || readsCode(name) && !p.hasScript()) {
		return "it would get its input from the line"
	}
	if len(words) > 0 && runsTargets(name) {
		for _, a := range rest { // "make test" does not allow "make test deploy"
			if !strings.HasPrefix(a.Text, "-") {
				return Quote(a.Text) + " is one more thing to run"
			}
		}
	}
	for _, a := range rest {
		if a.Glob && !takesPattern(name, words, rest, a) {
			return "nobody knows what " + Quote(a.Text) + " becomes"
		}
	}
	if p.known && p.fits {
		return ""
	}
	if len(words) == 0 && everySubcommand(name) != "" {
		return takesSubcommand(p, name, rest)
	}
	if own, ok := ownArguments(p, name, words, rest); ok {
		return own
	}
	if p.known {
		if _, _, ok := takeForm(name, words, rest); !ok {
			return whyNot(p)
		}
	}
	return refuses(name, words, rest)
}

// whyNot is what the form of a program has against its arguments.
func whyNot(p *Program) string {
	if len(p.Why) > 0 {
		return p.Why[0]
	}
	return "its arguments are not known to be harmless"
}

// neutral: a rule without a * takes arguments that cannot change the kind of effect
// of the command: options that say how much is shown, how many at a time, which of
// the project's tests. The rows of neutral.txt say for which commands that is known.
func neutral(p *Program, name string, words []string, rest []Arg) string {
	row, named, ok := neutralRow(name, words)
	if !ok {
		return Quote(rest[0].Text) + " is not in the rule"
	}
	f := row
	if row.open {
		if why := takes(p, name, words, rest); why != "" {
			return why
		}
		if own, ok := ownArguments(p, name, words, rest); ok && own == "" {
			return ""
		}
		f, _ = rowOf(name, words)
	}
	f.names, f.most, f.need = true, -1, 0
	u, _, why := f.read(rest, false)
	if why != "" {
		return why
	}
	// Who named what is meant did not mean other things.
	if own := words[named:]; len(u.operands) > 0 && (!row.operands || len(own) > 0 && !slices.Equal(own, []string{"./..."})) {
		return Quote(u.operands[0].Text) + " is not in the rule"
	}
	if name == "go" {
		for _, a := range u.operands {
			if a.Text != "." && !strings.HasPrefix(a.Text, "./") {
				return Quote(a.Text) + " is not in the project"
			}
		}
	}
	if row.open {
		return ""
	}
	for _, a := range u.operands {
		if a.Glob && !a.safePattern() {
			return "nobody knows what " + Quote(a.Text) + " becomes"
		}
	}
	if f.check != "" {
		return checkOf(f.check)(&u)
	}
	return ""
}

// neutralRow finds the row for the words of a rule, and how many of them name it.
func neutralRow(name string, words []string) (f form, named int, ok bool) {
	key, shift := tableName(name, words)
	for n := min(3, len(words)-shift); n >= 0; n-- {
		if f, ok = neutralTable().of(strings.Join(append([]string{key}, words[shift:shift+n]...), " ")); ok {
			return f, shift + n, true
		}
	}
	return form{}, 0, false
}

// tableName is the name by which tables know a command: npx tsc is tsc, uv run pytest
// is pytest. Shift is how many words of the rule that took.
func tableName(name string, words []string) (key string, shift int) {
	word := func(i int) string {
		if i < len(words) && !strings.HasPrefix(words[i], "-") {
			return words[i]
		}
		return ""
	}
	switch {
	case isOneOf(name, "npx pnpx bunx uvx") && word(0) != "":
		return word(0), 1
	case isOneOf(name, "pnpm yarn npm") && word(0) == "exec" && word(1) != "", isOneOf(name, "uv poetry pipenv rye hatch pdm") && word(0) == "run" && word(1) != "", name == "bundle" && word(0) == "exec" && word(1) != "":
		return word(1), 2
	case strings.HasPrefix(name, "python"):
		return "python", 0
	case name == "yarn" || name == "pnpm":
		return "npm", 0
	}
	return name, 0
}
