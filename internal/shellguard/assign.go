package shellguard

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// assigns judges the assignments before a command, or those that stand alone.
// Variables change what programs do, in ways nobody can list (PATH, LD_PRELOAD,
// IFS, BASH_ENV, GIT_*, PAGER, RIPGREP_CONFIG_PATH, GOFLAGS …), so the list is
// of the ones that do not.
func (w *walker) assigns(list []*syntax.Assign, sc scope) {
	for _, a := range list {
		if a.Array != nil || a.Append || a.Index != nil || a.Name == nil {
			w.line.unusual("it has an assignment that only bash knows")
			w.line.vague = w.line.vague || a.Name == nil || !tameVariable(a.Name.Value)
			w.substitutionsIn(a, sc)
			continue
		}
		value := Arg{Literal: true}
		if a.Value != nil {
			value = w.word(a.Value, sc)
		}
		if len(w.line.assigned) < maxNames {
			w.line.assigned = append(w.line.assigned, value.texts()...)
		}
		if runsVariable(a.Name.Value) {
			for _, t := range value.texts() { // many a program runs what its variables say
				if strings.ContainsAny(t, " \t$`") {
					w.maybeScript(strings.TrimLeft(t, "|!"), sc)
				}
				if strings.HasSuffix(a.Name.Value, "MAKEFLAGS") {
					w.recipes(t, sc)
				}
				if a.Name.Value == "BASH_ENV" && value.file != nil {
					for _, code := range value.file.texts() {
						w.maybeScript(code, sc)
					}
				}
			}
		}
		if strings.HasPrefix(a.Name.Value, "GIT_CONFIG_KEY_") || a.Name.Value == "GIT_CONFIG_PARAMETERS" {
			for _, t := range value.texts() {
				if k := strings.ToLower(strings.Trim(t, "'")); !strings.HasPrefix(k, "http.") && !strings.HasPrefix(k, "user.") && !strings.HasPrefix(k, "safe.") && !strings.HasPrefix(k, "credential.") && !strings.HasPrefix(k, "url.") {
					w.line.floor = append(w.line.floor, "a setting of git in a variable decides what it does")
				}
			}
		}
		if value.Glob { // an assignment is not a pattern
			value.Literal = true
		}
		if !value.Literal {
			w.line.unusual("it sets %s to something that is not literal", a.Name.Value)
			w.line.vague = w.line.vague || !tameVariable(a.Name.Value)
			continue
		}
		if !harmlessVariable(a.Name.Value, value.Text) {
			w.line.unusual("it sets %s", Quote(a.Name.Value+"="+value.Text))
			w.line.vague = w.line.vague || !tameVariable(a.Name.Value)
		}
	}
}

// harmlessVariable knows the variables that only change how things look, with
// the values that are plain words.
func harmlessVariable(name, value string) bool {
	switch name {
	case "LC_ALL", "LANG", "LC_CTYPE", "LC_COLLATE", "LC_NUMERIC", "LC_TIME", "LC_MESSAGES":
		// A shell that is told another character set reads the rest of the
		// line by it.
		return value == "C" || value == "POSIX" || strings.HasSuffix(value, ".UTF-8") && isWord(value) || strings.HasSuffix(value, ".utf8") && isWord(value)
	case "TZ":
		return isZone(value)
	case "NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "CI", "COLUMNS", "LINES", "CGO_ENABLED",
		"NODE_ENV", "RAILS_ENV", "RACK_ENV", "APP_ENV", "FLASK_ENV", "MIX_ENV", "GOMAXPROCS", "GOGC", "RUST_BACKTRACE", "RUST_TEST_THREADS",
		"PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE", "PYTHONHASHSEED", "PYTHONUTF8", "LOG_LEVEL", "LOGLEVEL", "VERBOSE", "SOURCE_DATE_EPOCH":
		return isWord(value) || value == ""
	case "TERM":
		return value == "dumb" || value == "xterm" || value == "xterm-256color" || value == "linux"
	case "GIT_PAGER", "PAGER", "MANPAGER":
		return value == "cat"
	case "GIT_OPTIONAL_LOCKS", "GIT_TERMINAL_PROMPT":
		return value == "0"
	}
	return false
}

// tameVariable knows the variables that make no program load or run a file,
// whatever they say: those that everybody knows, and the names that people give
// to variables of their own. What is not among them may be the next BASH_ENV.
func tameVariable(name string) bool {
	switch name {
	case "LANG", "LC_ALL", "TZ", "TERM", "NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS", "LINES", "CI",
		"DEBUG", "VERBOSE", "V", "LOG_LEVEL", "LOGLEVEL", "PORT", "HOST", "JOBS", "NODE_ENV", "RAILS_ENV", "RACK_ENV", "APP_ENV", "FLASK_ENV", "FLASK_DEBUG",
		"MIX_ENV", "GOOS", "GOARCH", "GOARM", "CGO_ENABLED", "GOMAXPROCS", "GOGC", "RUST_BACKTRACE", "RUST_LOG", "RUST_TEST_THREADS",
		"PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE", "PYTHONHASHSEED", "PYTHONUTF8", "PYTHONIOENCODING", "DEBIAN_FRONTEND",
		"DATABASE_URL", "REDIS_URL", "TEST_DATABASE_URL", "GIT_OPTIONAL_LOCKS", "GIT_TERMINAL_PROMPT", "SOURCE_DATE_EPOCH":
		return true
	}
	own := strings.ReplaceAll(name, "_", "")
	return len(name) == 1 && name != "_" || harmlessLoopName(own) && !strings.HasPrefix(name, "_") && !strings.Contains(own, "npm") && !strings.Contains(own, "yarn") // npm_config_script_shell
}

// tameDeclaration: export and its like, of such variables.
func tameDeclaration(c *syntax.DeclClause) bool {
	return !slices.ContainsFunc(c.Args, func(a *syntax.Assign) bool { return a.Name == nil || !tameVariable(a.Name.Value) })
}

// setsUntamed reports whether a program sets variables that are not tame in
// another way than by an assignment: read, env, printf -v and the like.
func setsUntamed(p *Program, name string) bool {
	switch name {
	case "read", "getopts", "mapfile", "readarray", "export", "declare", "typeset", "readonly", "local", "let":
		for _, a := range p.Args {
			of, _, _ := strings.Cut(a.Text, "=")
			if !a.Literal || !strings.HasPrefix(of, "-") && isAssignment(of+"=") && !tameVariable(of) {
				return true
			}
		}
	case "printf":
		return slices.ContainsFunc(p.Args, func(a Arg) bool { return strings.HasPrefix(a.Text, "-") }) || len(p.Args) > 0 && !p.Args[0].Literal && !p.Args[0].Glob
	case "hash", "enable", "bind", "complete", "compgen":
		return len(p.Args) > 0
	case "env", "sudo", "doas", "sem", "parallel", "run0", "pkexec", "systemd-run", "docker", "podman":
		for _, a := range p.Args {
			of, value, ok := strings.Cut(a.Text, "=")
			if ok && isAssignment(of+"=") && !tameVariable(of) && !(a.Literal && harmlessVariable(of, value)) {
				return true
			}
		}
	}
	return false
}

// isWord: letters, digits, _ . @ - and nothing that a path needs.
func isWord(s string) bool {
	for i := range len(s) {
		c := s[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && strings.IndexByte("_.@-", c) < 0 {
			return false
		}
	}
	return s != "" && s[0] != '.' && s[0] != '-'
}

func isZone(s string) bool {
	for part := range strings.SplitSeq(s, "/") {
		if !isWord(strings.ReplaceAll(part, "+", "-")) {
			return false
		}
	}
	return strings.Count(s, "/") <= 2
}

// harmlessLoopName: a loop sets its variable, and "for PATH in ." is a way to
// set PATH. Variables that mean something to shells are upper case or have an
// underscore.
func harmlessLoopName(name string) bool {
	for i := range len(name) {
		if c := name[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return false
		}
	}
	return name != "" && name != "histchars" && name != "path" && name != "cdpath" && name != "fpath"
}

// runsVariable: programs run what stands in such a variable.
func runsVariable(name string) bool {
	if len(name) == 3 && strings.HasPrefix(name, "PS") {
		return true
	}
	return slices.ContainsFunc([]string{"COMMAND", "EDITOR", "PAGER", "VISUAL", "BROWSER", "ASKPASS", "LESS", "ENV", "SHELL", "GIT_", "SSH", "DIFF", "HOOK", "OPT", "FLAGS", "CC", "CXX", "PROXY", "RUNNER", "WRAPPER", "LINKER", "EXEC", "LAUNCHER"}, func(part string) bool { return strings.Contains(name, part) })
}
