package shellguard

import (
	"slices"
	"strings"
	"unicode"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/pathglob"
	"github.com/toolcrib/toolcrib/internal/pattern"
)

// Operand is a path that a line names.
type Operand struct {
	Path     string // absolute, not cleaned; empty: only a pattern is known
	Anywhere bool   // nobody knows which path it is
	Write    bool   // it is written to
	MayWrite bool   // nobody knows that it is not
	Guess    bool   // only perhaps the line names it

	pattern  []string // the elements of a pattern, folded; Path is its text
	pathspec string   // a pattern of git
}

// Meets reports whether the operand is a pattern that may mean what a folded
// pattern of a rule does.
func (o *Operand) Meets(g pathglob.Glob) bool {
	return len(o.pattern) > 0 && g.Meets(o.pattern) || o.pathspec != "" && saysPlace(o.pathspec, g)
}

// maxOperands bounds how many paths of a line are followed.
const maxOperands = 2000

// Operands are the paths that the command line of a call names: what its
// programs are told to read, where they run, what is redirected, what stands as a
// string in the code of other languages, and for programs that are not understood
// everything that could be a path. The line is what [Guard.Line] made of the call;
// base is where relative paths begin, homeDir what ~ means.
func (s *Guard) Operands(r *toolcrib.Review, l *Line, base, homeDir string) []Operand {
	o := &operands{base: base, homeDir: homeDir, seen: map[operandKey]bool{}}
	if s != nil {
		o.glob = s.Glob
	}
	if l == nil {
		s.typedText(r, o)
		return o.found
	}
	o.hidden = s == nil || l.matchesHidden(&s.Options)
	o.trail, o.fed = l.trail, l.fedByPrograms()
	o.addLine(l, false)
	if l.plain != nil { // it knows what stands in variables
		o.addLine(l.plain.readers(), false)
	}
	if l.possible != nil {
		o.fed = o.fed || l.possible.fedByPrograms()
		o.addLine(l.possible, true)
	}
	return o.found
}

// operands collects them.
type operands struct {
	base, homeDir string
	glob          func(pattern string) ([]string, error) // nil: patterns are not looked up

	hidden bool // a leading * may mean a hidden file

	found []Operand
	seen  map[operandKey]bool
	dirs  []string
	trail trail
	fed   bool // what one program prints are the operands of another
	specs int  // bytes of patterns of git so far
}

type operandKey struct {
	full                         string
	write, mayWrite, guess, glob bool
}

// add notes a path. A pattern means the files that it matches now and, where a
// part of it is a name, also what may come to be there.
func (o *operands) add(dir, text string, glob bool, as Operand) {
	if text == "" || len(text) > 4096 || strings.ContainsFunc(text, unicode.IsControl) {
		return
	}
	for _, full := range o.pathsOf(dir, text, glob, as.Guess) {
		key := operandKey{full, as.Write, as.MayWrite, as.Guess, glob}
		if o.seen[key] {
			continue
		}
		if o.seen[key] = true; len(o.found) >= maxOperands || isHandle(full) {
			o.addAnywhere(as)
			continue
		}
		as.Path, as.pattern = full, nil
		if glob {
			as.pattern = foldedPattern(full)
		}
		o.found = append(o.found, as)
	}
}

// addAnywhere notes that a path of which nobody can say what it is may be written.
func (o *operands) addAnywhere(as Operand) {
	if key := (operandKey{}); (as.Write || as.MayWrite) && !o.seen[key] {
		o.seen[key] = true
		o.found = append(o.found, Operand{Anywhere: true, MayWrite: true, Guess: true})
	}
}

func (o *operands) addLine(l *Line, guess bool) {
	for i := range l.Programs {
		p := &l.Programs[i]
		o.addProgram(p, p.Dirs, guess)
		if more := o.perhapsIn(p.Dirs); len(more) > 0 {
			o.addProgram(p, more, true)
		}
	}
	dirs := o.dirs
	if len(dirs) == 0 {
		dirs = []string{o.base}
	}
	o.addLineItself(l, dirs, guess)
	if more := o.perhapsIn(dirs); len(more) > 0 {
		o.addLineItself(l, more, true)
	}
}

// addLineItself adds what stands in the line itself: redirections, assignments, code.
func (o *operands) addLineItself(l *Line, dirs []string, guess bool) {
	for i := range l.Redirects {
		r := &l.Redirects[i]
		for _, f := range r.Paths {
			o.add(f.Dir, f.Text, f.Glob, Operand{Guess: guess})
		}
		if strings.HasPrefix(r.Op, "<<") {
			continue
		}
		as := Operand{Write: strings.Contains(r.Op, ">"), Guess: guess}
		if o.isLost(dirs) && !strings.HasPrefix(r.Target, "/") && !isDescriptor(r.Target) {
			o.addAnywhere(as)
		}
		if !r.target.Literal && !r.target.Glob {
			as.Guess = true
			o.addExpanded(r.target, dirs, as)
			continue
		}
		for _, d := range dirs {
			o.add(d, r.Target, r.target.Glob || guess && isPattern(r.Target), as)
		}
	}
	for _, t := range l.assigned {
		as := Operand{MayWrite: true, Guess: true}
		o.addExpanded(Arg{Text: t}, dirs, as)
		for _, text := range pathsIn(t) {
			for _, d := range dirs {
				o.add(d, text, false, as)
			}
		}
	}
	for _, t := range l.texts {
		for _, text := range quotedStrings(t) {
			text = strings.TrimLeft(text, "<>+| ")
			if len(text) > 300 || strings.ContainsAny(text, "\n\t ") {
				continue
			}
			for _, d := range dirs {
				o.add(d, text, false, Operand{MayWrite: true, Guess: guess})
				o.addPattern(d, text, Operand{MayWrite: true, Guess: true})
			}
		}
	}
}

// addProgram adds what a program is given, if it runs in one of these directories.
func (o *operands) addProgram(p *Program, dirs []string, guess bool) {
	name := programName(p.Name)
	as := Operand{Write: writesOperands(name), Guess: guess, MayWrite: p.mayWrite(name)}
	feeds := o.fed && printsNames(name)
	if feeds {
		as.MayWrite, as.Guess = true, true
	}
	for _, d := range dirs {
		if !slices.Contains(o.dirs, d) {
			o.dirs = append(o.dirs, d)
		}
		o.add(d, ".", isPattern(d), Operand{MayWrite: as.MayWrite && !feeds && !p.Builtin && d != o.base, Guess: guess})
	}
	if o.isLost(dirs) && !feeds && !p.Builtin {
		o.addAnywhere(as)
	}
	for _, f := range p.Paths {
		o.add(f.Dir, f.Text, f.Glob, Operand{MayWrite: as.MayWrite, Guess: as.Guess})
	}
	o.addHistory(p, guess)
	o.addOwnWords(p, name, dirs)
	if p.Class == ReadOnly && !(feeds && printsWords(name)) {
		return
	}
	o.addInputPaths(p, name, dirs)
	said := messages(name, p.Args)
	for i, a := range p.Args {
		if said[i] || strings.HasSuffix(a.Text, ":ro") {
			continue
		}
		if !a.Literal && !a.Glob {
			perhaps := as
			perhaps.Guess = true
			o.addExpanded(a, dirs, perhaps)
			continue
		}
		for _, text := range pathsIn(a.Text) {
			for _, d := range dirs {
				o.add(d, text, a.Glob || as.Guess && isPattern(text), as)
				if as.MayWrite {
					o.addPattern(d, searched(name, text), as)
				}
			}
		}
		if as.MayWrite && (feeds || takesSentences(name)) {
			o.addWords(a.Text, dirs, feeds)
		}
	}
}

// messages finds the words that are certainly no paths, but what somebody says:
// the messages of git commit and git tag, as long as every option before them is
// known.
func messages(name string, args []Arg) map[int]bool {
	if name != "git" || len(args) == 0 || args[0].Text != "commit" && args[0].Text != "tag" {
		return nil
	}
	said := map[int]bool{}
	for i := 1; i < len(args) && args[i].Literal && !args[i].Glob; i++ {
		switch text := args[i].Text; {
		case text == "--message" || plainFlags.MatchString(strings.TrimSuffix(text, "m")) && strings.HasSuffix(text, "m"):
			if i++; i < len(args) && args[i].Literal {
				said[i] = true
			}
		case strings.HasPrefix(text, "--message="):
			said[i] = true
		case text == "--amend", text == "--all", text == "--no-verify", text == "--signoff", text == "--quiet", text == "--allow-empty", len(text) > 1 && plainFlags.MatchString(text):
		default:
			return said
		}
	}
	return said
}

// plainFlags are options of git commit and git tag without values.
var plainFlags = pattern.Of(`^-[aqvnse]*$`)
