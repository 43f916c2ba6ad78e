package files

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/glob"
	"github.com/toolcrib/toolcrib/internal/pathglob"
)

// Search is which files a program reads that goes through a tree.
type Search struct {
	Names []string // patterns for the last element of the name; none: all
	// Globs are patterns of files that are read, whatever .gitignore files say, and with a !
	// those that are not, as rg has them with --glob. The last that matches counts. None:
	// all files. What nobody can tell for sure counts as read, so that those without a ! are
	// taken as widely as any program does.
	Globs []string
	// Whole: Globs are paths from the directory on, and links are followed. If it is not
	// set, only their last elements count: from where the others count only the program knows.
	Whole bool
	// Ignores: of the other files it leaves out those that .gitignore files exclude.
	Ignores bool
	// Most is how many entries are looked at. Zero: 50,000.
	Most int
}

// reading is a search that can be held against files.
type reading struct {
	Search
	globs   []oneGlob
	some    bool // there are globs that name files
	ignores bool // .gitignore files count
}

// oneGlob names files that are read, or, if not is there, those that are left out.
type oneGlob struct {
	wide wide
	not  *glob.Ignore
}

// compile makes a search that begins in a directory ready.
func (s Search) compile(f *Handle, dir string) *reading {
	r := &reading{Search: s, ignores: s.Ignores && f.obeysGitignore(dir)}
	for _, text := range s.Globs {
		left, not := strings.CutPrefix(text, "!")
		if !not {
			r.globs, r.some = append(r.globs, oneGlob{wide: readWidely(text, s.Whole)}), true
			continue
		}
		ways, err := pathglob.Braces(left)
		if err != nil {
			continue
		}
		for _, way := range ways {
			if line, ok := leftOut(way); ok {
				r.globs = append(r.globs, oneGlob{not: glob.NewIgnore(nil, "", []byte(line))})
			}
		}
	}
	return r
}

// leftOut writes a glob of files that are left out as a line of a .gitignore file that is
// about names alone. From which directory a path in it counts only the program knows: so
// one with a path leaves nothing out.
func leftOut(text string) (line string, ok bool) {
	name := strings.TrimPrefix(strings.TrimSuffix(text, "/"), "**/")
	if strings.ContainsAny(name, "/\n\r") || name == "" {
		return "", false
	}
	if strings.Trim(name, "*") == "" {
		name = "*"
	}
	if name[0] == '#' || name[0] == '!' {
		name = `\` + name
	}
	if strings.HasSuffix(text, "/") {
		name += "/"
	}
	return name, glob.NewIgnore(nil, "", []byte(name)) != nil
}

// reads reports whether a file is read, or a directory entered. Letter case never
// matters for names.
func (r *reading) reads(path, name string, kind fs.FileMode, rules *glob.Ignore) bool {
	link := r.Whole && kind&fs.ModeSymlink != 0 // it may lead to a directory
	dir := kind.IsDir() || link
	if len(r.Names) > 0 && !dir {
		return slices.ContainsFunc(r.Names, func(pattern string) bool { return matchesName(pattern, name) })
	}
	leads := !r.some || !r.Whole
	for _, g := range slices.Backward(r.globs) {
		switch {
		case g.not != nil:
			if found, _ := g.not.Last(path, dir); found {
				return false
			}
		case g.wide.means(path):
			return true
		default:
			leads = leads || g.wide.leads(path, link)
		}
	}
	if r.some && !dir || !leads {
		return false
	}
	return !rules.Match(path, dir)
}

func matchesName(pattern, name string) bool {
	ok, err := path.Match(strings.ToLower(pattern), strings.ToLower(name))
	return ok || err != nil
}
