package shellguard

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/pathglob"
	"github.com/toolcrib/toolcrib/internal/sensitive"
)

// foreignDirs finds programs that a rule allows, but in a directory of somebody
// else's code: "make test" was allowed for the project's own Makefile. A link
// counts for where it leads.
func (s *Guard) foreignDirs(l *Line, opt *Options) []string {
	var out []string
	for i := range l.Programs {
		p := &l.Programs[i]
		if p.Class == ReadOnly || p.Builtin {
			continue
		}
		places := append([]string{}, p.repoDirs...)
		if p.Class == Runs {
			for _, f := range p.Paths {
				places = append(places, f.Full())
			}
		}
		if q := p.elsewhere(); q != nil {
			places = append(places, q.Dirs...)
		}
		for _, d := range places {
			if why := s.foreign(d, opt); why != "" {
				out = append(out, clip(p.String())+" would run in "+Quote(d)+", which "+why)
			}
		}
		if path.Base(p.Name) == "git" {
			for _, d := range slices.Concat(p.repoDirs, p.pushedTo(opt)) {
				if err := s.nestedRepository(d, opt); err != nil {
					out = append(out, err.Error())
				}
			}
		}
	}
	return out
}

// outside finds operands that lead out of what may be read, for programs that a
// broad rule allows and that have no form to say which of their operands are
// files: those that can only be paths. What the rule spells out is not asked
// about again.
func (s *Guard) outside(l *Line, opt *Options) []string {
	var out []string
	for i := range l.Programs {
		p := &l.Programs[i]
		if p.Class == ReadOnly || p.known && p.fits || p.Builtin || writesOperands(path.Base(p.Name)) { // see wrongPlaces
			continue
		}
		m := slices.IndexFunc(s.Rules, func(r Rule) bool { return r.Match(p) })
		if m < 0 {
			continue
		}
		dirs := p.Dirs
		if q := p.elsewhere(); q != nil {
			dirs = slices.Concat(dirs, q.Dirs)
		}
		for _, a := range p.Args {
			if t := a.Text; !strings.HasPrefix(t, "/") && t != ".." && !strings.HasPrefix(t, "../") && !strings.Contains(t, "/../") || slices.Contains(s.Rules[m].Words, t) {
				continue
			}
			for _, d := range dirs {
				if err := s.reachFile(Path{Dir: d, Text: a.Text}.Full(), opt); err != nil {
					out = append(out, err.Error())
				}
			}
		}
	}
	return out
}

// foreign says why a directory is not the project's own; empty if it is. What
// the project's own directory is called does not count.
func (s *Guard) foreign(d string, opt *Options) string {
	resolved, err := realPath(opt, d)
	if err != nil {
		return "cannot be resolved"
	}
	root, err := realPath(opt, s.root())
	if err != nil {
		root = s.root()
	}
	for _, at := range []string{path.Clean(d), resolved} {
		for elem := range strings.SplitSeq(strings.TrimPrefix(at, root+"/"), "/") {
			if sensitive.IsOthersCode(elem) {
				return "holds the code of others"
			}
		}
	}
	return ""
}

// nestedRepository looks at the repositories between a directory and the
// project's own: a git command that a rule allows was allowed for the project's
// repository, with the filters and hooks that the person put there.
func (s *Guard) nestedRepository(dir string, opt *Options) error {
	d, err := realPath(opt, dir)
	if err != nil {
		return fmt.Errorf("%s cannot be resolved", Quote(dir))
	}
	root, err := realPath(opt, s.root())
	if err != nil || !pathglob.Within(d, []string{root}) {
		return s.repository(dir, opt)
	}
	for ; d != root && pathglob.Within(d, []string{root}); d = path.Dir(d) {
		if s.ReadFile == nil {
			return errors.New("the settings of the repository cannot be read")
		}
		at, err := s.gitDirs(d)
		if err != nil {
			return err
		}
		if err := s.checkGitDirs(at); err != nil {
			return err
		}
		for _, g := range at {
			for hook := range strings.FieldsSeq(gitHooks) {
				file := path.Join(g, "hooks", hook)
				if _, err := s.plainFile(file); !errors.Is(err, fs.ErrNotExist) {
					return fmt.Errorf("%s may be run", Quote(file))
				}
			}
		}
	}
	return nil
}

// gitHooks are the programs that git starts for commands that write.
const gitHooks = "pre-commit prepare-commit-msg commit-msg post-commit pre-merge-commit post-merge pre-push pre-rebase post-rewrite post-checkout reference-transaction applypatch-msg pre-applypatch post-applypatch pre-auto-gc push-to-checkout pre-receive update proc-receive post-receive post-update"
