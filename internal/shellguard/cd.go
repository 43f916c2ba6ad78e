package shellguard

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Places that stand for what only the machine knows. Both look like directories
// that nobody grants and that nobody would want to lose, so that whoever forgets
// about them asks.
const (
	homeDir    = "/home/~"       // the home directory, wherever it is
	unknownDir = "/proc/unknown" // it could be anywhere
	printedDir = "/tmp/?"        // what git, mktemp or their like print: not a home
)

// cdTarget reads the arguments of cd: the one operand, and whether links are
// followed before ".." is (-P). Not ok: shells differ, or refuse them.
func cdTarget(args []Arg) (to Arg, physical, ok bool) {
	for len(args) > 0 {
		t := args[0].Text
		if !args[0].Literal || t == "-" || !strings.HasPrefix(t, "-") {
			break
		}
		args = args[1:]
		if t == "--" {
			break
		}
		if strings.Trim(t[1:], "LPe@") != "" {
			return Arg{}, false, false
		}
		if i := strings.LastIndexAny(t, "LP"); i >= 0 {
			physical = t[i] == 'P'
		}
	}
	switch len(args) {
	case 0:
		return Arg{Text: homeDir, Literal: true}, physical, true
	case 1:
		return args[0], physical, true
	}
	return Arg{}, false, false
}

// moves reports whether a builtin changes the directory of the shell.
func moves(name string) bool { return name == "cd" || name == "pushd" || name == "popd" }

// chdir follows the builtins that move the shell, whatever their class: a cd
// that is asked about moves the shell as well once a person said yes, and what
// comes after it is judged there.
func (w *walker) chdir(p *Program, name string, sc scope) dirsAfter {
	if sc.loop {
		w.line.unknown("it changes directory in a loop")
	}
	to, physical, ok := cdTarget(p.Args)
	if !ok {
		w.trail.getLost()
	}
	if name == "popd" || name == "pushd" && (len(p.Args) == 0 || strings.HasPrefix(to.Text, "+")) {
		ok = false // back to a place that was put aside
	}
	printed := to.from != "" && len(to.values) == 0
	var dirs []string
	for _, d := range sc.dirs {
		if !ok || printed {
			break
		}
		for _, t := range to.texts() {
			at := unknownDir
			if w.vars[strings.TrimPrefix(to.Text, "$")].from == "" {
				at = w.directory(d, t, physical)
			}
			for _, at := range slices.Concat([]string{at}, w.searched(d, t, physical), w.byUser(d, t, at)) {
				if !slices.Contains(dirs, at) {
					dirs = append(dirs, at)
				}
			}
		}
	}
	if printed {
		dirs = []string{printedDir}
		w.line.unknown("nobody knows where %s leads", Quote(p.String()))
	} else if len(dirs) == 0 || to.open > settled && len(to.values) == 0 {
		dirs = append(dirs, unknownDir)
	}
	if len(dirs) > maxDirs {
		w.trail.getLost()
	}
	if slices.Contains(dirs, unknownDir) {
		w.line.unknown("nobody knows where %s leads", Quote(p.String()))
	}
	if len(dirs) > maxDirs {
		w.line.unknown("it changes directory too often to be followed")
		dirs = append(dirs[:maxDirs-1], unknownDir)
	}
	return dirsAfter{dirs, w.join(sc.dirs, dirs)}
}

// searched is where cd leads from d if the line sets CDPATH, in whose directories
// a plain name is looked for first.
func (w *walker) searched(d, to string, physical bool) []string {
	if !searchable(to) {
		return nil
	}
	var out []string
	for _, name := range []string{"CDPATH", "cdpath"} {
		v, set := w.vars[name]
		if !set {
			continue
		}
		if v.open > settled || len(v.texts) == 0 {
			w.trail.getLost()
			out = append(out, unknownDir)
		}
		for _, list := range v.texts {
			for _, in := range strings.FieldsFunc(list, func(r rune) bool { return r == ':' || r == ' ' }) {
				if at := w.directory(d, in, physical); at != unknownDir {
					out = append(out, w.directory(at, to, physical))
				} else {
					out = append(out, unknownDir)
				}
			}
		}
	}
	return out
}

// searchable: it is a plain name, which cd may look for elsewhere.
func searchable(to string) bool {
	first, _, _ := strings.Cut(to, "/")
	return first != "" && first != "." && first != ".." && !strings.HasPrefix(to, "~") && to != "-"
}

// byUser is where cd leads from d besides by what the user of the shell has set: by the
// variable CDPATH; by cdablevars, which takes what is no directory for a variable; and by
// CHASE_LINKS of zsh, which follows links before "..".
func (w *walker) byUser(d, to, at string) (out []string) {
	if searchable(to) {
		lost := w.opt.CDPath
		if w.opt.UserShell && w.opt.Stat != nil && at != unknownDir {
			_, err := w.opt.Stat(at)
			lost = lost || errors.Is(err, fs.ErrNotExist)
		}
		if lost {
			return []string{unknownDir}
		}
	}
	if w.opt.ownOptions() {
		if chased := w.leadsTo(d, to, true); strings.Contains(to, "..") && chased != at {
			out = append(out, chased)
		}
	}
	return out
}

// directory is where cd leads from d. Shells take the words of the path away
// for "..", not the links, unless told otherwise; where the commands that follow
// really run is for [realPath] to say.
func (w *walker) directory(d, to string, physical bool) string {
	at := w.leadsTo(d, to, physical)
	w.trail.follow(w.opt.Dir, d, to, at)
	return at
}

func (w *walker) leadsTo(d, to string, physical bool) string {
	if rest, ok := strings.CutPrefix(to, "~+"); ok && (rest == "" || rest[0] == '/') {
		to = "." + rest // where it is
	}
	switch to {
	case "", "-", "~-":
		return unknownDir
	case "~", "$HOME":
		to = homeDir
	}
	if rest, ok := strings.CutPrefix(to, "~/"); ok {
		to = homeDir + "/" + rest
	} else if rest, ok := strings.CutPrefix(to, "$HOME/"); ok {
		to = homeDir + "/" + rest
	} else if strings.HasPrefix(to, "~") {
		to = "/home/" + to // of another user
	}
	if to != homeDir && strings.ContainsAny(to, "$*?[…") {
		return unknownDir
	}
	if !path.IsAbs(to) {
		if d == unknownDir {
			return unknownDir
		}
		to = d + "/" + to
	}
	if !physical {
		return path.Clean(to)
	}
	resolved, err := realPath(w.opt, to)
	if err != nil {
		return unknownDir
	}
	return resolved
}
