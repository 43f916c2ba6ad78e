package named

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/toolcrib/toolcrib/internal/starter"
)

// call looks at one command. Read gives what it reads, from a file or from another;
// only interpreters are asked for it.
func (f *scriptFollower) call(c *syntax.CallExpr, read func() []string) {
	if f.left--; f.left < 0 || len(c.Args) == 0 {
		return
	}
	args, most := make([][]string, 0, len(c.Args)), 1
	for _, w := range c.Args {
		values := f.values(w)
		if len(values) == 0 {
			values = []string{unknown}
		}
		args, most = append(args, values), max(most, len(values))
	}
	for n := range most {
		words := make([]string, len(args))
		for i, values := range args {
			words[i] = values[min(n, len(values)-1)]
		}
		if f.command(words, read) {
			for _, w := range c.Args { // eval "$(cat x)", source <(cat x)
				f.within(w)
			}
		}
	}
}

// within notes the files whose text becomes code by what stands in a word.
func (f *scriptFollower) within(w *syntax.Word) {
	f.each(w, func(n syntax.Node) {
		var list []*syntax.Stmt
		switch n := n.(type) {
		case *syntax.CmdSubst:
			list = n.Stmts
		case *syntax.ProcSubst:
			list = n.Stmts
		}
		for _, s := range list {
			f.code(f.printed(s)...)
		}
	})
}

// command looks at the words of one command. It tells whether what is in them, or
// what it reads, is code.
func (f *scriptFollower) command(words []string, read func() []string) bool {
	for len(words) > 0 {
		name := programName(words[0])
		rest := words[1:]
		known, starts := starter.Of(name)
		switch {
		case name == "command" && len(rest) > 0 && strings.HasPrefix(rest[0], "-"): // it asks
			return false
		case starts:
			words = f.behind(name, rest, known)
			continue
		case name == "[" || name == "[[" || name == "test":
		case name == "cd" || name == "pushd":
			for _, w := range rest {
				if !strings.HasPrefix(w, "-") {
					f.cd(f.resolve(w))
				}
			}
		case name == "PATH_add" || name == "path_add" || name == "MANPATH_add":
			f.addPath(rest)
		case name == "load_prefix":
			for _, dir := range rest {
				f.addPath([]string{dir + "/bin"})
			}
		case name == "eval":
			f.text(rest...)
			return true
		case name == "trap":
			f.text(rest[:min(1, len(rest))]...)
		case name == "." || sourcesNext(name):
			f.code(rest[:min(1, len(rest))]...)
			return true
		case name == "find" || name == "fd":
			if i := slices.IndexFunc(rest, func(w string) bool {
				return slices.Contains([]string{"-exec", "-execdir", "-ok", "-okdir", "-x", "-X"}, w)
			}); i >= 0 {
				words = rest[i+1:]
				continue
			}
		case isInterpreter(name):
			f.interpreter(name, rest, read)
			return true
		case runsOthers(name):
			words = nextRun(rest)
			continue
		case f.functions[name]:
			for i, w := range rest[:min(len(rest), 9)] {
				f.set(string(rune('1'+i)), []string{w})
				f.set("@", []string{w})
			}
		case strings.Contains(words[0], "/"):
			f.code(words[0])
		case words[0] != unknown:
			for _, dir := range f.path {
				f.code(dir + "/" + words[0])
			}
		}
		return false
	}
	return false
}

// behind gives what a starter starts.
func (f *scriptFollower) behind(name string, words []string, s starter.Starter) []string {
	for i := 0; i < len(words); i++ {
		word := words[i]
		value := ""
		if i+1 < len(words) {
			value = words[i+1]
		}
		switch {
		case word == "--":
			return words[min(i+1+s.Operands, len(words)):]
		case (name == "env" || name == "sudo") && (word == "-C" || word == "-D" || word == "--chdir"):
			f.cd(f.resolve(value))
			i++
		case (name == "su" || name == "runuser" || name == "script" || name == "flock") && (word == "-c" || word == "--command"), name == "env" && (word == "-S" || word == "--split-string"):
			f.text(value)
			return nil
		case strings.HasPrefix(word, "--"):
		case strings.HasPrefix(word, "-") && len(word) > 1:
			if len(word) == 2 && strings.Contains(s.Letters, word[1:]) {
				i++
			}
		case strings.Contains(textBefore(word, "/"), "="):
			if path, ok := strings.CutPrefix(word, "PATH="); ok {
				f.addPath(strings.Split(path, ":"))
			}
		default:
			return words[min(i+s.Operands, len(words)):]
		}
	}
	return nil
}

// interpreter notes what an interpreter reads.
func (f *scriptFollower) interpreter(name string, words []string, read func() []string) {
	if starter.IsShell(name) {
		for i, w := range words {
			if !strings.HasPrefix(w, "-") && !strings.HasPrefix(w, "+") {
				break
			}
			if !strings.HasPrefix(w, "--") && strings.HasSuffix(w, "c") && i+1 < len(words) {
				f.text(words[i+1])
				return
			}
		}
	}
	found := scripts(name, words)
	f.code(found...)
	if last := len(found) - 1; last < 0 || found[last] == "-" || found[last] == "/dev/stdin" {
		f.code(read()...)
	}
}

// runsOthers: behind a word such as run or exec stands what it runs.
func runsOthers(name string) bool {
	return slices.Contains([]string{"npx", "npm", "pnpm", "pnpx", "yarn", "bunx", "uv", "uvx", "poetry", "pipenv", "pdm", "hatch", "rye", "pixi", "conda", "bundle", "devbox", "nix", "nix-shell", "retry", "husky_run"}, name)
}

// nextRun gives what follows: an interpreter with its words, or a path.
func nextRun(words []string) []string {
	meant := false // the next word is what is run
	for i, w := range words {
		switch {
		case isInterpreter(programName(w)):
			return words[i:]
		case strings.HasPrefix(w, "-"):
		case meant && (strings.HasPrefix(w, "./") || IsCode(w)):
			if !strings.Contains(w, "/") {
				w = "./" + w
			}
			return []string{w}
		default:
			meant = slices.Contains([]string{"run", "exec", "x", "dlx"}, w)
		}
	}
	return nil
}
