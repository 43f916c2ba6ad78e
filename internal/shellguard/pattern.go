package shellguard

import (
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/starter"
	"github.com/toolcrib/toolcrib/internal/toolname"
)

// Certainty is how sure it is that a rule means a call.
type Certainty uint8

// The certainties.
const (
	No Certainty = iota
	Maybe
	Yes
)

// Pattern is what a rule about command lines says in its brackets. A rule that gives
// is a [Rule] of the shell guard: exact about the program and its arguments. A
// rule that takes away reads more into a line: options in between, in another
// order or another spelling do not slip past it, and what is not literal may be
// anything.
type Pattern struct {
	Rule Rule // of an allow

	words []string // patterns: the program, then its operands
	flags []string // its options, wherever they stand
	pairs []pair   // its options with their values, wherever they stand
	open  bool     // further operands are meant too
	Any   bool     // every command
	path  string   // of a script: all that the rule says of where it lies

	others []*Pattern // the rule read in other ways
}

// pair is an option and its value.
type pair struct{ flag, value string }

// ParsePattern reads a pattern. Gives: it is of a rule that allows, which means
// less.
func ParsePattern(text string, gives bool) (*Pattern, error) {
	body := strings.TrimSpace(text)
	if body == "*" || body == ":*" {
		return &Pattern{Any: true}, nil
	}
	c := &Pattern{}
	if gives {
		var err error
		c.Rule, err = ParseRule(body)
		return c, err
	}
	// Exact is for what is allowed: what is taken away is meant under every name.
	body = strings.TrimSpace(strings.TrimPrefix(body, "="))
	if cut, ok := strings.CutSuffix(body, ":*"); ok {
		body, c.open = cut, true
	} else if cut, ok := strings.CutSuffix(body, " *"); ok {
		body, c.open = strings.TrimSpace(cut), true
	}
	if !IsPlain(body) || strings.ContainsAny(body, "\n\t") {
		return nil, errors.New("only plain text is allowed in a rule about commands")
	}
	words, err := literalWords(body)
	if err != nil {
		if strings.ContainsAny(body, "\"'`\\$&|;<>(){}[]") {
			return nil, errors.New("it has to be one program and its arguments; * and ? stand for any text")
		}
		words = strings.Fields(body)
	}
	if len(words) == 0 {
		return nil, errors.New("it names no command")
	}
	if last := words[len(words)-1]; strings.HasSuffix(last, "*") {
		c.open = true // "npm run test*" takes what follows too
	}
	c.set(words)
	c.otherReadings(words)
	return c, nil
}

// set puts the words of the rule where they belong.
func (c *Pattern) set(words []string) {
	for i, w := range words {
		if i > 0 && len(w) > 1 && w[0] == '-' {
			c.flags = append(c.flags, strings.TrimRight(w, "*"))
			continue
		}
		c.words = append(c.words, w)
	}
	if strings.Contains(c.words[0], "/") {
		c.path = strings.ToLower(strings.TrimPrefix(path.Clean(c.words[0]), "/"))
	}
	c.words[0] = programName(c.words[0])
}

// otherReadings: by the usual names of its words, by the script that it runs,
// and with each word behind an option as the value of that option.
func (c *Pattern) otherReadings(words []string) {
	add := func(words []string, values bool) {
		o := &Pattern{open: c.open}
		if values {
			var rest []string
			for i := 0; i < len(words); i++ {
				if w := words[i]; i > 0 && len(w) > 1 && w[0] == '-' && w != "--" && i+1 < len(words) && words[i+1] != "" && words[i+1][0] != '-' {
					o.pairs = append(o.pairs, pair{w, strings.ToLower(words[i+1])})
					i++
					continue
				}
				rest = append(rest, words[i])
			}
			if words = rest; len(o.pairs) == 0 {
				return
			}
		}
		o.set(words)
		c.others = append(c.others, o)
	}
	add(words, true)
	args := asArgs(words[1:])
	texts := func(first string, args []Arg) []string { return append([]string{first}, argTexts(args)...) }
	if script, rest, ok := scriptOf(programName(words[0]), args); ok {
		add(texts(script, rest), false)
	}
	if name, rest, ok := usualForm(programName(words[0]), args); ok && !strings.ContainsAny(words[0], "*?") {
		add(texts(name, rest), false)
		add(texts(name, rest), true)
	}
	for _, same := range otherPrograms(words) {
		add(same, false)
		add(same, true)
	}
}

// otherPrograms are commands of other programs that do the very same as the one of
// a rule. Not what only does alike: who denies npm install may want pnpm install.
func otherPrograms(words []string) [][]string {
	name, args, _ := usualForm(programName(words[0]), asArgs(words[1:]))
	var rest []string
	sub, at := "", operandAt(args)
	for i, a := range args {
		if i == at {
			sub = a.Text
		} else {
			rest = append(rest, a.Text)
		}
	}
	as := func(words ...string) []string { return append(words, rest...) }
	switch {
	case name == "npx":
		return [][]string{append([]string{"npm", "exec"}, words[1:]...)}
	case name != "npm":
		return nil
	}
	switch sub {
	case "exec":
		return [][]string{as("npx")}
	case "run":
		return [][]string{as("node", "--run")}
	case "test", "start":
		return [][]string{as("node", "--run", sub)}
	case "publish":
		return [][]string{as("yarn", "publish"), as("yarn", "npm", "publish"), as("pnpm", "publish"), as("bun", "publish")}
	}
	return nil
}

// Programs are the names by which such rules are found quickly; none if it could
// be any.
func (c *Pattern) Programs(gives bool) []string {
	switch {
	case c.Any:
		return nil
	case gives:
		return c.Rule.programs()
	}
	var out []string
	for _, o := range append([]*Pattern{c}, c.others...) {
		if strings.ContainsAny(o.words[0], "*?") {
			return nil
		}
		out = append(out, o.words[0])
	}
	return out
}

// NamesFile reports whether it says where the program lies, as for a script.
func (c *Pattern) NamesFile() bool { return c.path != "" }

// may says how sure it is that the rule means the program.
func (c *Pattern) may(p *Program) Certainty {
	if c.Any {
		return Yes
	}
	if obscure(p) || p.filled {
		return Maybe
	}
	args := p.Args
	if p.Dynamic {
		args = append(slices.Clone(args), Arg{}) // more may come while it runs
	}
	ways := p.readings(args)
	sure := No
	for _, o := range append([]*Pattern{c}, c.others...) {
		for i := range ways {
			if !ways[i].matches(o) {
				continue
			}
			if o.fits(ways[i].args, false) {
				return Yes
			}
			if o.fits(ways[i].args, true) || ways[i].name == "git" && !strings.HasPrefix(ways[0].name, "git-") && redefined(p) {
				sure = Maybe
			}
		}
	}
	if sure == No && hides(p) && !c.meansProgram(p) {
		return Maybe
	}
	return sure
}

// readings lists the ways to read a program; see readings.
func (p *Program) readings(args []Arg) []commandReading {
	out := readings(p.Name, args, p.Dirs)
	if binary := programName(p.Path); p.Path != "" && binary != out[0].name {
		out = append(out, commandReading{name: binary, args: args})
	}
	for _, to := range p.linked {
		rest := args
		if _, behind, ok := scriptOf(out[0].name, args); ok && !strings.Contains(p.Name, "/") {
			rest = behind
		}
		out = append(out, commandReading{name: programName(to), args: rest, dirs: []string{"/"}, script: to})
	}
	return out
}

// meansProgram: the rule is about a program of this name.
func (c *Pattern) meansProgram(p *Program) bool {
	ways := p.readings(p.Args)
	return slices.ContainsFunc(append([]*Pattern{c}, c.others...), func(o *Pattern) bool {
		return slices.ContainsFunc(ways, func(r commandReading) bool { return r.matches(o) })
	})
}

func programName(name string) string { return strings.ToLower(path.Base(name)) }

// obscure: nobody can say which program it is.
func obscure(p *Program) bool {
	return !p.Builtin && (p.Name == "" || !IsPlain(p.Name) || strings.ContainsAny(p.Name, "$`*?[{}~\"'\\ "))
}

// hides: it starts what is only known while it runs. What is in a script or a
// program is another matter: rules are about what stands in the line.
func hides(p *Program) bool {
	name := programName(p.Name)
	switch name {
	case "git":
		return gitRuns(p)
	case "eval", "source", ".":
	default:
		if !starter.IsShell(name) && !isWrapper(name) {
			return false
		}
	}
	return slices.ContainsFunc(p.Args, unsettled)
}

// gitRuns: it starts programs that stand in its arguments.
func gitRuns(p *Program) bool {
	return slices.ContainsFunc(p.Args, func(a Arg) bool {
		switch a.Text {
		case "bisect":
			return p.word("run")
		case "rebase":
			return p.flag("x", "exec")
		case "submodule":
			return p.word("foreach")
		case "filter-branch", "difftool", "mergetool", "hook", "send-email", "for-each-repo":
			return true
		}
		return !a.Literal
	})
}

// redefined: a word after git may mean another subcommand than it says.
func redefined(p *Program) bool {
	for i, a := range p.Args {
		if strings.HasPrefix(a.Text, "-c") && !(a.Text == "-c" && i+1 < len(p.Args) && plainSetting(p.Args[i+1].Text)) {
			return true
		}
	}
	return p.Class == Unknown || gitRuns(p) || slices.ContainsFunc(p.Args, func(a Arg) bool {
		return strings.HasPrefix(a.Text, "--config-env") || strings.HasPrefix(a.Text, "--exec-path")
	})
}

// plainSetting: a setting of git that changes what is written or shown, and no
// program.
func plainSetting(setting string) bool {
	key, _, _ := strings.Cut(strings.ToLower(setting), "=")
	return slices.ContainsFunc([]string{"user.", "author.", "committer.", "color.", "advice.", "log.", "core.quotepath", "core.autocrlf", "commit.gpgsign", "tag.gpgsign", "init.defaultbranch", "safe.directory", "http.", "merge.conflictstyle", "diff.renames", "pull.rebase"}, func(begin string) bool { return strings.HasPrefix(key, begin) })
}

// fits holds operands and options against the rule. With guess, an argument
// that is not literal may be whatever the rule wants.
func (c *Pattern) fits(args []Arg, guess bool) bool {
	for _, f := range c.flags {
		if !hasFlag(f, args) && (!guess || !slices.ContainsFunc(args, unsettled)) {
			return false
		}
	}
	for _, f := range c.pairs {
		if !hasPair(f, args) && (!guess || !slices.ContainsFunc(args, unsettled)) {
			return false
		}
	}
	// at[i]: the first i operands of the rule were found so far. free: the
	// argument before was an option, so this one may be its value.
	words := c.words[1:]
	at := make([]bool, len(words)+1)
	at[0] = true
	skipStars(at, words)
	free, targets, before := false, eachWord(c.words[0]), ""
	for _, a := range args {
		next := make([]bool, len(at))
		option := strings.HasPrefix(a.Text, "-") && len(a.Text) > 1
		open, value := unsettled(a), free && namesPlace(before)
		for i, here := range at {
			if !here {
				continue
			}
			if option || free || guess && open || i == len(words) && c.open || targets && len(words) > 0 {
				next[i] = true
			}
			if i < len(words) && (wildWord(words[i], a.Text) && !open && !(targets && value) || guess && open) {
				next[i+1] = true
			}
			if i < len(words) && words[i] == "*" { // any number of words
				next[i] = true
			}
		}
		skipStars(next, words)
		before = a.Text
		at, free = next, option && a.Text != "--" && !strings.Contains(a.Text, "=")
	}
	return at[len(words)] || guess && slices.Contains(at, true) && len(args) > 0 && unsettled(args[len(args)-1])
}

// skipStars: a * may stand for no word at all.
func skipStars(at []bool, words []string) {
	for i, w := range words {
		at[i+1] = at[i+1] || at[i] && w == "*"
	}
}

// unsettled: what the program gets is not what stands there.
func unsettled(a Arg) bool { return !a.Literal }

// wildWord matches one word of a command or an argument.
func wildWord(pattern, word string) bool {
	return pattern == word || strings.ContainsAny(pattern, "*?") && toolname.Wild(pattern, word)
}
