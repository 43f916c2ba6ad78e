package shellguard

import (
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/pattern"
)

// noteRuns notes which files a program may run.
func (w *walker) noteRuns(p *Program, name string, sc scope) {
	if w.saved == nil || w.quiet || len(w.saved.runs) >= maxNames {
		return
	}
	r := run{by: p.Name, files: runsByItself(name, p.Args)}
	if !p.Builtin {
		r.files = append(r.files, fileKey(p.Name))
	}
	if (readsCode(name) && !p.hasScript() || p.takesCommands(name)) && sc.from != "" {
		r.files = append(r.files, fileKey(sc.from))
	}
	if name == "eval" && slices.ContainsFunc(p.Args, func(a Arg) bool { return !a.Literal }) {
		r.files = append(r.files, printed)
	}
	if installer(name) || name == "parallel" {
		for _, a := range p.Args {
			r.files = append(r.files, fileKey(a.texts()[0]))
		}
	}
	if name == "sqlite3" || name == "psql" { // .read x, \i x
		for _, a := range p.Args {
			if words := strings.Fields(a.texts()[0]); len(words) > 1 && strings.ContainsAny(words[0][:1], `.\`) && words[0] != ".import" {
				r.files = append(r.files, fileKey(words[1]))
			}
		}
	}
	if isInterpreter(name) {
		p.interprets(&r, name)
	}
	for i, a := range p.Args { // files that say what else is run
		if variable, value, ok := strings.Cut(a.texts()[0], "="); ok && loadsVariable(variable) { // env LD_PRELOAD=x
			for _, f := range pathsIn(value) {
				r.files = append(r.files, fileKey(f))
			}
		}
		if isOneOf(name, "ssh scp sftp curl wget gdb tmux openssl git") {
			if isOneOf(wordBefore(p.Args, i), "-F -K --config -x -f -config") {
				r.files = append(r.files, fileKey(a.texts()[0]))
			}
			for _, begin := range []string{"--config=", "-F", "-K"} {
				if rest, ok := strings.CutPrefix(a.texts()[0], begin); ok && rest != "" {
					r.files = append(r.files, fileKey(rest))
				}
			}
		}
	}
	if len(r.files) > 0 || r.code != "" {
		w.saved.runs = append(w.saved.runs, r)
	}
}

// installer: programs that run code of the packages they are given.
func installer(name string) bool {
	return isOneOf(name, "pip pip3 uv pipx npm yarn pnpm gem dpkg rpm apt apt-get dnf yum apk pacman brew snap installer")
}

// isInterpreter: programs that run a file which is named before their other
// words.
func isInterpreter(name string) bool {
	return isOneOf(name, "java javaw deno bun tsx ts-node groovy scala kotlin kotlinc tcc dotnet mono wine qemu-x86_64 wasmtime wasmer run-parts elixir escript erl swift crystal racket sbcl jshell bats R gdb vim nvim vi emacs ex ed m4 cmake") || readsCode(name)
}

// interprets notes the script of an interpreter, what its options load before
// it, and code that stands in the line.
func (p *Program) interprets(r *run, name string) {
	add := func(a Arg) {
		if !a.Literal && !a.Glob {
			r.files = append(r.files, printed) // <(sed 1d a)
		}
		for _, t := range a.texts() {
			for part := range strings.SplitSeq(t, ":") {
				if _, value, ok := strings.Cut(part, "="); ok {
					part = value
				}
				key := fileKey(part)
				r.files = append(r.files, key)
				if strings.Contains(key, "{}") || strings.HasPrefix(key, "$") && (a.open == computed || a.open == unseen) {
					r.files = append(r.files, anything)
				}
				if name == "run-parts" {
					r.files = append(r.files, anything)
				}
			}
		}
	}
	for i, a := range p.Args {
		t, before := a.texts()[0], wordBefore(p.Args, i)
		switch {
		case before == "-m" && strings.HasPrefix(name, "py") || strings.HasPrefix(t, "-m") && len(t) > 2 && strings.HasPrefix(name, "py"):
			for part := range strings.SplitSeq(strings.TrimPrefix(t, "-m"), ".") {
				r.files = append(r.files, part, part+".py")
			}
			return
		case before == "-c" || before == "-e" || before == "-E" || before == "-p" || before == "-pe" || before == "-ne" || before == "--eval" || before == "--print" || name == "php" && before == "-r":
			if r.code = strings.Join(a.texts(), "\n"); isShell(name) {
				r.code = "" // it is read as a line of its own
				if !a.Literal {
					r.files = append(r.files, printed)
				}
			}
			return
		case strings.HasPrefix(t, "--eval="):
			r.code = t
			return
		case strings.HasPrefix(t, "-"):
			if strings.ContainsAny(t, "=") || len(t) > 2 && t[1] != '-' && strings.ContainsRune("rIM", rune(t[1])) {
				add(Arg{Text: strings.TrimLeft(t, "-rIM"), Literal: a.Literal, open: a.open})
				r.files = append(r.files, fileKey(strings.TrimLeft(t, "-rIM"))+".*")
			}
		case takesValue(before) || loadsValue(before):
			add(a)
			r.files = append(r.files, fileKey(t)+".*") // a module, by its name
			if before == "-jar" {
				return // the rest is for the program in it
			}
		case (name == "deno" || name == "bun") && (t == "run" || t == "test" || t == "serve"):
		default:
			add(a)
			switch class := t[strings.LastIndexByte(t, '.')+1:]; {
			case name == "java" || name == "javaw":
				r.files = append(r.files, class+".class", class+".java", class+".jar")
			case strings.HasPrefix(name, "py") && !strings.HasSuffix(t, ".py"):
				r.files = append(r.files, "__main__.py") // of a directory
			}
			return
		}
	}
}

// loadsValue: further options of interpreters whose value is a file that they
// load.
func loadsValue(flag string) bool {
	return isOneOf(flag, "--import --loader --experimental-loader -jar -cp -classpath --class-path -javaagent -d -S -u -P -l --load --script -x")
}

// runsByItself: names of files in which builders and runners of tests find what
// to run, without being told.
func runsByItself(name string, args []Arg) []string {
	word := (&Program{Args: args}).word
	switch name {
	case "make", "gmake", "just", "task", "go-task", "rake", "npm", "yarn", "pnpm":
		return definitions(name, args)
	case "go":
		if word("run", "test", "generate") {
			return []string{"*.go"}
		}
	case "cargo":
		return []string{"build.rs", "Cargo.toml", "*.rs"}
	case "pip", "pip3", "uv", "pipx", "poetry", "hatch", "pdm":
		return []string{"setup.py", "setup.cfg", "pyproject.toml"}
	case "pytest", "py.test", "tox", "nox":
		return []string{"conftest.py", "test_*.py", "*_test.py", "tox.ini", "noxfile.py"}
	case "python", "python3":
		if word("unittest", "pytest") {
			return []string{"conftest.py", "test*.py", "*_test.py"}
		}
		if word("pip", "build") {
			return []string{"setup.py", "setup.cfg", "pyproject.toml"}
		}
	case "docker", "podman", "nerdctl", "docker-compose", "buildah":
		if name == "docker-compose" || word("build", "compose", "buildx") {
			return []string{"Dockerfile*", "Containerfile*", "*compose*.y*ml"}
		}
	case "terraform", "tofu":
		return []string{"*.tf"}
	case "cmake", "ctest":
		return []string{"CMakeLists.txt", "*.cmake"}
	case "ninja", "meson":
		return []string{"build.ninja", "meson.build"}
	case "mvn", "mvnw":
		return []string{"pom.xml"}
	case "gradle", "gradlew":
		return []string{"*.gradle", "*.gradle.kts"}
	case "bundle", "bundler", "rspec":
		return []string{"Gemfile", "*_spec.rb"}
	case "composer":
		return []string{"composer.json"}
	case "jest", "mocha", "vitest", "ava":
		return []string{"*.test.?s", "*.spec.?s", "*.test.??", "jest.config.*"}
	case "vagrant":
		return []string{"Vagrantfile"}
	}
	return nil
}

// judgeSavedRuns adds what the line runs of what it got from elsewhere.
func (w *walker) judgeSavedRuns() {
	if len(w.saved.files) == 0 {
		return
	}
	for name, v := range w.vars {
		if !loadsVariable(name) {
			continue
		}
		for _, t := range v.texts {
			for _, f := range pathsIn(t) {
				if w.saved.has(fileKey(f)) {
					w.line.floor = append(w.line.floor, "by "+name+" programs load what the line gets from elsewhere")
					return
				}
			}
		}
	}
	for _, r := range w.saved.runs {
		if slices.ContainsFunc(r.files, w.saved.has) || w.saved.loads(r.code) {
			w.line.floor = append(w.line.floor, clip(Quote(r.by))+" runs what the line gets from elsewhere, or may")
			return
		}
	}
}

// loadsVariable: variables by which programs load or run a file.
func loadsVariable(name string) bool {
	return isOneOf(name, "ENV BASH_ENV ZDOTDIR CLASSPATH NODE_OPTIONS PYTHONSTARTUP PERL5OPT RUBYOPT JAVA_TOOL_OPTIONS _JAVA_OPTIONS WGETRC OPENSSL_CONF VIMINIT MAKEFILES GIT_SSH GIT_SSH_COMMAND GIT_ASKPASS SSH_ASKPASS GIT_EXTERNAL_DIFF EDITOR VISUAL PAGER BROWSER") || strings.HasPrefix(name, "LD_") || strings.HasPrefix(name, "DYLD_")
}

// codeLoads: code that takes in other code.
var codeLoads = pattern.Of(`\b(import|require|require_relative|from|use|do|load|loadfile|dofile|include|source|__import__|import_module|run_path|run_module)\b`)

// loads: code that stands in the line runs a file that was saved.
func (s *savedState) loads(code string) bool {
	if code == "" {
		return false
	}
	for file := range s.files {
		if file == printed {
			continue
		}
		stem, ext, _ := strings.Cut(file, ".")
		switch ext {
		case "py", "js", "mjs", "cjs", "ts", "rb", "pl", "pm", "lua", "php", "so", "sh", "tcl", "jl", "r", "R":
			if wordIn(code, stem) && codeLoads.MatchString(code) {
				return true
			}
		}
		if strings.Contains(code, file) && codeObeys.MatchString(code) {
			return true
		}
		if i := strings.Index(code, file); i > 0 && ext != "json" && regexpLoading.MatchString(code[:i]) {
			return true
		}
	}
	return false
}

// regexpLoading: what stands before the name of a file that is loaded as code.
var regexpLoading = pattern.Of(`\b(require|require_relative|dofile|loadfile|include|source|run_path|import|load|do)\s*\(?\s*["'][^"']*$`)

// wordIn reports whether a name stands in code on its own.
func wordIn(code, name string) bool {
	return name != "" && slices.Contains(strings.FieldsFunc(code, func(r rune) bool {
		return r != '_' && r != '-' && (r < '0' || r > '9' && r < 'A' || r > 'Z' && r < 'a' || r > 'z') && r < 0x80
	}), name)
}
