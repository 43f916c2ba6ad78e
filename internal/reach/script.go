package reach

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/hostpath"
	"github.com/toolcrib/toolcrib/internal/starter"
)

// programName is the name of a program without what tells its versions apart.
func programName(command string) string {
	name := strings.TrimSuffix(strings.ToLower(filepath.Base(command)), ".exe")
	return strings.TrimRight(name, "0123456789.")
}

// runsWhatFollows: the first of its words that is no option is a script or a
// package that it runs.
func runsWhatFollows(name string) bool {
	return slices.Contains([]string{
		"python", "pypy", "node", "nodejs", "deno", "bun", "ruby", "perl", "php", "lua", "luajit", "java", "tsx", "ts-node", "sh", "bash", "zsh", "dash", "fish", "ksh", "pwsh", "powershell",
		"uv", "go", "dotnet", "rscript", "julia",
	}, name) || runsPackages(name)
}

// runsPackages: what follows is the name of a package or of a program in one,
// unless it is plainly a path.
func runsPackages(name string) bool {
	return slices.Contains([]string{"npx", "uvx", "bunx", "pnpx", "pipx", "npm", "pnpm", "yarn", "nix", "cargo", "poetry", "pdm", "hatch", "rye", "pixi", "conda", "mamba", "micromamba", "bundle"}, name)
}

// wraps: it runs the command line that follows its own words.
func wraps(name string) bool {
	_, ok := starter.Of(name)
	return ok
}

// runsFound: it runs what it finds in the directories that its words name.
func runsFound(name string) bool {
	return slices.Contains([]string{"make", "gmake", "bmake", "just", "task", "ninja", "cmake", "rake", "gradle", "gradlew", "mvn", "mvnw", "ant", "invoke", "tox", "nox", "find", "run-parts", "parallel"}, name)
}

// ofInterpreter: a word before the script tells the interpreter where it finds
// something, unless it says what the script may touch or is a value for it.
func ofInterpreter(word string) bool {
	for _, begin := range []string{"--allow-", "--deny-", "-D"} {
		if strings.HasPrefix(word, begin) {
			return false
		}
	}
	return strings.HasPrefix(word, "-") || !strings.Contains(word, "=")
}

// takesJoined is takesCode for a letter with its value behind it, as -I/lib.
func takesJoined(word string) bool {
	return len(word) > 2 && word[0] == '-' && strings.ContainsRune("/.~$", rune(word[2])) && takesCode(word[:2])
}

// leadsToCode: by this variable programs find code, or settings that name some.
func leadsToCode(name string) bool {
	if strings.HasPrefix(name, "GIT_") { // most of them name the repository that a server is about
		return strings.HasSuffix(name, "PATH") || name == "GIT_TEMPLATE_DIR"
	}
	for _, begin := range []string{"NPM_CONFIG_", "UV_", "PIP_", "JULIA_", "R_LIBS"} {
		if strings.HasPrefix(strings.ToUpper(name), begin) {
			return true
		}
	}
	return strings.HasSuffix(name, "PATH") || hostpath.Leads(name) ||
		slices.Contains([]string{"HOME", "XDG_CONFIG_HOME", "XDG_CONFIG_DIRS", "XDG_DATA_HOME", "XDG_DATA_DIRS", "VIRTUAL_ENV", "CONDA_PREFIX", "CARGO_HOME", "RUSTUP_HOME", "GOROOT", "GOFLAGS", "MAKEFLAGS", "MAKEFILES", "DENO_DIR", "BUN_INSTALL", "PNPM_HOME", "COMPOSER_HOME"}, name)
}

// scriptAt gives the argument that an interpreter runs; -1 if there is none. A
// program that runs another one is looked behind.
func scriptAt(command string, args []string) int {
	name := programName(command)
	if wraps(name) {
		for i, arg := range args {
			inner := programName(arg)
			if strings.HasPrefix(arg, "-") || !runsWhatFollows(inner) && !wraps(inner) {
				continue
			}
			if at := scriptAt(arg, args[i+1:]); at >= 0 {
				return i + 1 + at
			}
			return -1
		}
		return -1
	}
	if !runsWhatFollows(name) {
		return -1
	}
	for i, arg := range args {
		switch {
		case slices.Contains([]string{"-m", "-c", "-e", "-p", "--eval"}, arg) && !runsPackages(name):
			return -1
		case strings.HasPrefix(arg, "-"), slices.Contains([]string{"run", "exec", "dlx", "x", "tool"}, arg):
			continue
		case i > 0 && takesCode(args[i-1]):
			continue
		case runsWhatFollows(programName(arg)) && !strings.ContainsAny(arg, `/\`): // uv run python x.py, npx tsx x.ts
			if at := scriptAt(arg, args[i+1:]); at >= 0 {
				return i + 1 + at
			}
			return -1
		case runsPackages(name) && !relative(arg) && !filepath.IsAbs(arg) && !strings.HasPrefix(arg, "~/"):
			return -1
		}
		return i
	}
	return -1
}

// isText: the argument is code, or a command line in one word, or a variable by
// which programs find code. Where a directory stands there, a program is likely
// to be taken from it; who only works on one gets it as a word of its own.
func isText(args []string, i int) bool {
	name, _, assigned := strings.Cut(args[i], "=")
	return strings.ContainsAny(args[i], " \t\n\"'();&|") && !filepath.IsAbs(args[i]) ||
		i > 0 && slices.Contains([]string{"-c", "-e", "-p", "--eval", "--command"}, args[i-1]) ||
		assigned && leadsToCode(name)
}

// inArgument are the paths that an argument may hold, with the variables in it
// as far as they are known. Where code is taken from it may hold lists of them.
func (o Outside) inArgument(arg string, env map[string]string, base string, leads bool) []string {
	out := pieces(arg)
	if strings.Contains(arg, "$") {
		full := os.Expand(arg, func(word string) string { return o.variable(word, env, base) })
		out = append(out, pieces(full)...)
		// "$HOME"/x is one word to a shell.
		out = append(out, pieces(strings.NewReplacer(`"`, "", "'", "").Replace(full))...)
	}
	if !leads {
		return out
	}
	for _, piece := range slices.Clone(out) {
		if list := filepath.SplitList(piece); len(list) > 1 {
			out = append(out, list...)
		}
	}
	return out
}

// variable is what a shell that a program is puts in the place of a variable.
// One that is not known stays as it is.
func (o Outside) variable(word string, env map[string]string, base string) string {
	name, otherwise := word, ""
	if at := strings.IndexAny(word, ":-=?+%#/^,@"); at > 0 { // ${NAME:-otherwise}
		name = word[:at]
		otherwise = strings.TrimLeft(word[at:], ":-=?+")
	}
	if value, ok := env[name]; ok && value != "" {
		return value
	}
	switch {
	case name == "HOME" && o.Home != "":
		return o.Home
	case name == "PWD":
		return base
	case otherwise != "":
		return otherwise
	}
	return "${" + word + "}"
}
