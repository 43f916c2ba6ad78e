package named

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/pattern"
)

// maxBases bounds from how many directories words are read.
const maxBases = 16

// bases are the directories that words of a text are read from: the one that it
// is for, and those that it names itself, as a working directory or behind an
// option such as --directory.
func bases(dir string, lines []string) []string {
	list := []string{dir}
	for _, line := range lines {
		for word := range strings.FieldsSeq(line) {
			word = strings.Trim(strings.TrimPrefix(word, "--directory="), `"'`)
			if word == "" || strings.HasPrefix(word, "-") || len(list) >= maxBases {
				continue
			}
			at := from(dir, word)
			if info, err := os.Stat(at); err == nil && info.IsDir() && !slices.Contains(list, at) && filepath.Dir(at) != at {
				list = append(list, at)
			}
		}
	}
	return list
}

// from is where a word leads from a directory.
func from(dir, word string) string {
	if filepath.IsAbs(word) {
		return filepath.Clean(word)
	}
	return filepath.Join(dir, filepath.FromSlash(word))
}

// entryFiles are the files that interpreters run if they are given a directory.
func entryFiles() []string {
	return []string{"index.js", "index.mjs", "index.cjs", "index.ts", "__main__.py", "main.go", "main.py", "server.py"}
}

// endings are those that interpreters add by themselves.
func endings() []string { return []string{".js", ".mjs", ".cjs", ".ts", ".py"} }

// filesMeant gives the files that words stand for which are none themselves: a directory
// for what is run in it, a name without its ending, and a module.
func filesMeant(dirs, lines []string) (found []string) {
	add := func(file string) bool {
		info, err := os.Stat(file)
		is := err == nil && info.Mode().IsRegular() && len(found) < maxFiles
		if is {
			found = append(found, file)
		}
		return is
	}
	module, before := false, ""
	for _, line := range lines {
		for word := range strings.FieldsSeq(line) {
			word = strings.Trim(word, `"'`)
			was := module
			if module = word == "-m"; word == "" || strings.HasPrefix(word, "-") {
				continue
			}
			script := isInterpreter(programName(before)) || slices.Contains([]string{"run", "npx", "bunx"}, before)
			before = word
			for _, dir := range dirs {
				at := from(dir, word)
				switch info, err := os.Stat(at); {
				case was:
					parts := strings.Split(word, ".")
					for i := range parts {
						add(filepath.Join(dir, filepath.Join(parts[:i+1]...), "__init__.py"))
					}
					at = filepath.Join(dir, filepath.Join(parts...))
					add(at + ".py")
					add(filepath.Join(at, "__main__.py"))
				case !script: // what a program works on
				case err == nil && info.IsDir():
					for _, name := range entryFiles() {
						add(filepath.Join(at, name))
					}
				case err != nil && filepath.Ext(word) == "":
					for _, end := range endings() {
						add(at + end)
					}
				}
			}
		}
	}
	return found
}

// ownDir are the usual ways in which a script names the directory that it lies in,
// and ownTop those to name the top of the project.
var (
	ownDir = pattern.Of(`\$\(\s*dirname\s+(?:--\s+)?"?\$(?:0|\{0\}|\{BASH_SOURCE(?:\[0\])?\}|BASH_SOURCE)"?\s*\)|\$\{0%/\*\}|\$\{BASH_SOURCE(?:\[0\])?%/\*\}`)
	ownTop = pattern.Of(`\$\(\s*git\s+rev-parse\s+--show-toplevel\s*\)|\$\(\s*pwd\s*\)|\$\{PWD\}|\$PWD\b|\$\{workspace(?:Folder|Root)\}`)
)

// withPlaces writes those out.
func withPlaces(text, file, top string) string {
	text = ownDir.Regexp().ReplaceAllLiteralString(text, filepath.Dir(file))
	return ownTop.Regexp().ReplaceAllLiteralString(text, top)
}

// yaml gives what keys such as run and entry say, line by line.
func yaml(text string) (lines []string) {
	for line := range strings.Lines(text) {
		key, value, ok := strings.Cut(strings.TrimLeft(strings.TrimSpace(line), "- "), ":")
		if key = strings.Trim(key, `"' `); !ok || !slices.Contains([]string{"run", "entry", "command", "script", "cmd", "enter", "cd", "postinstall", "preinstall", "root", "cwd"}, key) {
			continue
		}
		lines = append(lines, strings.TrimSpace(value))
		lines = append(lines, Script(strings.Trim(strings.TrimSpace(value), `"'`))...)
	}
	return lines
}

// mise gives the scripts of hooks and sources in its settings.
func mise(text string) (lines []string) {
	for line := range strings.Lines(text) {
		key, value, ok := strings.Cut(line, "=")
		if key = strings.Trim(strings.TrimSpace(key), `"`); !ok || !slices.Contains([]string{"enter", "leave", "cd", "preinstall", "postinstall", "script", "run", "_.source", "_.file", "source"}, key) {
			continue
		}
		for _, m := range quoted.Regexp().FindAllStringSubmatch(value, -1) {
			lines = append(lines, m[1]+m[2])
			lines = append(lines, Script(m[1]+m[2])...)
		}
	}
	return lines
}
