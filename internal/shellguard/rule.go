package shellguard

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Rule allows one program with certain arguments, as people write it:
//
//	npm test         these words, and arguments that change nothing about what is done
//	npm run *        these words, and further arguments
//	go test:*        the same as "go test *"
//	=npm test        exactly these words; =npm test * takes more behind them, but not
//	                 by another spelling (npm t, npm --prefix x test)
//
// A rule is about one program, never about a line: in "a && b" each needs its
// own. It matches the program that really runs: the resolved binary in a
// trusted place, past quotes and harmless wrappers (timeout, nice, env with
// harmless variables), never one whose arguments are not literal.
//
// The * takes arguments that do not change what is run. For a program with a
// form (forms.txt) that is what fits the form; for the others it is what the rows of
// taken.txt take, and plain words where there is none. To allow more, write the words out.
// Without a * it is what neutral.txt says: options by which the command still does the
// same kind of thing.
type Rule struct {
	Words []string
	Open  bool // further arguments are taken
	Exact bool // the words stand as they are written, and without Open nothing else
}

// ParseRule reads a rule. It refuses what would be read otherwise than meant:
// a * anywhere but as the last word, shell syntax, and rules that allow
// everything by allowing a program that runs other programs.
func ParseRule(text string) (Rule, error) {
	var r Rule
	bad := func(format string, args ...any) (Rule, error) {
		return Rule{}, fmt.Errorf("reading the command rule %q: %w", text, fmt.Errorf(format, args...))
	}
	body := strings.TrimSpace(text)
	if cut, ok := strings.CutPrefix(body, "="); ok {
		body, r.Exact = strings.TrimSpace(cut), true
	}
	if cut, ok := strings.CutSuffix(body, ":*"); ok {
		body, r.Open = cut, true
	} else if cut, ok := strings.CutSuffix(body, " *"); ok {
		body, r.Open = strings.TrimSpace(cut), true
	}
	if !IsPlain(body) || strings.ContainsAny(body, "\n\t") {
		return bad("only plain text is allowed in a rule")
	}
	words, err := literalWords(body)
	if err != nil {
		return bad("%w", err)
	}
	r.Words = words
	name := words[0]
	switch base := path.Base(name); {
	case strings.Contains(name, "/") && (!path.IsAbs(name) || path.Clean(name) != name):
		return bad("a program is given by its name or by its clean absolute path")
	case isWrapper(base):
		return bad("%s starts other programs: write the rule for the program it starts", base)
	case isBuiltin(base) && !path.IsAbs(name):
		return bad("%s is done by the shell itself; no rule is needed for its harmless forms, and none allows the others", base)
	case r.Open && len(words) == 1 && (runsAnything(base) || anyWay(base)) && everySubcommand(base) == "":
		return bad("%s with any arguments can run anything: say which script or subcommand is meant", base)
	case r.Open && len(words) > 1 && runsAnything(base) && strings.HasPrefix(words[len(words)-1], "-") && !hasRow(base, words[1:]):
		return bad("%s %s takes code or a program next: say which", base, words[len(words)-1])
	}
	return r, nil
}

// ParseRules reads several rules; the error names every bad one.
func ParseRules(texts []string) ([]Rule, error) {
	var rules []Rule
	var errs []error
	for _, t := range texts {
		r, err := ParseRule(t)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		rules = append(rules, r)
	}
	return rules, errors.Join(errs...)
}

// literalWords reads one simple command of literal words.
func literalWords(text string) ([]string, error) {
	f, err := parse(text)
	if err != nil {
		return nil, fmt.Errorf("it is not a command: %w", err)
	}
	if len(f.Stmts) != 1 || len(f.Stmts[0].Redirs) > 0 || f.Stmts[0].Background || f.Stmts[0].Negated {
		return nil, errors.New("it has to be one command without redirections")
	}
	call, ok := f.Stmts[0].Cmd.(*syntax.CallExpr)
	if !ok || len(call.Assigns) > 0 || len(call.Args) == 0 {
		return nil, errors.New("it has to be a program and its arguments")
	}
	w := walker{opt: &Options{}, line: &Line{}, quiet: true}
	var words []string
	for _, word := range call.Args {
		a := w.word(word, scope{})
		if a.Glob {
			return nil, errors.New("a * may only be the last word")
		}
		if !a.Literal || len(w.line.Unknown) > 0 {
			return nil, errors.New("its words have to be literal")
		}
		words = append(words, a.Text)
	}
	return words, nil
}

func (r Rule) String() string {
	out := make([]string, 0, len(r.Words)+1)
	for _, w := range r.Words {
		out = append(out, Quote(w))
	}
	if r.Open {
		out = append(out, "*")
	}
	if r.Exact {
		out[0] = "=" + out[0]
	}
	return strings.Join(out, " ")
}

// hasRow: the table knows this very command, with the option that it ends in.
func hasRow(name string, words []string) bool {
	_, ok := takenTable()[name+" "+strings.Join(words, " ")]
	return ok
}

func isWrapper(name string) bool {
	if _, ok := wrapperOf(name); ok {
		return true
	}
	return isOneOf(name, "env xargs parallel su runuser watch script flock busybox toybox ssh")
}

// runsTargets: programs for which each further word is one more thing to run.
func runsTargets(name string) bool {
	return isOneOf(name, "make gmake bmake ninja just rake task ant mage")
}

// anyWay: programs that can be told to run another one, or to overwrite any
// file, by words that do not look like options.
func anyWay(name string) bool {
	return isOneOf(name, "tar bsdtar gtar ar dd ip split zip unzip cpio rsync install")
}

// runsAnything: programs whose arguments are code or name a program.
func runsAnything(name string) bool {
	switch name {
	case "sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish", "csh", "tcsh", "rbash", "python", "python2", "python3", "pypy", "pypy3", "perl", "ruby", "irb", "node", "nodejs", "deno", "bun",
		"php", "lua", "luajit", "tclsh", "wish", "expect", "guile", "ghci", "Rscript", "R", "julia", "osascript", "pwsh", "npx", "pnpx", "bunx", "uvx", "pipx", "uv", "poetry", "bundle",
		"docker", "podman", "nerdctl", "kubectl", "git", "npm", "yarn", "pnpm", "cargo", "go", "vi", "vim", "nvim", "ex", "ed", "emacs", "nano", "less", "more", "man", "tmux", "screen",
		"psql", "mysql", "sqlite3", "mongo", "redis-cli", "gdb", "lldb", "m4", "dc", "ansible", "vagrant", "systemctl", "crontab", "at", "batch", "rustup", "nix", "nix-shell", "conda", "ld.so", "openssl", "socat", "nc", "ncat":
		return true
	}
	return strings.HasPrefix(name, "python") || strings.HasPrefix(name, "ld-linux")
}
