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
)

// Where no sandbox bounds what a command reads (Guard.Literal), its words have to.
// What is let pass then are the plainest programs, as long as every file that they
// open is named in the line: those are held against the grant like the file of a
// read_file. A program that goes through a tree by itself passes if nothing that is
// protected or denied lies in the tree. What is decided while the line runs names
// nothing, and asks.

// Tree is what a program goes through and reads.
type Tree struct {
	Dir   string   // absolute
	Names []string // patterns for the names of the files; none: all
}

// literalReader: a program that starts nothing, writes nothing, tells nothing of the
// client's environment and opens no file that its words do not name.
func literalReader(p *Program) bool {
	if p.Class != ReadOnly || p.Dynamic {
		return false
	}
	name := path.Base(p.Name)
	if len(p.Args) == 1 && p.Args[0].Literal && isOneOf(p.Args[0].Text, "--version --help -version -V -v") && asksVersion(name, p.Args[0].Text) {
		return true
	}
	switch {
	case isOneOf(name, "export env printenv"): // without words they tell the environment
		return len(p.Args) > 0 && name != "export"
	case !plainest(name) && !readsSettings(name) && !isOneOf(name, "rg fd fdfind tree file awk gawk mawk nawk ggrep strings xxd hd base64 base32 join which type command hostname arch sha224sum sha384sum b2sum sum shasum md5 tsort fmt pr numfmt umask ulimit cal locale getconf go npm"):
		return false
	case name == "go":
		return len(p.Args) == 1 && p.Args[0].Text == "version"
	case name == "npm":
		return false // its version was taken above
	case strings.HasSuffix(name, "sum") && p.flag("c", "check"): // it opens the files that a file names
		return false
	}
	return opensNothing(name) || !slices.ContainsFunc(p.Args, func(a Arg) bool { return a.computed != notComputed })
}

// opensNothing: operands of these are words, or at most looked up.
func opensNothing(name string) bool {
	return isOneOf(name, "cd echo printf pwd true false : test [ exit set sleep date seq expr tr basename dirname which type command uname nproc whoami id arch hostname numfmt cal getconf locale umask ulimit") || isWrapper(name)
}

// namesOnly: of a directory these tell the names in it, and read no file below it.
func namesOnly(name string) bool {
	return opensNothing(name) || isOneOf(name, "ls dir vdir find fd fdfind tree du df stat realpath readlink file")
}

// showsFiles: these show what files of the repository hold, now or once.
func showsFiles(p *Program) bool {
	sub, _ := gitSubCommand(p.Args)
	return isOneOf(sub, "diff diff-files diff-index diff-tree grep show stash whatchanged range-diff") || sub == "status" && p.flag("v", "verbose") || isOneOf(sub, "log reflog") && p.flag("puULc", "patch", "unified", "patch-with-raw", "patch-with-stat", "word-diff", "color-words")
}

// unbounded says which of the files that the programs of a line would open by
// themselves are protected or denied. It is for lines whose named files were judged.
func (s *Guard) unbounded(call toolcrib.Call, l *Line, opt *Options) []string {
	var out []string
	tell := func(p *Program, err error) {
		if err != nil && len(out) < maxReasons {
			out = append(out, clip(p.String())+": "+err.Error())
		}
	}
	for i := range l.Programs {
		p := &l.Programs[i]
		name := path.Base(p.Name)
		switch {
		case p.Class != ReadOnly || slices.ContainsFunc(s.Rules, func(r Rule) bool { return !p.computed && r.Match(p) }):
		case name == "git":
			for _, a := range p.Args { // HEAD:file
				if at := strings.LastIndexByte(a.Text, ':'); at >= 0 && at+1 < len(a.Text) && a.Text[0] != '-' {
					for _, d := range p.repoDirs {
						tell(p, s.reachFile(Path{Dir: d, Text: a.Text[at+1:]}.Full(), opt))
					}
				}
			}
			for _, d := range p.repoDirs {
				tell(p, s.workTree(call, d, showsFiles(p), opt))
			}
		case !namesOnly(name):
			for _, t := range s.trees(p, name, opt) {
				tell(p, s.holds(call, t))
			}
		}
	}
	return out
}

// trees are the directories that a program would go through.
func (s *Guard) trees(p *Program, name string, opt *Options) []Tree {
	t := Tree{}
	walks := p.flag("rR", "recursive", "dereference-recursive")
	switch {
	case isOneOf(name, "grep egrep fgrep ggrep"):
		t.Names = included(p.Args)
		walks = walks || p.flag("d", "directories")
	case name == "rg": // a line in a .ignore file is enough for it to read hidden files
		walks = true
	}
	var dirs []string
	for _, f := range p.Paths {
		full := f.Full()
		if f.Glob {
			for strings.ContainsAny(full, "*?[") {
				full = path.Dir(full)
			}
			if !walks && name != "diff" {
				continue
			}
		} else if info, err := opt.stat(full); errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() {
			continue
		}
		dirs = append(dirs, full)
	}
	if walks && len(p.Paths) == 0 && (!p.fed || name == "rg" && !p.piped || name != "rg") {
		dirs = append(dirs, p.Dirs...)
	}
	var out []Tree
	for _, d := range dirs {
		out = append(out, Tree{Dir: d, Names: t.Names})
	}
	return out
}

// included are the names that a grep is confined to; none: all, or nobody knows.
func included(args []Arg) []string {
	var out []string
	for _, a := range args {
		value, ok := strings.CutPrefix(a.Text, "--include=")
		switch {
		case ok && (a.Literal || a.Glob) && value != "" && !strings.ContainsAny(value, `\[]{}/`):
			out = append(out, value)
		case strings.HasPrefix(a.Text, "--in"), strings.HasPrefix(a.Text, "--ex") && !strings.HasPrefix(a.Text, "--exclude-dir="):
			return nil // what no pattern is about may be read then
		}
	}
	return out
}

func (o *Options) stat(file string) (fs.FileInfo, error) {
	if o.Stat == nil {
		return nil, errors.New("nothing looks at files")
	}
	return o.Stat(file)
}

func (s *Guard) holds(call toolcrib.Call, t Tree) error {
	if s.Holds == nil {
		return fmt.Errorf("nobody can say what lies in %s", Quote(t.Dir))
	}
	return s.Holds(call, t)
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
		_, err = gitindex.Files(data, gitindex.SHA1, func(name string) bool {
			names = append(names, name)
			return false
		})
	}
	if err != nil {
		return fmt.Errorf("%s cannot be read", Quote(index))
	}
	if s.Named == nil {
		return errors.New("nobody can say which of the files are protected")
	}
	return s.Named(call, root, names)
}
