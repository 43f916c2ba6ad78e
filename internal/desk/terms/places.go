package terms

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/desk"
	"github.com/toolcrib/toolcrib/internal/pathglob"
	"github.com/toolcrib/toolcrib/internal/pattern"
	"github.com/toolcrib/toolcrib/internal/shellguard"
)

// places adds where links lead that a line goes through: the directories in which
// its programs run, and what they are told of. An answer is about those places,
// not about names that may lead elsewhere by the time they are used.
func (s *scripts) places(p *shellguard.Program) {
	if p.Builtin || p.Class == shellguard.ReadOnly {
		return
	}
	for _, dir := range p.Dirs {
		s.noteTarget(dir)
		for _, a := range p.Args {
			if a.Literal && a.Text != "" && !strings.HasPrefix(a.Text, "-") && len(a.Text) < 4096 {
				file := a.Text
				if !filepath.IsAbs(file) {
					file = filepath.Join(dir, file)
				}
				if !s.noteTarget(file) {
					s.noteTarget(filepath.Dir(file))
				}
			}
		}
	}
}

// noteTarget notes where a path leads, if that is not where it says. It reports whether
// there is anything.
func (s *scripts) noteTarget(path string) bool {
	if !filepath.IsAbs(path) {
		return true
	}
	to, err := filepath.EvalSymlinks(path)
	if err != nil {
		return false
	}
	want := filepath.Clean(path)
	for _, dir := range s.writable { // what the project itself is called does not count
		if top, err := filepath.EvalSymlinks(dir); err == nil && below(dir, want) {
			if rel, ok := pathglob.Rel(dir, want); ok {
				want = filepath.Join(top, rel)
				break
			}
		}
	}
	if to == want || slices.ContainsFunc(s.files, func(f desk.File) bool { return f.Path == path }) {
		return true
	}
	if len(s.files) >= maxBound {
		s.unknown = true
		return true
	}
	s.files = append(s.files, desk.File{Path: path, Sum: "leads to " + to})
	return true
}

// settles are options whose file says what a program does: settings, a script, a
// list of jobs, a patch.
var settles = pattern.Of(`(?i)^--?[a-z-]*(config|conf|cfg|specs|rcfile|settings|script|plugin|engine|defs|input-file|arg-file|patch)[a-z-]*$`)

// addNamedFiles adds the files that say what a program does, wherever they stand.
func (s *scripts) addNamedFiles(p *shellguard.Program, name string) {
	if p.Class == shellguard.ReadOnly {
		return
	}
	for i, a := range p.Args {
		option, value, glued := strings.Cut(a.Text, "=")
		before := ""
		if i > 0 {
			before = p.Args[i-1].Text
		}
		switch {
		case glued && settles.MatchString(option):
			s.in(p.Dirs, value, isFile)
		case settles.MatchString(before) || shortSettles(name, before) || name == "git" && i > 0 && (p.Args[0].Text == "apply" || p.Args[0].Text == "am"):
			s.in(p.Dirs, a.Text, isFile)
		case len(a.Text) > 2 && shortSettles(name, a.Text[:2]):
			s.in(p.Dirs, a.Text[2:], isFile)
		}
	}
}

// shortSettles: the same by a letter.
func shortSettles(name, option string) bool {
	switch name {
	case "curl":
		return option == "-K"
	case "xargs":
		return option == "-a"
	case "patch":
		return option == "-i"
	}
	return false
}
