package shellguard

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/gitindex"
	"github.com/toolcrib/toolcrib/internal/pathglob"
)

// What git opens by itself where no sandbox bounds it: the files that it tracks, and in
// some forms those that lie in a tree, tracked or not.

// gitUse is a command of git, its words read as git reads them.
type gitUse struct {
	sub string // with its own subcommand: stash show
	usage
}

// gitUseOf reads the words of a git command that is known to only read.
func gitUseOf(p *Program) gitUse {
	at := gitForm(p.Args)
	sub, rest := gitSubCommand(p.Args)
	if two, ok := gitSubSub(sub, rest); ok {
		sub = two
	}
	u, _, _ := at.form.read(at.rest, false) // it fits, or the command would not count as reading
	return gitUse{sub, u}
}

// gitReads says what a git command would read that is protected or denied.
func (s *Guard) gitReads(call toolcrib.Call, p *Program, opt *Options) (out []error) {
	for _, a := range p.Args { // HEAD:file
		if at := strings.LastIndexByte(a.Text, ':'); at >= 0 && at+1 < len(a.Text) && a.Text[0] != '-' {
			for _, d := range p.repoDirs {
				out = append(out, s.reachFile(Path{Dir: d, Text: a.Text[at+1:]}.Full(), opt))
			}
		}
	}
	u := gitUseOf(p)
	shown := u.showsFiles()
	for _, d := range p.repoDirs {
		out = append(out, s.workTree(call, d, shown, opt))
		trees, err := s.gitTrees(u, d, opt)
		out = append(out, err)
		for _, t := range trees {
			out = append(out, s.holds(call, t))
		}
	}
	return slices.DeleteFunc(out, func(err error) bool { return err == nil })
}

// gitTrees are the directories that git would go through as grep -r does, because it is
// told to, or because there is no repository around what it is told to compare.
func (s *Guard) gitTrees(u gitUse, dir string, opt *Options) ([]Tree, error) {
	d, err := realPath(opt, dir)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be resolved", Quote(dir))
	}
	top, found, err := s.topOf(d)
	if err != nil {
		return nil, err
	}
	switch {
	case u.sub == "grep" && (!found || u.has("untracked", "no-exclude-standard")):
		// Patterns may mean files anywhere below the top, and words such as :/ do.
		if found {
			d = top
		}
		return []Tree{{Dir: d}}, nil
	case u.sub != "diff":
		return nil, nil
	}
	var out []Tree
	outside := !found
	for _, a := range u.operands {
		full := path.Join(d, a.Text)
		if path.IsAbs(a.Text) {
			full = path.Clean(a.Text)
		}
		outside = outside || !pathglob.Within(full, []string{top})
		if info, err := opt.stat(Path{Dir: d, Text: a.Text}.Full()); a.Glob || err != nil || info.IsDir() {
			out = append(out, Tree{Dir: Path{Dir: d, Text: a.Text}.Full()})
		}
	}
	if !outside {
		return nil, nil // it compares what it tracks
	}
	for i, t := range out {
		for strings.ContainsAny(t.Dir, "*?[") {
			t.Dir = path.Dir(t.Dir)
		}
		if out[i].Dir, err = realPath(opt, t.Dir); err != nil {
			return nil, fmt.Errorf("%s cannot be resolved", Quote(t.Dir))
		}
	}
	return out, nil
}

// topOf finds the directory of the repository around a directory. What git may refuse to
// take for a repository is none: it then reads files as if there were no .git.
func (s *Guard) topOf(d string) (top string, found bool, err error) {
	for {
		at, err := s.gitDirs(d)
		if err != nil {
			return "", false, err
		}
		if len(at) > 0 {
			_, err := s.plainFile(path.Join(at[0], "HEAD"))
			_, bare := s.plainFile(path.Join(d, "HEAD"))
			return d, err == nil || bare == nil, nil
		}
		if d == "/" || d == path.Dir(d) {
			return "", false, nil
		}
		d = path.Dir(d)
	}
}

// workTree says what of a repository must not be read: its whole, if it lies outside of
// the grant; and where the files themselves are shown those that git has a name for.
func (s *Guard) workTree(call toolcrib.Call, dir string, shown bool, opt *Options) error {
	d, err := realPath(opt, dir)
	if err != nil {
		return fmt.Errorf("%s cannot be resolved", Quote(dir))
	}
	for {
		at, err := s.gitDirs(d)
		if err != nil {
			return err
		}
		if len(at) > 0 {
			if err := s.reachFile(d, opt); err != nil {
				return err
			}
		}
		for _, g := range at {
			if !shown {
				break
			}
			if err := s.tracked(call, d, path.Join(g, "index")); err != nil {
				return err
			}
		}
		if len(at) > 0 || d == "/" || d == path.Dir(d) {
			return nil
		}
		d = path.Dir(d)
	}
}

// tracked holds the names in an index against what is protected or denied.
func (s *Guard) tracked(call toolcrib.Call, root, index string) error {
	data, err := s.plainFile(index)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var names []string
	if err == nil {
		err = gitindex.Names(data, gitindex.SHA1, func(name string) { names = append(names, name) })
	}
	if err != nil {
		return fmt.Errorf("%s cannot be read", Quote(index))
	}
	if s.Named == nil {
		return errors.New("nobody can say which of the files are protected")
	}
	return s.Named(call, root, names)
}
