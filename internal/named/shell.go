package named

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/toolcrib/toolcrib/internal/pathglob"
	"github.com/toolcrib/toolcrib/internal/starter"
)

// The bounds on how a script is followed.
const (
	maxValues = 8  // of one word
	maxCalls  = 3  // scripts that call each other
	maxTexts  = 32 // scripts that are read for one text
	maxInner  = 4  // texts in texts, as sh -c has them
	rounds    = 2  // a function may use what is set behind it
	maxWork   = 1 << 15
	maxSteps  = 1 << 19 // parts of a script that are looked at; some are more than once
)

// unknown stands for what a part of a word is only while the script runs.
const unknown = "\x02"

// parse reads a text of a shell; nil if it is none.
func parse(text string) *syntax.File {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil {
		return nil
	}
	return file
}

// parseAll reads a text that may be of another shell: then as many of its lines as
// can be read.
func parseAll(text string) (list []*syntax.File) {
	if file := parse(text); file != nil {
		return []*syntax.File{file}
	}
	for line := range strings.Lines(text) {
		if file := parse(line); file != nil && len(file.Stmts) > 0 && len(list) < 16*maxFiles {
			list = append(list, file)
		}
	}
	return list
}

// isScript tells a script of a shell by its first line, or by its name.
func isScript(file string, content []byte) bool {
	if line := textBefore(string(content[:min(len(content), maxValue)]), "\n"); strings.HasPrefix(line, "#!") {
		return strings.Contains(line, "sh")
	}
	return slices.Contains([]string{"", ".sh", ".bash", ".zsh", ".ksh", ".env"}, filepath.Ext(file)) && !strings.ContainsRune(string(content[:min(len(content), maxWord)]), 0)
}

// installed tells what package managers put into a project. They replace it in
// ordinary work, and a hook that runs it means whatever is installed.
func (f *scriptFollower) installed(path string) bool {
	return isInstalled(f.below(path))
}

func isInstalled(rel string) bool {
	return hasElement(rel, "node_modules", ".venv", "venv", ".tox", ".nox") || strings.Contains("/"+filepath.ToSlash(rel), "/vendor/bin/")
}

// built tells what builds put into a project.
func (f *scriptFollower) built(path string) bool {
	return isBuilt(f.below(path))
}

func isBuilt(rel string) bool {
	return hasElement(rel, "dist", "build", "out", "target", "coverage", ".next", "__pycache__")
}

func hasElement(path string, names ...string) bool {
	return slices.ContainsFunc(strings.Split(filepath.ToSlash(path), "/"), func(part string) bool { return slices.Contains(names, part) })
}

// scriptFollower finds what a script runs or reads as a part of itself. It takes every
// value that the text may give to a variable, and every directory that it may
// stand in, at every place: which of them it is would take running it.
type scriptFollower struct {
	home, top string
	own       []string // what $0 may be
	vars      map[string][]string
	dirs      []string // where it may stand
	path      []string // what it puts before PATH
	functions map[string]bool
	files     []string // what it runs
	matched   []string // what it runs by a pattern: anybody can make more that fits
	inner     int
	left      int // of the work that one text is worth
	steps     int // that are left
}

func newScriptFollower(home, top string) *scriptFollower {
	return &scriptFollower{home: home, top: top, vars: map[string][]string{}, dirs: []string{top}, functions: map[string]bool{}, left: maxWork, steps: maxSteps}
}

// step tells whether there is work left for so many steps, and takes them.
func (f *scriptFollower) step(n int) bool {
	f.steps -= n
	return f.steps >= 0 && f.left >= 0
}

// each visits a part of a script and all that is in it, as long as there is work
// left. Every walk goes through here: what stands in one another is walked anew
// from each place around it, which would take hours for a script that is made for it.
func (f *scriptFollower) each(node syntax.Node, visit func(n syntax.Node)) {
	syntax.Walk(node, func(n syntax.Node) bool {
		if n == nil { // the end of what was visited
			return true
		}
		if !f.step(1) {
			return false
		}
		visit(n)
		return true
	})
}

// inTop: it lies in the project.
func (f *scriptFollower) inTop(path string) bool { return f.below(path) != "" }

// below is a path from the top of the project; empty if it lies elsewhere.
func (f *scriptFollower) below(path string) string {
	if rel, ok := pathglob.Rel(f.top, path); ok {
		return rel
	}
	return ""
}

// script follows a text that lies at own.
func (f *scriptFollower) script(file *syntax.File, own string) {
	if file == nil {
		return
	}
	before := f.own
	f.own = merge([]string{own}, f.own)
	for range rounds {
		f.walk(file)
	}
	f.own = before
}

func (f *scriptFollower) walk(node syntax.Node) {
	f.each(node, func(n syntax.Node) {
		switch n := n.(type) {
		case *syntax.FuncDecl:
			if n.Name != nil {
				f.functions[n.Name.Value] = true
			}
		case *syntax.DeclClause:
			f.assign(n.Args)
		case *syntax.ForClause:
			if iter, ok := n.Loop.(*syntax.WordIter); ok {
				for _, w := range iter.Items {
					f.set(iter.Name.Value, f.values(w))
				}
			}
		case *syntax.BinaryCmd:
			if n.Op == syntax.Pipe || n.Op == syntax.PipeAll {
				if call, ok := n.Y.Cmd.(*syntax.CallExpr); ok {
					f.call(call, func() []string { return f.printed(n.X) })
				}
			}
		case *syntax.Stmt:
			if call, ok := n.Cmd.(*syntax.CallExpr); ok {
				f.assign(call.Assigns)
				read := f.redirected(n)
				f.call(call, func() []string { return read })
			}
		}
	})
}

// redirected gives what a command reads: files, or texts that stand there.
func (f *scriptFollower) redirected(s *syntax.Stmt) (files []string) {
	for _, r := range s.Redirs {
		switch {
		case r.Op == syntax.RdrIn:
			files = append(files, f.values(r.Word)...)
		case r.Hdoc != nil:
			if call, ok := s.Cmd.(*syntax.CallExpr); ok && len(call.Args) > 0 && starter.IsShell(programName(f.first(call.Args[0]))) {
				f.text(f.first(r.Hdoc))
			}
		}
	}
	return files
}

// printed gives the files whose text a command prints.
func (f *scriptFollower) printed(s *syntax.Stmt) (files []string) {
	f.each(s, func(n syntax.Node) {
		if s, ok := n.(*syntax.Stmt); ok {
			files = append(files, f.redirected(s)...)
		}
		if call, ok := n.(*syntax.CallExpr); ok && len(call.Args) > 1 && slices.Contains([]string{"cat", "head", "tail", "sed", "envsubst", "tr", "grep"}, programName(f.first(call.Args[0]))) {
			for _, w := range call.Args[1:] {
				files = append(files, f.values(w)...)
			}
		}
	})
	return files
}

func (f *scriptFollower) assign(list []*syntax.Assign) {
	for _, a := range list {
		switch {
		case a.Name == nil:
		case a.Array != nil:
			for _, e := range a.Array.Elems {
				f.set(a.Name.Value, f.values(e.Value))
			}
		case a.Value != nil && a.Name.Value == "PATH":
			for _, v := range f.values(a.Value) {
				f.addPath(strings.Split(v, ":"))
			}
		case a.Value != nil:
			f.set(a.Name.Value, f.values(a.Value))
		}
	}
}

// addPath notes directories that are put before PATH.
func (f *scriptFollower) addPath(dirs []string) {
	for _, dir := range dirs {
		if dir != "" && dir != unknown {
			f.path = merge(f.path, f.resolve(dir))
		}
	}
}

func (f *scriptFollower) set(name string, values []string) {
	f.vars[name] = merge(f.vars[name], values)
}

// merge puts lists together, as far as that has an end.
func merge(a, b []string) []string {
	for _, v := range b {
		if len(a) < 2*maxValues && !slices.Contains(a, v) {
			a = append(slices.Clip(a), v)
		}
	}
	return a
}

// resolve gives where a word may lead, of all the directories that it may be read
// from. What only the running script knows is left out where a word begins with
// it: what follows is usually a path from the top, or from where the script lies.
func (f *scriptFollower) resolve(word string) (paths []string) {
	dirs := f.dirs
	if rest, ok := strings.CutPrefix(word, unknown); ok {
		if !strings.HasPrefix(rest, "/") {
			return nil
		}
		word = strings.TrimLeft(rest, "/")
		for _, own := range f.own {
			dirs = merge(slices.Clone(dirs), []string{filepath.Dir(own)})
		}
	}
	if word == "" || strings.Contains(word, unknown) || strings.ContainsRune(word, 0) || len(word) > maxWord {
		return nil
	}
	if filepath.IsAbs(word) {
		dirs = []string{""}
	}
	if f.left -= len(dirs); f.left < 0 {
		return nil
	}
	for _, dir := range dirs {
		at := filepath.Join(dir, filepath.FromSlash(word))
		if !isPattern(word) {
			paths = append(paths, at)
			continue
		}
		if f.left -= maxFiles; f.left > 0 && f.inTop(at) && !isPattern(filepath.Dir(filepath.Dir(at))) { // or it may mean half of the machine
			matches, _ := filepath.Glob(at) // a pattern that is none matches nothing
			paths = append(paths, matches[:min(len(matches), maxFiles)]...)
		}
	}
	return paths
}

// code notes a word that is run, or read as code.
func (f *scriptFollower) code(words ...string) {
	for _, word := range words {
		list := &f.files
		if isPattern(word) {
			list = &f.matched
		}
		for _, path := range f.resolve(word) {
			if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && len(*list) < maxFiles && !slices.Contains(*list, path) {
				*list = append(*list, path)
			}
		}
	}
}

// found gives what was noted, and forgets it.
func (f *scriptFollower) found() []string {
	list := slices.Concat(f.files, f.matched)
	f.files, f.matched = nil, nil
	return list
}

func isPattern(word string) bool { return strings.ContainsAny(word, "*?[") }

// cd notes a directory that the script goes to.
func (f *scriptFollower) cd(dirs []string) {
	for _, dir := range dirs {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			f.dirs = merge(f.dirs, []string{dir})
		}
	}
}

// text follows a command line in words. They may be longer than the script, by
// variables that stand in it often.
func (f *scriptFollower) text(words ...string) {
	for _, word := range words {
		if !f.step(1 + len(word)) {
			return
		}
	}
	text := strings.Join(words, " ")
	if f.inner >= maxInner {
		return
	}
	f.inner++
	defer func() { f.inner-- }()
	if file := parse(strings.ReplaceAll(text, unknown, "$__unknown")); file != nil {
		f.walk(file)
	}
}
