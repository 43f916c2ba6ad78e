package guard

import (
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/toolname"
)

// certainty is how sure it is that a rule means a call.
type certainty uint8

const (
	no certainty = iota
	maybe
	yes
)

// commandSpec is the specifier of a rule about command lines. A rule that gives
// is a [Rule] of the shell guard: exact about the program and its arguments. A
// rule that takes away reads more into a line: options in between, in another
// order or another spelling do not slip past it, and what is not literal may be
// anything.
type commandSpec struct {
	rule Rule // of an allow

	words []string // patterns: the program, then its operands
	flags []string // its options, wherever they stand
	open  bool     // further operands are meant too
	any   bool     // every command
}

func parseCommandSpec(text string, gives bool) (*commandSpec, error) {
	body := strings.TrimSpace(text)
	if body == "*" || body == ":*" {
		return &commandSpec{any: true}, nil
	}
	c := &commandSpec{}
	if gives {
		var err error
		c.rule, err = ParseRule(body)
		return c, err
	}
	if cut, ok := strings.CutSuffix(body, ":*"); ok {
		body, c.open = cut, true
	} else if cut, ok := strings.CutSuffix(body, " *"); ok {
		body, c.open = strings.TrimSpace(cut), true
	}
	if !isPlain(body) || strings.ContainsAny(body, "\n\t") {
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
	for i, w := range words {
		if i > 0 && len(w) > 1 && w[0] == '-' {
			c.flags = append(c.flags, strings.TrimRight(w, "*"))
			continue
		}
		c.words = append(c.words, w)
	}
	c.words[0] = strings.ToLower(path.Base(c.words[0]))
	return c, nil
}

// program is the name by which such rules are found quickly; empty if it could
// be any.
func (c *commandSpec) program(gives bool) string {
	switch {
	case c.any:
		return ""
	case gives:
		return programName(c.rule.Words[0])
	case strings.ContainsAny(c.words[0], "*?"):
		return ""
	}
	return c.words[0]
}

// may says how sure it is that the rule means the program.
func (c *commandSpec) may(p *Program) certainty {
	if c.any {
		return yes
	}
	if obscure(p) || p.filled {
		return maybe
	}
	if !c.meansProgram(p) {
		if hides(p) {
			return maybe
		}
		return no
	}
	args := p.Args
	if p.Dynamic {
		args = append(slices.Clone(args), Arg{}) // more may come while it runs
	}
	if c.fits(args, false) {
		return yes
	}
	if c.fits(args, true) || programName(p.Name) == "git" && redefined(p) {
		return maybe
	}
	return no
}

// meansProgram: the rule is about a program of this name.
func (c *commandSpec) meansProgram(p *Program) bool {
	return wildWord(c.words[0], programName(p.Name)) || p.Path != "" && wildWord(c.words[0], programName(p.Path))
}

func programName(name string) string { return strings.ToLower(path.Base(name)) }

// obscure: nobody can say which program it is.
func obscure(p *Program) bool {
	return !p.Builtin && (p.Name == "" || !isPlain(p.Name) || strings.ContainsAny(p.Name, "$`*?[{}~\"'\\ "))
}

// hides: it starts what is only known while it runs. What is in a script or a
// program is another matter: rules are about what stands in the line.
func hides(p *Program) bool {
	name := programName(p.Name)
	switch name {
	case "git":
		return gitRuns(p)
	case "eval", "source", ".", "sh", "bash", "dash", "ash", "zsh", "ksh", "mksh", "fish", "rbash":
	default:
		if !isWrapper(name) {
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
	for _, prefix := range []string{"user.", "author.", "committer.", "color.", "advice.", "log.", "core.quotepath", "core.autocrlf", "commit.gpgsign", "tag.gpgsign", "init.defaultbranch", "safe.directory", "http.", "merge.conflictstyle", "diff.renames", "pull.rebase"} {
		if strings.HasPrefix(key, prefix) {
			return true
		}
	}
	return false
}

// fits holds operands and options against the rule. With guess, an argument
// that is not literal may be whatever the rule wants.
func (c *commandSpec) fits(args []Arg, guess bool) bool {
	for _, f := range c.flags {
		if !hasFlag(f, args) && (!guess || !slices.ContainsFunc(args, unsettled)) {
			return false
		}
	}
	// at[i]: the first i operands of the rule were found so far. free: the
	// argument before was an option, so this one may be its value.
	words := c.words[1:]
	at := make([]bool, len(words)+1)
	at[0] = true
	skipStars(at, words)
	free := false
	for _, a := range args {
		next := make([]bool, len(at))
		option := strings.HasPrefix(a.Text, "-") && len(a.Text) > 1
		open := unsettled(a)
		for i, here := range at {
			if !here {
				continue
			}
			if option || free || guess && open || i == len(words) && c.open {
				next[i] = true
			}
			if i < len(words) && (wildWord(words[i], a.Text) && !open || guess && open) {
				next[i+1] = true
			}
			if i < len(words) && words[i] == "*" { // any number of words
				next[i] = true
			}
		}
		skipStars(next, words)
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

// hasFlag reports whether an option was given, in this or another spelling.
func hasFlag(flag string, args []Arg) bool {
	name, _, _ := strings.Cut(strings.TrimLeft(flag, "-"), "=")
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

func longOf(letter string) string {
	switch letter {
	case "r", "R":
		return "recursive"
	case "f":
		return "force"
	}
	return ""
}

func shortOf(long string) string {
	switch long {
	case "recursive":
		return "rR"
	case "force":
		return "f"
	}
	return ""
}

// wildWord matches one word of a command or an argument.
func wildWord(pattern, word string) bool {
	return pattern == word || strings.ContainsAny(pattern, "*?") && toolname.Wild(pattern, word)
}
