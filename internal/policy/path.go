package policy

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"unicode"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/pathglob"
	"github.com/toolcrib/toolcrib/internal/shellguard"
)

// pathSpec is the specifier of a rule about files:
//
//	./src/**  src/**    below the working directory
//	~/notes/**          below the home directory
//	/etc/hosts          absolute
//	*.env               a name at any depth
//
// Where it takes away it means what lies below a named directory as well, it
// means whatever some file system would take for the same name, and a name at
// any depth means anywhere. Where it gives it means what it says, below the
// working directory.
type pathSpec struct {
	exact []pathglob.Glob // from the top of the file system on
	loose []pathglob.Glob // the same, folded
}

// places is what a rule about files has to know of the machine.
type places struct {
	base, home string
	resolve    func(string) (string, error)
	// review is of the call whose paths are looked at: what it leads to is found
	// once, and the call is held to it. Nil: it is about no path of a call.
	review *toolcrib.Review
}

func parsePathSpec(text string, at places, gives bool) (*pathSpec, error) {
	if strings.ContainsFunc(text, unicode.IsControl) || strings.Contains(text, "\\") && filepath.Separator == '/' {
		return nil, errors.New("a path pattern has no control characters and no backslashes")
	}
	text = filepath.ToSlash(text)
	texts, err := pathglob.Braces(text)
	if err != nil {
		return nil, err
	}
	s := &pathSpec{}
	for _, t := range texts {
		if err := s.add(t, at, gives); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (s *pathSpec) add(text string, at places, gives bool) error {
	top, rest := at.base, text
	switch {
	case text == "":
		return errors.New("it names no path")
	case text == "~" || strings.HasPrefix(text, "~/"):
		if top, rest = at.home, text[1:]; top == "" {
			return errors.New("nobody knows the home directory that ~ means")
		}
	case strings.HasPrefix(text, "~"):
		return errors.New("only ~/ is known, not the home of someone else")
	case strings.HasPrefix(text, "/") || filepath.IsAbs(text):
		top, rest = "/", text
	case !strings.Contains(text, "/") && text != "." && text != "*" && text != "**":
		rest = "**/" + text
	}
	if (strings.HasPrefix(rest, "**/") || rest == "**" || rest == "*") && !gives && top == at.base {
		top = "/" // a name at any depth, wherever
	}
	if top == "" {
		return errors.New("nobody knows the working directory that it begins in")
	}
	g, err := pathglob.Parse(rest)
	if err != nil {
		return err
	}
	way := pathglob.Elements(top)
	whole := append(pathglob.Glob(way), g...)
	s.addGlob(whole)
	// The same by the real path of its fixed part: whoever names a file by that
	// must find the same rule. A rule that gives goes only by what nobody who is
	// given something can put a link into: a rule for ./src must not become one
	// for what ./src is a link to.
	n := whole.Fixed()
	if gives {
		n = min(n, max(len(way), 1))
	}
	if found, err := at.real("/" + strings.Join(whole[:n], "/")); err == nil {
		s.addGlob(append(pathglob.Glob(pathglob.Elements(found)), whole[n:]...))
	}
	return nil
}

func (s *pathSpec) addGlob(g pathglob.Glob) {
	if slices.ContainsFunc(s.exact, func(h pathglob.Glob) bool { return slices.Equal(g, h) }) {
		return
	}
	s.exact = append(s.exact, g)
	s.loose = append(s.loose, g.Folded())
}

// real resolves the links of an absolute path that need not exist in full.
func (at *places) real(full string) (string, error) {
	if at.resolve == nil {
		return "", errors.New("nothing resolves links")
	}
	if len(full) > 2 && full[0] == '/' && filepath.VolumeName(filepath.FromSlash(full[1:])) != "" {
		full = full[1:] // "/C:/x" is how a rule writes C:\x
	}
	resolved, err := at.resolve(filepath.FromSlash(full))
	if err == nil {
		return filepath.ToSlash(resolved), nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	// A ".." after something that is missing leads nowhere.
	dir, base := path.Split(strings.TrimRight(full, "/"))
	if base == ".." || dir == "" || dir == full {
		return "", err
	}
	parent, err := at.real(dir)
	if err != nil {
		return "", err
	}
	return path.Join(parent, base), nil
}

// place finds where a path leads, once for each path of a call.
func (at *places) place(given, full string) (files.Place, error) {
	find := func() (files.Place, error) {
		found, err := at.real(full)
		p := files.Place{Entry: found, Real: found}
		dir, base := path.Split(strings.TrimRight(full, "/"))
		if err != nil || found == path.Clean(full) || base == "." || base == ".." || base == "" {
			return p, err
		}
		parent, err := at.real(dir) // its end may be a link, which a tool may mean itself
		p.Entry = path.Join(parent, base)
		return p, err
	}
	switch {
	case at.review == nil:
		return find()
	case at.review.Change != nil: // there are no links on the way to it, or none any more
		return files.Place{Entry: full, Real: full}, nil
	}
	return at.review.Where(given, find)
}

// RealPath follows the links of an absolute path, of which the end may be
// missing, also behind a link: who writes to a link that leads to nothing makes
// what it leads to. It is what RuleOptions.Resolve wants.
func RealPath(full string) (string, error) {
	if !filepath.IsAbs(full) {
		return "", fmt.Errorf("resolving %s: it is not absolute", shellguard.Quote(full))
	}
	clean := filepath.Clean(full)
	switch {
	case runtime.GOOS == "windows": // it has second names
		return filepath.EvalSymlinks(full)
	case strings.Contains(full, ".."): // what it leaves may be behind a link
		return followLinks(full)
	}
	for end := len(filepath.VolumeName(clean)) + 1; end < len(clean); {
		next := strings.IndexByte(clean[end:], filepath.Separator)
		if end += next; next < 0 {
			end = len(clean)
		}
		info, err := os.Lstat(clean[:end])
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return clean, nil // and there is no link below what is not there
		case err != nil:
			return "", err
		case info.Mode()&(fs.ModeSymlink|fs.ModeIrregular) != 0:
			return followLinks(clean)
		}
		end++
	}
	return clean, nil
}

// maxFollowed is how many links a path may lead through, as for the system.
const maxFollowed = 40

// followLinks is RealPath for a path that has links or "..".
func followLinks(full string) (string, error) {
	at, todo := "/", pathglob.Elements(full)
	for links := 0; len(todo) > 0; {
		elem := todo[0]
		todo = todo[1:]
		if elem == ".." {
			at = path.Dir(at)
			continue
		}
		next := path.Join(at, elem)
		info, err := os.Lstat(next)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			if slices.Contains(todo, "..") {
				return "", err
			}
			return path.Join(append([]string{next}, todo...)...), nil
		case err != nil:
			return "", err
		case info.Mode()&fs.ModeSymlink != 0:
			if links++; links > maxFollowed {
				return "", fmt.Errorf("resolving %s: too many links", shellguard.Quote(full))
			}
			target, err := os.Readlink(next)
			if err != nil {
				return "", err
			}
			if path.IsAbs(target) {
				at = "/"
			}
			todo = append(pathglob.Elements(target), todo...)
		case len(todo) > 0 && !info.IsDir():
			return "", fmt.Errorf("resolving %s: %s is no directory", shellguard.Quote(full), shellguard.Quote(next))
		default:
			at = next
		}
	}
	return at, nil
}

// pathForms is a path of a call under every name that it may have.
type pathForms struct {
	given        string
	real         string     // where it leads; empty: nobody can say
	exact, loose [][]string // as given, cleaned, and where links lead
	joined       []string   // loose, as texts
	up           bool       // it has a ".."
	unclear      bool       // nobody can say where it leads
	search       bool       // what lies below it is meant too
}

func formsOf(given string, at *places) *pathForms {
	f := &pathForms{given: filepath.ToSlash(given)}
	f.unclear = strings.ContainsFunc(given, unicode.IsControl) // no rule can be meant to name it
	if given == "" || strings.Contains(given, "\x00") {
		f.unclear = true
		return f
	}
	full := filepath.ToSlash(given)
	add := func(p string) {
		elems := pathglob.Elements(p)
		if slices.ContainsFunc(f.exact, func(have []string) bool { return slices.Equal(have, elems) }) {
			return
		}
		f.exact = append(f.exact, elems)
		folded := pathglob.FoldAll(elems)
		f.loose, f.joined = append(f.loose, folded), append(f.joined, strings.Join(folded, "/"))
	}
	if rest, ok := strings.CutPrefix(full, "~"); ok && (rest == "" || rest[0] == '/') {
		if at.home == "" {
			f.unclear = true
		}
		add(path.Join("/", filepath.ToSlash(at.home), rest)) // should a tool read it so
		f.up = true                                          // and so it is not certain which it is
	}
	if !strings.HasPrefix(full, "/") && !filepath.IsAbs(full) {
		if at.base == "" {
			f.unclear = true
		}
		full = strings.TrimSuffix(filepath.ToSlash(at.base), "/") + "/" + full
	}
	f.up = f.up || slices.Contains(strings.Split(full, "/"), "..")
	add(path.Clean(full))
	add(full)
	found, err := at.place(given, full)
	if err != nil {
		f.unclear = true
		return f
	}
	f.real = found.Real
	add(found.Real)
	add(found.Entry)
	return f
}

// mayMatch: one of the names matches, or nobody can say.
func (s *pathSpec) mayMatch(f *pathForms) bool {
	if f.unclear {
		return true
	}
	for _, elems := range f.loose {
		for _, g := range s.loose {
			if g.Match(elems, true) || f.search && g.Reaches(elems) {
				return true
			}
		}
	}
	return false
}

// mayMatchOperand: the operand of a command line is one of them, or may be.
func (s *pathSpec) mayMatchOperand(o *operand) bool {
	return o.Anywhere || s.mayMatch(o.forms) || slices.ContainsFunc(s.loose, o.Meets)
}

// matches: every name matches as it is written.
func (s *pathSpec) matches(f *pathForms) bool {
	if f.unclear || f.up || len(f.exact) == 0 {
		return false
	}
	for _, elems := range f.exact {
		if !slices.ContainsFunc(s.exact, func(g pathglob.Glob) bool { return g.Match(elems, false) }) {
			return false
		}
	}
	return true
}

// isPathTool knows the tools of the box files: their argument path is a path.
func isPathTool(native string) bool {
	return slices.Contains(pathTools(), native)
}

func pathTools() []string {
	return []string{"read_file", "write_file", "edit_file", "delete_file", "list_files", "find_files", "search_files"}
}

// searches: a tool that is given a directory looks at what lies below it.
func searches(spec *toolcrib.Entry) bool {
	return slices.Contains([]string{"list_files", "find_files", "search_files"}, spec.Native) || spec.Group == "search"
}
