package reach

import (
	"cmp"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/hostpath"
	"github.com/toolcrib/toolcrib/internal/named"
)

// Some programs run outside of every sandbox because the settings say so: MCP
// servers, hooks, the command that gives the key of the vault, and this program
// itself. Whoever can write what they are made of runs what they like on the
// host. So the files that the settings name are fixed for commands and asked
// about by file tools. A program that takes up more than that from a directory
// that commands can write, such as the modules beside a script, is not started
// on the host unless a person said so.

// Outside judges such programs.
type Outside struct {
	hostpath.Finder
	Home string
	Dir  string // where relative names begin
}

// outsideProgram is a program as the settings name it.
type outsideProgram struct {
	command string
	args    []string
	env     map[string]string
	dir     string // where it is told to run; empty: nowhere in particular
}

// obedience is what is known of such a program.
type obedience struct {
	files []string // that it runs or obeys
	// beside is what it takes up from where commands can write, or what it takes
	// more up beside. Empty: nothing.
	beside string
}

// judge finds out what a program obeys.
func (o Outside) judge(p outsideProgram) obedience {
	var found obedience
	base := cmp.Or(p.dir, o.Dir)
	note := func(path string, code bool) {
		found.files = append(found.files, path)
		if code && found.beside == "" && o.Writes(path) {
			found.beside = path
		}
	}
	if program, ok := o.path(p.command, base, true); ok {
		note(program, true)
	}
	if p.dir != "" && o.Writes(p.dir) {
		found.beside = p.dir
	}
	led := func(path string) { // a directory, or what commands could make there
		if found.beside == "" && (o.Writes(path) || o.Writes(realDir(path))) {
			found.beside = path
		}
	}
	script, texts := scriptAt(p.command, p.args), ""
	for i, arg := range p.args {
		text := isText(p.args, i)
		if text {
			texts += arg + "\n"
		}
		leads := i == script || i > 0 && takesCode(p.args[i-1]) || takesCode(arg) || takesJoined(arg) || text || runsFound(programName(p.command))
		for _, piece := range o.inArgument(arg, p.env, base, leads) {
			path, ok := o.path(piece, base, i == script)
			if !ok {
				continue
			}
			switch kind, code := kindOf(path); {
			case kind == aDir && (leads || i < script && ofInterpreter(arg)), kind == missing && leads && !code && !dataName(path):
				led(path)
			case kind == aFile, kind == missing && code:
				note(path, code || leads)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.env)) {
		leads := leadsToCode(name) || strings.Contains(texts, name)
		for word := range strings.FieldsSeq(p.env[name]) {
			for _, piece := range append(pieces(word), filepath.SplitList(word)...) {
				path, ok := o.path(piece, base, false)
				if !ok {
					continue
				}
				switch kind, code := kindOf(path); {
				case leads && (kind == aDir || kind == missing && !code && !dataName(path)):
					led(path)
				case kind == aFile, kind == missing && code:
					note(path, code)
				}
			}
		}
	}
	return found
}

// path reads a path as it stands in settings. A word that could be the name of
// anything is one if something of that name is there.
func (o Outside) path(text, base string, expected bool) (string, bool) {
	if rest, ok := strings.CutPrefix(text, "~/"); ok {
		return filepath.Join(o.Home, rest), o.Home != ""
	}
	switch {
	case text == "" || strings.ContainsRune(text, 0) || strings.Contains(text, "://"):
		return "", false
	case filepath.IsAbs(text):
		return filepath.Clean(text), true
	case base == "", !relative(text) && !expected && !strings.ContainsAny(text, "./"):
		return "", false
	}
	full := filepath.Join(base, text)
	if !relative(text) { // it may be the name of anything
		if _, err := os.Lstat(full); err != nil {
			return "", false
		}
	}
	return full, true
}

// Absolute gives arguments in which paths that begin at base are written out,
// for a program that does not start there.
func (o Outside) Absolute(command string, args []string, base string) []string {
	args = slices.Clone(args)
	script := scriptAt(command, args)
	for i, arg := range args {
		name, value, option := strings.Cut(arg, "=")
		if option && strings.HasPrefix(name, "-") && !filepath.IsAbs(value) && !strings.HasPrefix(value, "~/") {
			if full, ok := o.path(value, base, false); ok {
				args[i] = name + "=" + full
			}
			continue
		}
		if !filepath.IsAbs(arg) && !strings.HasPrefix(arg, "~/") && !strings.HasPrefix(arg, "-") {
			if full, ok := o.path(arg, base, i == script); ok {
				args[i] = full
			}
		}
	}
	return args
}

// relative tells a path from another word. That of a package, such as
// @scope/name, is none.
func relative(text string) bool {
	return text == "." || text == ".." || strings.HasPrefix(text, "./") || strings.HasPrefix(text, "../") ||
		os.PathSeparator == '\\' && (strings.HasPrefix(text, `.\`) || strings.HasPrefix(text, `..\`))
}

// pieces are the paths that a word may hold: itself, the value of an option, and
// what follows a letter of one.
func pieces(word string) []string {
	out := []string{word}
	if _, value, ok := strings.Cut(word, "="); ok {
		out = append(out, value)
	}
	for _, before := range []string{"file://", "file:", "@"} {
		if rest, ok := strings.CutPrefix(word, before); ok && filepath.IsAbs(rest) {
			out = append(out, rest)
		}
	}
	if path, _, ok := strings.Cut(word, "#"); ok { // a part of a package, for Nix
		out = append(out, path)
	}
	if strings.ContainsAny(word, " \t\n\"'();&|,") { // code for a shell, say
		for _, part := range strings.FieldsFunc(word, func(r rune) bool { return strings.ContainsRune(" \t\n\"'`;&|()<>,=[]{}", r) }) {
			if filepath.IsAbs(part) || strings.HasPrefix(part, "~/") {
				out = append(out, part)
			}
		}
	}
	if i := strings.IndexByte(word, '/'); i > 0 && word[0] == '-' && !strings.Contains(word, "=") {
		out = append(out, word[i:])
	}
	return out
}

// takesCode: the option names a directory or a file that a program is taken
// from.
func takesCode(option string) bool {
	name, _, _ := strings.Cut(option, "=")
	return slices.Contains([]string{"--directory", "--chdir", "--project", "--prefix", "-C", "--cwd", "--dir", "--manifest-path", "--from", "--with", "--with-editable", "--package", "-r", "--require", "--import", "--loader",
		"--experimental-loader", "-jar", "-cp", "-classpath", "--class-path", "-I", "--include-dir", "--app-dir", "--pythonpath", "--init-file", "--rcfile", "--config-file", "--spec", "--project-directory", "--package-dir", "--workspace", "--flake"}, name)
}

type pathKind int

const (
	missing pathKind = iota
	aFile
	aDir
)

// kindOf says what lies at a path, and whether it is code. What is plainly data,
// such as the database that a server is about, is no file in this sense: commands
// may have work to do there.
func kindOf(path string) (kind pathKind, code bool) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return missing, named.IsCode(path)
	case info.IsDir():
		return aDir, false
	case !info.Mode().IsRegular(), dataName(path) && info.Mode()&0o111 == 0:
		return missing, false
	}
	return aFile, named.IsCode(path) || info.Mode()&fs.FileMode(0o111) != 0
}

func dataName(path string) bool {
	return slices.Contains([]string{".db", ".sqlite", ".sqlite3", ".duckdb", ".csv", ".tsv", ".jsonl", ".ndjson", ".parquet", ".log", ".txt", ".md", ".pdf", ".html", ".xml", ".png", ".jpg", ".jpeg", ".svg", ".lock", ".pid"},
		strings.ToLower(filepath.Ext(path)))
}
