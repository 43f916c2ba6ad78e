package toolchains

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/toolcrib/toolcrib/internal/pattern"
	"github.com/toolcrib/toolcrib/internal/plainfile"
)

// A virtual environment is made by commands all the time, and nobody would look at
// each anew. Its interpreter is a link to one that is trusted anyway, and what
// package managers put beside it are a few lines that import a function and call
// it. Both are recognised by what they are. What they then import lies in the
// project, and so does whatever "python -m pytest" imports.

// Venvs recognises programs of virtual environments.
type Venvs struct {
	// Interpreter tells whether a file, links resolved, is a trusted program.
	Interpreter func(resolved string) bool
	// Taken tells whether a trusted program has this name: then nothing in an
	// environment goes by it, except python and pip.
	Taken func(name string) bool
}

// Has reports whether a path is the interpreter of a virtual environment, or a
// script that does no more than call a function of a package in it.
func (v Venvs) Has(path string) bool {
	bin, name := filepath.Dir(path), filepath.Base(path)
	if v.Interpreter == nil || filepath.Base(bin) != "bin" || filepath.Clean(path) != path {
		return false
	}
	if info, err := os.Lstat(filepath.Join(filepath.Dir(bin), "pyvenv.cfg")); err != nil || !info.Mode().IsRegular() {
		return false
	}
	if pythonName.MatchString(name) {
		resolved, err := filepath.EvalSymlinks(path)
		return err == nil && pythonName.MatchString(filepath.Base(resolved)) && v.Interpreter(resolved)
	}
	if !pipName.MatchString(name) && (v.Taken == nil || v.Taken(name)) {
		return false
	}
	text, err := plainfile.Read(path, maxEntryPoint)
	if err != nil || !isProgram(path) {
		return false
	}
	interpreter, ok := entryPoint(string(text))
	return ok && filepath.Dir(interpreter) == bin && pythonName.MatchString(filepath.Base(interpreter)) && v.Has(interpreter)
}

const maxEntryPoint = 4 << 10

var (
	pythonName = pattern.Of(`^(python|pypy)[0-9.]*$`)
	pipName    = pattern.Of(`^pip[0-9.]*$`)
	// entryLines are all that pip, uv and their like write into such a script.
	entryLines = regexp.MustCompile(`^(` + strings.Join([]string{
		`# -\*- coding: utf-8 -\*-`,
		`import (re|sys)`,
		`from [A-Za-z_][\w.]* import [A-Za-z_]\w*`,
		`if __name__ == ['"]__main__['"]:`,
		` +sys\.argv\[0\] = re\.sub\(r'\(-script\\\.pyw\|\\\.exe\)\?\$', '', sys\.argv\[0\]\)`,
		` +(if|elif) sys\.argv\[0\]\.endswith\("(-script\.pyw|\.exe)"\):`,
		` +sys\.argv\[0\] = sys\.argv\[0\]\[:-[0-9]+\]`,
		` +sys\.argv\[0\] = sys\.argv\[0\]\.removesuffix\("\.exe"\)`,
		` +sys\.exit\([A-Za-z_][\w.]*\(\)\)`,
	}, "|") + `)?$`)
)

// entryPoint reads a script that imports a function and calls it, and gives its
// interpreter.
func entryPoint(text string) (interpreter string, ok bool) {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	interpreter, ok = strings.CutPrefix(lines[0], "#!")
	if !ok || len(lines) > 20 || !filepath.IsAbs(interpreter) || strings.ContainsAny(interpreter, " \t\r\x00") {
		return "", false
	}
	calls, imports := 0, 0
	for _, line := range lines[1:] {
		if !entryLines.MatchString(line) {
			return "", false
		}
		if strings.HasPrefix(line, "from ") {
			imports++
		}
		if strings.Contains(line, "sys.exit(") {
			calls++
		}
	}
	return interpreter, calls == 1 && imports == 1
}
