package shellguard

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
)

// Where no sandbox bounds what a command does (Guard.Literal), its words have to.
// What is let pass then are the plainest programs, as long as every file that they
// open is named in the line: those are held against the grant like the file of a
// read_file. A program that goes through a tree by itself passes if nothing that is
// protected or denied lies in the tree. What is decided while the line runs names
// nothing, and asks. A person who allows "make *" has the sandbox in mind, which keeps
// the network, protected files and the rest of the machine from it: outside of it the
// rule allows nothing. At most it lets somebody be asked.

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
	return opensNothing(name) || !slices.ContainsFunc(p.Args, func(a Arg) bool {
		// Digits that stand for others name another file.
		return a.computed != notComputed || a.sample && slices.ContainsFunc(p.Paths, func(f Path) bool { return f.Text == a.Text })
	})
}

// opensNothing: operands of these are words, or at most looked up.
func opensNothing(name string) bool {
	return isOneOf(name, "cd echo printf pwd true false : test [ exit set sleep date seq expr tr basename dirname which type command uname nproc whoami id arch hostname numfmt cal getconf locale umask ulimit") || isWrapper(name)
}

// namesOnly: of a directory these tell the names in it, and read no file below it.
func namesOnly(name string) bool {
	return opensNothing(name) || isOneOf(name, "ls dir vdir find fd fdfind tree du df stat realpath readlink file")
}

// judgeUnbounded is the verdict on a line that nothing bounds. The floor was asked about
// before.
func (s *Guard) judgeUnbounded(call toolcrib.Call, l *Line, opt *Options, unasked bool) *toolcrib.Verdict {
	_, missing := s.allowed(call, l, opt)
	if s.Only && len(missing) > 0 {
		return s.askOrDeny("", slices.Concat(missing, l.Explain()))
	}
	alone := *s
	alone.Rules, alone.Only = nil, false
	_, against := alone.allowed(call, l, opt)
	switch {
	case len(against) == 0:
		v := allow(ReadsOnly, "every program in it only reads files that may be read")
		if used, other, _ := l.judged(s.Rules, func(*Program) bool { return false }, nil); len(other) == 0 {
			v.Rule = ruleNames(used)
		}
		v.Effects = toolcrib.Reads | toolcrib.Runs
		return v
	case unasked:
		return allow(Unasked, "in the mode yolo only the most destructive commands are asked about")
	case len(missing) == 0, s.AllowsAll != nil && s.AllowsAll(call):
		why := "your rule is about commands in the sandbox, and the client runs this one without a sandbox"
		return ask("outside", slices.Concat([]string{why}, l.Explain()))
	}
	return s.askOrDeny("", slices.Concat(missing, l.Explain()))
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
	if slices.ContainsFunc(l.Redirects, func(r Redirect) bool { return r.unnamed }) {
		out = append(out, "it reads from a file whose name is decided while it runs")
	}
	for i := range l.Programs {
		p := &l.Programs[i]
		name := path.Base(p.Name)
		switch {
		case p.Class != ReadOnly || slices.ContainsFunc(s.Rules, func(r Rule) bool { return !p.computed && r.Match(p) }):
		case name == "git":
			for _, err := range s.gitReads(call, p, opt) {
				tell(p, err)
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
	var out []Tree
	for _, f := range p.Paths {
		full := f.Full()
		if f.Glob && opt.UserShell && strings.Contains(full, "**") {
			out = append(out, deepTree(full))
		}
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
	vanish := opt.UserShell && !slices.ContainsFunc(p.Paths, func(f Path) bool { return !s.mayVanish(f, opt) })
	if walks && (len(p.Paths) == 0 || vanish) && (!p.fed || name == "rg" && !p.piped || name != "rg") {
		dirs = append(dirs, p.Dirs...)
	}
	for _, d := range dirs {
		out = append(out, Tree{Dir: d, Names: t.Names})
	}
	return out
}

// mayVanish: a shell with nullglob leaves the word out, since it is a pattern that means no
// file. A program that goes through trees then begins where it is.
func (s *Guard) mayVanish(f Path, opt *Options) bool {
	switch {
	case f.Glob && s.Glob != nil:
		files, err := s.Glob(f.Full())
		return err != nil || len(files) == 0
	case strings.ContainsAny(f.Text, "^#"):
		_, err := opt.stat(f.Full())
		return err != nil
	}
	return f.Glob
}

// deepTree is what a pattern with ** means to zsh, and to a bash that has globstar set:
// files in every directory below.
func deepTree(pattern string) Tree {
	t := Tree{Dir: pattern}
	for strings.ContainsAny(t.Dir, "*?[") {
		t.Dir = path.Dir(t.Dir)
	}
	if name := path.Base(pattern); !strings.Contains(name, "**") && !strings.ContainsAny(name, `\[]{}`) {
		t.Names = []string{name}
	}
	return t
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
