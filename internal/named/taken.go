package named

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// Taken is what a program that somebody starts in a project takes from there by
// its name, although it may mean another one: npx a package of node_modules,
// Python a module. Each name comes with who would run it.
type Taken struct {
	Packages map[string]string // of npm, with their scope
	Bins     map[string]string // of node_modules/.bin, as they are asked for
	Modules  map[string]string // of Python, without what follows a dot
	Entries  map[string]string // others at the top of a project
	// Python says who imports modules from there, whatever they are called. Empty: nobody.
	Python string
	// Dirs are where they are started besides the projects, absolute or relative to these.
	Dirs []string
}

// Any tells whether there is anything in it.
func (t Taken) Any() bool {
	return len(t.Packages)+len(t.Bins)+len(t.Modules)+len(t.Entries) > 0 || t.Python != ""
}

// Add puts another one to it.
func (t *Taken) Add(o Taken) {
	for _, p := range []struct {
		to   *map[string]string
		from map[string]string
	}{{&t.Packages, o.Packages}, {&t.Bins, o.Bins}, {&t.Modules, o.Modules}, {&t.Entries, o.Entries}} {
		if *p.to == nil && len(p.from) > 0 {
			*p.to = map[string]string{}
		}
		maps.Copy(*p.to, p.from)
	}
	if t.Python == "" {
		t.Python = o.Python
	}
	t.Dirs = append(slices.Clip(t.Dirs), o.Dirs...)
}

const maxStarted = 256 // words of a command line

// TakenBy reads the command line of a program that is started in a project.
// Programs that start others, and shells, are looked through.
func TakenBy(by, command string, args []string, env map[string]string) Taken {
	t := takenReader{by: by, safe: env["PYTHONSAFEPATH"] != ""}
	words := []string{command}
	for _, arg := range args {
		if strings.ContainsAny(arg, " \t\n;&|") { // a line for a shell, say
			words = append(words, strings.FieldsFunc(arg, func(r rune) bool { return strings.ContainsRune(" \t\n;&|()\"'`", r) })...)
			continue
		}
		words = append(words, arg)
	}
	words = words[:min(len(words), maxStarted)]
	for i, word := range words {
		rest := words[i+1:]
		switch startedName(word) {
		case "npx", "bunx", "pnpx":
			t.npm(rest)
		case "npm", "pnpm", "yarn", "bun":
			for len(rest) > 0 && strings.HasPrefix(rest[0], "-") {
				rest = rest[1:]
			}
			if len(rest) > 0 && slices.Contains([]string{"exec", "x", "dlx"}, rest[0]) {
				t.npm(rest[1:])
			}
		case "deno":
			for _, word := range rest {
				if spec, ok := strings.CutPrefix(word, "npm:"); ok {
					t.spec(strings.TrimPrefix(spec, "/"))
				}
			}
		case "python", "pythonw", "pypy", "py":
			t.python(rest)
		case "uv":
			if i := slices.Index(rest, "run"); i >= 0 {
				t.python(rest[i+1:])
			}
		case "pipx":
			if slices.Contains(rest, "run") {
				addName(&t.found.Entries, "__pypackages__", by)
			}
		}
	}
	return t.found
}

// startedName is the name of a program without its directory and version.
func startedName(word string) string {
	name := strings.ToLower(word[strings.LastIndexAny(word, `/\`)+1:])
	for _, end := range []string{".exe", ".cmd", ".bat", ".ps1"} {
		name = strings.TrimSuffix(name, end)
	}
	return strings.TrimRight(name, "0123456789.")
}

type takenReader struct {
	found Taken
	by    string
	safe  bool // Python does not look in the directory that it is started in
}

func addName(list *map[string]string, name, by string) {
	if !filepath.IsLocal(filepath.FromSlash(name)) || len(name) > maxValue || strings.ContainsRune(name, 0) || name == "." {
		return
	}
	if *list == nil {
		*list = map[string]string{}
	}
	(*list)[name] = by
}

// npm reads what follows npx: options, and what is run.
func (t *takenReader) npm(words []string) {
	for i := 0; i < len(words); i++ {
		name, value, given := strings.Cut(words[i], "=")
		takes := func() string {
			if !given && i+1 < len(words) {
				i++
				return words[i]
			}
			return value
		}
		switch {
		case name == "-p" || name == "--package":
			t.spec(takes())
		case name == "--registry" || name == "--userconfig" || name == "--prefix" || name == "--cache" || name == "-w" || name == "--workspace" || name == "--node-options" || name == "-n" || name == "--loglevel" || name == "--shell" || name == "--bun-options":
			_ = takes()
		case name == "-c" || name == "--call" || strings.HasPrefix(name, "-"): // the line that follows is more words here
		default:
			addName(&t.found.Bins, words[i], t.by)
			t.spec(words[i])
			return
		}
	}
}

// spec reads a package with its version: @scope/name@1.2.
func (t *takenReader) spec(text string) {
	if text == "" {
		return
	}
	name, version := text, ""
	if i := strings.IndexByte(text[1:], '@'); i >= 0 {
		name, version = text[:i+1], text[i+2:]
	}
	if other, ok := strings.CutPrefix(version, "npm:"); ok {
		t.spec(other)
	}
	scope, inner, scoped := strings.Cut(name, "/")
	if scoped && (!strings.HasPrefix(scope, "@") || strings.Contains(inner, "/")) || strings.ContainsAny(name, `:\`) || strings.HasPrefix(name, ".") {
		return // a path or an address
	}
	addName(&t.found.Packages, name, t.by)
	addName(&t.found.Bins, name, t.by)
	addName(&t.found.Bins, name[strings.LastIndexByte(name, '/')+1:], t.by)
}

// python reads what follows an interpreter, as far as it is options.
func (t *takenReader) python(words []string) {
	for i := 0; i < len(words); i++ {
		word := words[i]
		if word == "--module" {
			word = "-m"
		}
		if !strings.HasPrefix(word, "-") || word == "-" {
			return // a script: its own directory counts
		}
		if strings.HasPrefix(word, "--") {
			continue
		}
		at := strings.IndexAny(word, "mcWX") // the letters that take a value
		t.safe = t.safe || strings.ContainsAny(word[:max(at, 0)], "PI") || at < 0 && strings.ContainsAny(word, "PI")
		if at < 0 {
			continue
		}
		value := word[at+1:]
		if value == "" && i+1 < len(words) {
			i++
			value = words[i]
		}
		if word[at] == 'W' || word[at] == 'X' {
			continue
		}
		if t.safe {
			return
		}
		t.found.Python = t.by
		if word[at] == 'm' {
			first, _, _ := strings.Cut(value, ".")
			addName(&t.found.Modules, first, t.by)
		}
		return
	}
}
