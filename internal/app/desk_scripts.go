package app

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/desk"
	"github.com/toolcrib/toolcrib/internal/guard"
)

// scripts finds the files that a line names as what is run: programs named by a
// path, what an interpreter is given, and what a runner such as make or npm goes
// by. A person who allows the line for longer allows it for these as they are.
//
// Not among them are the programs of the system, which tools cannot change, and
// what a compiler or a test runner makes of a whole project.
type scripts struct {
	writable []string // where tools can put programs
	files    []desk.File
	// unknown: it is decided while the line runs, or there are too many, so that
	// nothing about it can be remembered.
	unknown bool
}

// scriptsOf gives the scripts of a line, and whether they are all of them.
func scriptsOf(line *guard.Line, writable []string) (files []desk.File, known bool) {
	s := &scripts{writable: writable}
	piped := false // what an interpreter runs comes from the rest of the line
	for i := range line.Programs {
		p := &line.Programs[i]
		s.program(p)
		if name := toolName(p.Name); slices.Contains(interpreters(), name) {
			piped = !s.interpreted(p.Dirs, p.Args, name) || piped
		} else {
			s.others(p, slices.Contains(launchers(), name))
		}
		s.definitions(p)
	}
	for i := range line.Programs {
		if !piped {
			break
		}
		p := &line.Programs[i]
		for _, a := range p.Args {
			if a.Literal {
				s.in(p.Dirs, a.Text, isFile)
			}
		}
		for _, r := range line.Redirects {
			if strings.HasPrefix(r.Op, "<") && !strings.HasPrefix(r.Op, "<<") {
				s.in(p.Dirs, r.Target, isFile)
			}
		}
	}
	return s.files, !s.unknown
}

// interpreters run the file they are given first.
func interpreters() []string {
	return []string{
		"sh", "bash", "dash", "ash", "zsh", "ksh", "mksh", "fish", "csh", "tcsh", "source", ".",
		"python", "pypy", "node", "nodejs", "ruby", "perl", "php", "lua", "luajit", "tclsh", "wish", "expect", "Rscript", "julia",
		"osascript", "pwsh", "powershell", "java", "groovy", "guile", "awk", "gawk", "mawk", "tsx", "ts-node", "swift", "elixir", "escript", "sed", "gsed",
	}
}

// launchers run files, some words further on.
func launchers() []string {
	return []string{"deno", "bun", "uv", "poetry", "pipenv", "npx", "bunx", "pnpx", "go", "dotnet", "rye", "pdm", "hatch", "conda", "mise", "direnv"}
}

// toolName is the name of a program without its place and its version.
func toolName(name string) string {
	if name == "." {
		return name
	}
	return strings.TrimRight(filepath.Base(name), "0123456789.")
}

// program adds the program itself, where it is named by a path or lies where
// tools can write.
func (s *scripts) program(p *guard.Program) {
	switch {
	case p.Builtin:
	case strings.ContainsAny(p.Name, "$`*?[…") || strings.HasPrefix(p.Name, "~"):
		s.unknown = true // what it is called is decided while the line runs
	case strings.Contains(p.Name, "/"):
		s.in(p.Dirs, p.Name, isFile)
	case p.Path != "":
		if s.canWrite(p.Path) {
			s.add(p.Path)
		}
	default: // not found where we look: the line may have its own idea of where that is
		s.in(p.Dirs, p.Name, isFile)
	}
}

// interpreted adds the script of an interpreter, and reports whether it has one.
func (s *scripts) interpreted(dirs []string, args []guard.Arg, name string) bool {
	if only := scriptOption(name); only != "" {
		for i, a := range args {
			if word, ok := strings.CutPrefix(a.Text, only); ok && word != "" {
				s.in(dirs, word, isFile)
			} else if ok && i+1 < len(args) {
				s.in(dirs, args[i+1].Text, isFile)
				s.unknown = s.unknown || !args[i+1].Literal
			}
		}
		return true // else it stands in the line
	}
	found, value := false, false // value: this word may belong to the option before it
	for i, a := range args {
		word := a.Text
		switch {
		case strings.HasPrefix(word, "-") && word != "-":
			if word == "-m" && strings.HasPrefix(name, "py") && i+1 < len(args) {
				module := strings.ReplaceAll(args[i+1].Text, ".", "/")
				s.in(dirs, module+".py", isFile)
				s.in(dirs, module+"/__main__.py", isFile)
				s.unknown = s.unknown || !args[i+1].Literal
				return true
			}
			if inline(name, word) {
				return true
			}
			if name == "sh" || strings.HasSuffix(name, "sh") && name != "pwsh" {
				if strings.Contains(word, "s") && !strings.HasPrefix(word, "--") {
					return false // it reads its standard input, and the words are for that
				}
			}
			if _, of, ok := strings.Cut(word, "="); ok {
				s.in(dirs, of, isFile)
			}
			s.unknown = s.unknown || !a.Literal
			value = word != "--" && !plainOption(name, word)
			continue
		case !a.Literal:
			s.unknown = true
			return true
		case word == "-":
			return found
		}
		s.in(dirs, word, isFile)
		for _, begins := range []string{"__main__.py", "index.js", "package.json"} { // a directory can be run as well
			s.in(dirs, filepath.Join(word, begins), isFile)
		}
		if !value {
			return true
		}
		value = false
		found = found || slices.ContainsFunc(dirs, func(dir string) bool { return isFile(filepath.Join(dir, word)) }) || isFile(word) && filepath.IsAbs(word)
	}
	return found
}

// scriptOption is the option by which a program is given its script in a file,
// where that is the only way.
func scriptOption(name string) string {
	switch name {
	case "awk", "gawk", "mawk", "sed", "gsed":
		return "-f"
	}
	return ""
}

// inline reports whether the code of an interpreter follows in the line, where
// it is bound with it.
func inline(name, option string) bool {
	switch name {
	case "sh", "bash", "dash", "ash", "zsh", "ksh", "mksh", "fish", "csh", "tcsh", "python", "pypy":
		return !strings.HasPrefix(option, "--") && strings.HasSuffix(option, "c") || option == "--command"
	case "node", "nodejs", "ruby", "perl", "lua", "luajit", "Rscript", "julia", "osascript", "elixir", "groovy":
		return slices.Contains([]string{"-e", "-p", "-pe", "-ne", "-E", "--eval", "--print"}, option)
	case "php":
		return option == "-r"
	}
	return false
}

// plainOption reports whether an option is known to take no word of its own.
func plainOption(name, option string) bool {
	letters := ""
	switch name {
	case "sh", "bash", "dash", "ash", "zsh", "ksh", "mksh":
		letters = "abefhiklmnpruvxBCEHPTt"
	case "python", "pypy":
		letters = "bBdEhiIOPqRsSuvVx"
	case "perl":
		letters = "wWtTsSu"
	}
	return letters != "" && !strings.HasPrefix(option, "--") && strings.Trim(option[1:], letters) == ""
}

// others adds what any other program could be told of to run it: programs and
// scripts by their looks, for launchers also by their names, and what follows the
// name of an interpreter.
func (s *scripts) others(p *guard.Program, launcher bool) {
	if p.Class != guard.Runs && p.Class != guard.Unknown {
		return
	}
	for i, a := range p.Args {
		if !a.Literal || strings.HasPrefix(a.Text, "-") {
			continue
		}
		if name := toolName(a.Text); slices.Contains(interpreters(), name) && name != "." && name != "" {
			s.interpreted(p.Dirs, p.Args[i+1:], name)
		}
		s.in(p.Dirs, a.Text, func(file string) bool { return runnable(file) || launcher && isFile(file) && isCode(file) })
	}
}

// in adds a file by its name in each of the directories where a program may
// run, if it is to be taken.
func (s *scripts) in(dirs []string, name string, take func(file string) bool) {
	if name == "" {
		return
	}
	if filepath.IsAbs(name) {
		dirs = []string{""}
	}
	for _, dir := range dirs {
		if file := filepath.Join(dir, name); take(file) {
			s.add(file)
		}
	}
}

// add notes a file with what it holds.
func (s *scripts) add(file string) {
	if systemFile(file) && !s.canWrite(file) || slices.ContainsFunc(s.files, func(f desk.File) bool { return f.Path == file }) {
		return
	}
	if len(s.files) == maxBound {
		s.unknown = true
		return
	}
	sum, ok := contentOf(file)
	if !ok {
		s.unknown = true
		return
	}
	s.files = append(s.files, desk.File{Path: file, Sum: sum})
}

// canWrite reports whether a file lies where tools can write.
func (s *scripts) canWrite(file string) bool {
	at, err := filepath.EvalSymlinks(file)
	if err != nil {
		at = file
	}
	return slices.ContainsFunc(s.writable, func(dir string) bool { return below(dir, at) || below(dir, file) })
}

func below(dir, file string) bool {
	rel, err := filepath.Rel(dir, file)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// systemFile reports whether a file is one of the system's, that changes with
// its packages.
func systemFile(file string) bool {
	if at, err := filepath.EvalSymlinks(file); err == nil {
		file = at
	}
	return slices.ContainsFunc([]string{"/bin", "/sbin", "/lib", "/lib64", "/usr", "/opt", "/nix", "/snap", "/System", "/Library", "/Applications"}, func(dir string) bool { return below(dir, file) })
}

// contentOf is a fingerprint of what a file holds, unless it cannot be read.
func contentOf(file string) (sum string, ok bool) {
	sum = fingerprint(file)
	if !strings.HasPrefix(sum, `"`) {
		return "", false
	}
	if filepath.Base(file) != "package.json" {
		return sum, true
	}
	// Of this one it is the scripts that are run: new dependencies ask nothing.
	text, err := readSettings(file)
	if err != nil {
		return sum, true
	}
	var manifest map[string]json.RawMessage // and no struct, which would take Scripts for scripts
	var plain bytes.Buffer
	if json.Unmarshal(text, &manifest) != nil || manifest["scripts"] == nil || json.Compact(&plain, manifest["scripts"]) != nil {
		return sum, true
	}
	only := sha256.Sum256(plain.Bytes())
	return "scripts " + hex.EncodeToString(only[:]), true
}

func isFile(file string) bool {
	info, err := os.Stat(file)
	return err == nil && info.Mode().IsRegular()
}

func isDir(file string) bool {
	info, err := os.Stat(file)
	return err == nil && info.IsDir()
}

// runnable reports whether a file is a program or a script by its looks.
func runnable(file string) bool {
	info, err := os.Stat(file)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	if info.Mode().Perm()&0o111 != 0 {
		return true
	}
	begins, err := readFirst(file, 1)
	return err == nil && bytes.HasPrefix(begins, []byte("#!"))
}

// isCode reports whether a file is called like one that is run.
func isCode(file string) bool {
	return slices.Contains([]string{
		".sh", ".bash", ".zsh", ".fish", ".py", ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".tsx", ".jsx", ".rb", ".pl", ".php", ".lua", ".go", ".ps1", ".dll", ".jar", ".csx",
	}, strings.ToLower(filepath.Ext(file)))
}
