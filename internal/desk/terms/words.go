package terms

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/toolcrib/toolcrib/internal/plainfile"
	"github.com/toolcrib/toolcrib/internal/shellguard"
)

// reading goes through the words of one interpreter.
type reading struct {
	*scripts
	interpreterRules
	dirs []string
	name string
	args []shellguard.Arg
	fed  string // what fills in its words while the line runs: find, xargs, or nothing

	at   int
	code bool // it was given code
	file bool // it was given a file
}

// interpreted adds the script of an interpreter. It reports whether that is all
// it runs, and not what it is given as its standard input. Where the script is
// not found for certain, nothing about the line can be remembered.
func (s *scripts) interpreted(dirs []string, args []shellguard.Arg, name, fed string) bool {
	m, _ := interpreterRulesOf(name)
	if len(dirs) == 0 {
		s.unknown = true
	}
	r := reading{scripts: s, interpreterRules: m, dirs: dirs, name: name, args: args, fed: fed}
	for ; r.at < len(args); r.at++ {
		a := args[r.at]
		word := a.Text
		if word == "-pe" && strings.HasPrefix(name, "node") {
			word = "-e" // the only letters that node takes together
		}
		option := len(word) > 1 && (word[0] == '-' || r.plus && word[0] == '+')
		switch {
		case !a.Literal && (!r.through || !a.Glob || strings.ContainsAny(word[:min(1, len(word))], "*?[-")):
			s.unknown = true // it may be an option
			return true
		case word == "--":
			r.at++
			return r.operand()
		case option && strings.HasPrefix(word, "--"):
			if !r.longOption(word[2:]) {
				s.unknown = true
				return true
			}
		case option:
			done, ok := r.letters(word)
			if !ok {
				s.unknown = true
			}
			if done || !ok {
				return !strings.Contains(word, "s") || !r.joins
			}
		case r.through:
			if !r.code && !r.file { // it is code, and options may follow
				r.noteCode(a)
			}
		default:
			return r.operand()
		}
	}
	return r.operand()
}

// operand takes the first word that is no option.
func (r *reading) operand() bool {
	given := r.at < len(r.args)
	if r.fed == "xargs" && (!given || r.through) {
		r.unknown = true // what is filled in may be options
		return true
	}
	switch {
	case r.through:
		return true
	case r.joins && r.code, r.words && !r.file && !r.code:
		if given {
			r.noteCode(r.args[r.at])
		}
		r.unknown = r.unknown || !given
		return true
	case (r.code || r.file) && (!r.goes || !given):
		return true
	case !given || r.args[r.at].Text == "-":
		return r.code
	}
	r.script(r.args[r.at])
	return true
}

// noteCode notes code that stands in the line, with the files that it names.
func (r *reading) noteCode(a shellguard.Arg) {
	r.code = true
	r.unknown = r.unknown || !a.Literal || r.fed != "" && strings.Contains(a.Text, "{}")
	if r.joins {
		return // it was taken apart as a line of its own
	}
	words := strings.FieldsFunc(a.Text, func(c rune) bool {
		return !strings.ContainsRune("/._-+~@", c) && !unicode.IsLetter(c) && !unicode.IsDigit(c)
	})
	slices.Sort(words)
	for _, word := range slices.Compact(words) {
		for _, dir := range r.dirs {
			file := filepath.Join(dir, word)
			if filepath.IsAbs(word) {
				file = word
			}
			for _, file := range begins(r.name, file) { // require("./lib")
				if isFile(file) {
					r.add(file, true)
				}
			}
		}
		if strings.HasPrefix(r.name, "py") && !strings.Contains(word, "/") && strings.Trim(word, ".") != "" && strings.Contains(a.Text, "import") {
			r.module(shellguard.Arg{Text: strings.Trim(word, "."), Literal: true})
		}
	}
}

// next takes the word behind an option.
func (r *reading) next() (shellguard.Arg, bool) {
	if r.at+1 >= len(r.args) {
		return shellguard.Arg{}, false
	}
	r.at++
	return r.args[r.at], true
}

func (r *reading) longOption(word string) bool {
	name, value, joined := strings.Cut(word, "=")
	kind := r.kindOf(name, joined)
	arg := shellguard.Arg{Text: value, Literal: true}
	if kind == 0 || kind == ' ' && joined {
		return false
	}
	if kind != ' ' && !joined {
		var ok bool
		if arg, ok = r.next(); !ok {
			return false
		}
	}
	return r.option(kind, name, arg)
}

// letters reads a word of letters. done: nothing that follows is read by the
// interpreter itself.
func (r *reading) letters(word string) (done, ok bool) {
	if r.joins && (r.code || strings.Contains(word, "c") && strings.ContainsAny(word, "oO")) {
		return true, false // sh -c -o x CODE: which word is the code is hard to say
	}
	for i := 1; i < len(word); i++ {
		c, rest := word[i], word[i+1:]
		if c == 's' && r.joins {
			r.unknown = r.unknown || r.fed != ""
			return true, true // it reads its standard input, and the words are for that
		}
		if c == 'm' && strings.HasPrefix(r.name, "py") {
			arg := shellguard.Arg{Text: rest, Literal: true}
			if rest == "" {
				arg, ok = r.next()
			}
			r.module(arg)
			return true, rest != "" || ok
		}
		kind := r.letterKind(c)
		switch kind {
		case 0:
			return true, false
		case ' ':
			continue
		case 'r':
			return false, true
		case 'c':
			if r.joins {
				r.code = true
				continue
			}
		}
		arg := shellguard.Arg{Text: rest, Literal: true}
		if rest == "" || r.joins { // bash -oe pipefail
			if arg, ok = r.next(); !ok {
				return true, false
			}
		}
		ok = r.option(kind, string(c), arg)
		if !r.joins || !ok {
			return kind == 'c' && r.ends, ok
		}
	}
	return false, true
}

func (r *reading) option(kind byte, name string, arg shellguard.Arg) bool {
	switch kind {
	case 'c':
		r.noteCode(arg)
	case 'f':
		r.file = r.file || !strings.HasPrefix(name, "r") && !strings.Contains(name, "-") && name != "import" && name != "loader"
		r.script(arg)
	case 'v':
		return arg.Literal && (r.value == nil || r.value(name, arg.Text))
	}
	return true
}

// script adds a file that is run, by the names under which an interpreter looks.
func (r *reading) script(a shellguard.Arg) {
	if !a.Literal || r.fed != "" && strings.Contains(a.Text, "{}") || a.Text == "" {
		r.unknown = true
		return
	}
	found := false
	for _, dir := range r.dirs {
		file := a.Text
		if filepath.IsAbs(file) {
			dir = ""
		}
		file = r.joined(dir, file)
		if below("/dev", file) || below("/proc", file) {
			r.unknown = true // what it reads there is decided while the line runs
		}
		for _, file := range begins(r.name, file) {
			if isFile(file) {
				found = true
				r.add(file, true)
			}
		}
	}
	r.unknown = r.unknown || !found // as with /dev/stdin, or with what the line makes first
}

// module adds what python -m begins with: of each package on the way to the
// module what is run first, and the module itself.
func (r *reading) module(a shellguard.Arg) {
	if !a.Literal || r.fed != "" && strings.Contains(a.Text, "{}") || a.Text == "" {
		r.unknown = true
		return
	}
	parts := strings.Split(a.Text, ".")
	for _, dir := range r.dirs {
		at := dir
		for i, part := range parts {
			if part == "" {
				break // no name of a module
			}
			at = filepath.Join(at, part)
			// A json.py is run before it shows that it has no json.tool.
			names := slices.Concat(compiled(filepath.Join(at, "__init__")), compiled(at))
			if i == len(parts)-1 {
				names = slices.Concat(names, compiled(filepath.Join(at, "__main__")))
			}
			for _, file := range names {
				if isFile(file) {
					r.add(file, true)
				}
			}
		}
	}
}

// compiled are the files in which python looks for a module.
func compiled(module string) []string {
	files := []string{module + ".py", module + ".pyc", module + ".pyw", module + ".so", module + ".abi3.so"}
	entries, err := os.ReadDir(filepath.Dir(module))
	if err != nil {
		return files
	}
	for _, e := range entries { // mod.cpython-313-x86_64-linux-gnu.so
		if name := e.Name(); strings.HasPrefix(name, filepath.Base(module)+".cpython-") || strings.HasPrefix(name, filepath.Base(module)+".pypy") {
			files = append(files, filepath.Join(filepath.Dir(module), name))
		}
	}
	return files
}

// begins are the files with which an interpreter may begin when it is given a
// name: some add an ending, and some run a directory.
func begins(name, file string) []string {
	switch {
	case strings.HasPrefix(name, "py"):
		return append(compiled(filepath.Join(file, "__main__")), file)
	case slices.Contains([]string{"node", "nodejs", "tsx", "ts-node", "bun", "deno", "zx", "vite-node", "esno", "jiti", "babel-node"}, name):
		files := append(endings(file), endings(filepath.Join(file, "index"))...)
		manifest := filepath.Join(file, "package.json")
		files = append(files, manifest)
		if main := mainOf(manifest); main != "" {
			main = filepath.Join(file, main)
			files = append(append(files, endings(main)...), endings(filepath.Join(main, "index"))...)
		}
		return files
	case name == "pwsh" || name == "powershell":
		return []string{file, file + ".ps1"}
	}
	return []string{file}
}

func endings(file string) []string {
	files := []string{file}
	for _, ext := range []string{".js", ".json", ".node", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".tsx", ".jsx"} {
		files = append(files, file+ext)
	}
	return files
}

// mainOf is the file that a package.json names as the one to begin with.
func mainOf(manifest string) string {
	text, err := plainfile.Settings(manifest)
	if err != nil {
		return ""
	}
	var fields map[string]json.RawMessage
	var main string
	if json.Unmarshal(text, &fields) != nil || json.Unmarshal(fields["main"], &main) != nil {
		return ""
	}
	return main
}
