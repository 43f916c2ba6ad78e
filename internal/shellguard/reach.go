package shellguard

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/pathglob"
)

// maxMatches bounds how many files of a pattern are looked at one by one.
const maxMatches = 1000

// reach asks about every file and directory that the line is told to read and
// says what lies outside.
func (s *Guard) reach(l *Line, opt *Options) []string {
	var out []string
	seen, hidden := map[Path]bool{}, l.matchesHidden(opt)
	check := func(p Path) {
		if seen[p] || len(out) >= maxReasons {
			return
		}
		seen[p] = true
		if err := s.reachPath(p, opt, hidden); err != nil {
			out = append(out, err.Error())
		}
	}
	for i := range l.Programs {
		p := &l.Programs[i]
		for _, d := range p.Dirs {
			check(Path{Dir: d, Text: "."})
		}
		for _, f := range p.Paths {
			check(f)
		}
		if q := p.elsewhere(); q != nil { // make -C x
			for _, d := range q.Dirs {
				check(Path{Dir: d, Text: "."})
			}
			for _, f := range q.Paths {
				check(f)
			}
		}
	}
	for i := range l.Redirects {
		for _, f := range l.Redirects[i].Paths {
			check(f)
		}
	}
	return out
}

func (s *Guard) reachPath(p Path, opt *Options, hidden bool) error {
	if !p.Glob {
		return s.reachFile(p.Full(), opt)
	}
	// What the pattern becomes may be a link to somewhere else.
	if strings.ContainsAny(p.Text, "[\\?") || strings.Contains(p.Text, "..") || hiddenPattern(p.Text) || starred(p.Text) > 2 || s.Glob == nil {
		return fmt.Errorf("nobody can say which files %s means", Quote(p.Text))
	}
	full := strings.TrimRight(p.Full(), "/")
	files, err := s.Glob(full)
	if err != nil || len(files) > maxMatches {
		return fmt.Errorf("nobody can say which files %s means", Quote(p.Text))
	}
	if !hidden {
		files = withoutHidden(full, files)
	}
	dir := full
	for strings.ContainsAny(dir, "*?") {
		dir = path.Dir(dir)
	}
	if err := s.reachFile(dir, opt); err != nil {
		return err
	}
	for _, f := range files {
		if strings.Contains(f, "/-") {
			return fmt.Errorf("the file %s would be taken for an option", Quote(f))
		}
		if err := s.reachFile(f, opt); err != nil {
			return err
		}
	}
	return nil
}

// starred counts the elements of a pattern that have to be looked for: each
// multiplies the work.
func starred(text string) (n int) {
	for elem := range strings.SplitSeq(text, "/") {
		if strings.Contains(elem, "*") {
			n++
		}
	}
	return n
}

// hiddenPattern: an element such as .* is "." and ".." too, to some shells.
func hiddenPattern(text string) bool {
	return slices.ContainsFunc(strings.Split(text, "/"), func(elem string) bool { return strings.HasPrefix(elem, ".") && strings.Contains(elem, "*") })
}

func (s *Guard) reachFile(full string, opt *Options) error {
	if full == "/dev/null" || harmlessFile(full) {
		return nil
	}
	if resolved, err := realPath(opt, full); err == nil && pathglob.Within(resolved, []string{"/proc", "/sys", "/dev"}) {
		return fmt.Errorf("it reads %s, which is not a plain file", Quote(full))
	}
	if s.Reach != nil {
		if err := s.Reach(full); err != nil {
			return fmt.Errorf("it reads %s: %w", Quote(full), err)
		}
		return nil
	}
	root, err := realPath(opt, s.root())
	if err != nil {
		return fmt.Errorf("the working directory cannot be resolved: %w", err)
	}
	resolved, err := realPath(opt, full)
	if err != nil || !pathglob.Within(resolved, []string{root}) {
		return fmt.Errorf("it reads %s, which is outside the working directory", Quote(full))
	}
	return nil
}

// harmlessFile knows the files of the system that tell what machine this is, and
// that nobody but the system writes.
func harmlessFile(full string) bool {
	switch full {
	case "/etc/os-release", "/usr/lib/os-release", "/etc/lsb-release", "/etc/debian_version", "/etc/redhat-release", "/etc/alpine-release", "/etc/issue", "/etc/hostname", "/etc/timezone", "/etc/shells",
		"/proc/cpuinfo", "/proc/meminfo", "/proc/version", "/proc/loadavg", "/proc/uptime", "/proc/filesystems":
		return true
	}
	return false
}

// realPath resolves the links of a path, part of which may not exist yet.
func realPath(opt *Options, full string) (string, error) {
	if opt.EvalSymlinks == nil {
		return "", errors.New("nothing resolves links")
	}
	if !path.IsAbs(full) {
		return "", fmt.Errorf("%s is not absolute", Quote(full))
	}
	resolved, err := opt.EvalSymlinks(full)
	if err == nil {
		return filepath.ToSlash(resolved), nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	// The file is missing: its directory says where it would be. A ".." after
	// something that is missing leads nowhere.
	dir, base := path.Split(strings.TrimRight(full, "/"))
	if base == ".." || dir == "" || dir == full {
		return "", err
	}
	parent, err := realPath(opt, dir)
	if err != nil {
		return "", err
	}
	return path.Join(parent, base), nil
}
