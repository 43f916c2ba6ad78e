package shellguard

import (
	"slices"

	"mvdan.cc/sh/v3/syntax"
)

// walker goes through the parsed line in the order in which it would run.
type walker struct {
	opt   *Options
	line  *Line
	funcs []string // functions the line declares

	vars    map[string]value        // what the line sets
	bodies  map[string]*syntax.Stmt // of its functions
	written map[string]Arg          // text that the line puts into files
	fetched map[string]bool         // files that it gets from the network
	saved   *savedState             // those of them that lie there, and what is run
	unclear map[string]bool         // files that it makes, nobody knows of what
	names   *lineNames              // what it has named so far
	trail   *trail                  // where it goes
	budget  *int                    // how many programs may still be looked at
	work    *meter                  // what may still be done
	guess   bool                    // this is about what may happen, see possibleWalker
	stdin   *input                  // where the shell itself reads from, if exec said so
	quiet   bool                    // nothing but the values of words is wanted
}

// scope is what holds for the commands at one place of the line.
type scope struct {
	dirs     []string // where they may run
	via      []string
	dynamic  bool   // no rule may match here
	piped    bool   // standard input comes from a program
	pipes    bool   // standard output goes to one
	net      bool   // standard input comes from another machine
	derived  bool   // standard input comes from a file that was got from there
	reads    bool   // standard input comes from a file
	from     string // that file, where it is literal
	loop     bool
	child    bool     // a program starts them: what the shell does by itself is not to be had
	depth    int      // of wrappers and shells
	marks    []string // words for which xargs puts in what it reads
	settings bool     // a variable makes git read settings from elsewhere
	tree     bool     // a variable makes a home or the system the tree of git
	input    *Arg     // what standard input says, where that stands in the line
}

func (sc scope) started(by string) scope {
	sc.via = append(slices.Clip(sc.via), by)
	sc.depth++
	return sc
}

// dirsAfter is where the shell may stand after a command: if it succeeded, and in
// any case. "cd x && y" runs y in x alone, "cd x; y" in x or where it was.
type dirsAfter struct{ ok, any []string }

func sameDirs(sc scope) dirsAfter { return dirsAfter{sc.dirs, sc.dirs} }

// maxDirs bounds how many places are followed; a line that changes directory
// more often is not understood.
const maxDirs = 16

func (w *walker) join(a, b []string) []string {
	if slices.Equal(a, b) {
		return a
	}
	out := slices.Clone(a)
	for _, d := range b {
		if !slices.Contains(out, d) {
			out = append(out, d)
		}
	}
	if len(out) > maxDirs {
		w.line.unknown("it changes directory too often to be followed")
		w.trail.getLost()
		out = append(out[:maxDirs-1], unknownDir)
	}
	return out
}

func (w *walker) stmts(list []*syntax.Stmt, sc scope) dirsAfter {
	f := sameDirs(sc)
	for _, s := range list {
		in := sc
		in.dirs = f.any
		if w.stdin != nil {
			in.reads, in.from, in.input = true, w.stdin.from, w.stdin.input
		}
		f = w.stmt(s, in)
		w.execInput(s, in)
	}
	return f
}

// input is where a shell reads from since an exec of nothing but redirections.
type input struct {
	from  string
	input *Arg
}

// execInput notes that "exec < file" changes the input of all that follows.
func (w *walker) execInput(s *syntax.Stmt, sc scope) {
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) != 1 || call.Args[0].Lit() != "exec" || !readsFile(s.Redirs) {
		return
	}
	w.stdin = &input{from: inputFile(s.Redirs)}
	if text, ok := w.inputText(s.Redirs, sc); ok {
		w.stdin.input = &text
	}
}

func (w *walker) stmt(s *syntax.Stmt, sc scope) dirsAfter {
	if w.work.empty() {
		w.tooMuch()
		return sameDirs(sc)
	}
	if s.Coprocess || s.Disown {
		w.line.unknown("only some shells know its |& or &!")
	}
	w.redirects(s.Redirs, sc)
	w.splitAt(s, sc)
	if text, ok := w.inputText(s.Redirs, sc); ok {
		sc.input = &text
	} else if readsFile(s.Redirs) {
		sc.input, sc.reads, sc.from = nil, true, inputFile(s.Redirs)
	}
	w.noteWritten(s, sc)
	var f dirsAfter
	switch {
	case s.Cmd == nil:
		f = sameDirs(sc)
	case s.Background:
		w.command(s, sc)
		f = sameDirs(sc) // a job runs in a subshell
	default:
		f = w.command(s, sc)
	}
	if s.Negated {
		f.ok = w.join(f.ok, f.any)
		f.any = f.ok
	}
	return f
}

// splitAt reads "a &>f b" as shells do that do not know &>: a in the background,
// and b with its output in the file.
func (w *walker) splitAt(s *syntax.Stmt, sc scope) {
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok {
		return
	}
	for _, r := range s.Redirs {
		if r.Op != syntax.RdrAll && r.Op != syntax.AppAll {
			continue
		}
		var rest []Arg
		for _, word := range call.Args {
			if word.Pos().After(r.Pos()) {
				rest = append(rest, w.words(word, sc)...)
			}
		}
		if len(rest) > 0 {
			w.possibleWalker().program(rest, sc)
			return
		}
	}
}

func (w *walker) command(s *syntax.Stmt, sc scope) dirsAfter {
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		return w.call(c, sc)
	case *syntax.BinaryCmd:
		return w.binary(c, sc)
	case *syntax.Block:
		return w.stmts(c.Stmts, sc)
	case *syntax.Subshell:
		w.stmts(c.Stmts, sc)
		return sameDirs(sc)
	case *syntax.IfClause:
		return w.ifClause(c, sc)
	case *syntax.ForClause:
		return w.forClause(c, sc)
	case *syntax.WhileClause:
		w.line.unusual("it has a loop that may not end")
		w.endless(c.Do)
		sc.loop = true
		f := w.stmts(c.Cond, sc)
		in := sc
		in.dirs = f.any
		f = w.stmts(c.Do, in)
		all := w.join(sc.dirs, w.join(in.dirs, f.any))
		return dirsAfter{all, all}
	case *syntax.CaseClause:
		return w.caseClause(c, sc)
	case *syntax.TimeClause:
		w.add(Program{Name: "time", Builtin: true, Class: ReadOnly, trusted: true, known: true, Dirs: sc.dirs, Via: sc.via, Dynamic: sc.dynamic})
		if c.Stmt == nil {
			w.line.unusual("it measures nothing")
			return sameDirs(sc)
		}
		w.timeProgram(c.Stmt, sc)
		return w.stmt(c.Stmt, sc.started("time"))
	case *syntax.FuncDecl:
		w.function(c, sc)
	default:
		w.bashOnly(c, sc)
	}
	return sameDirs(sc)
}

func (w *walker) binary(c *syntax.BinaryCmd, sc scope) dirsAfter {
	switch c.Op {
	case syntax.AndStmt:
		x := w.stmt(c.X, sc)
		in := sc
		in.dirs = x.ok
		y := w.stmt(c.Y, in)
		return dirsAfter{y.ok, w.join(x.any, y.any)}
	case syntax.OrStmt:
		x := w.stmt(c.X, sc)
		in := sc
		in.dirs = x.any
		y := w.stmt(c.Y, in)
		return dirsAfter{w.join(x.ok, y.ok), w.join(x.ok, y.any)}
	case syntax.PipeAll:
		w.line.unusual("only bash knows |&")
	}
	from := sc
	from.pipes = true
	x := w.stmt(c.X, from)
	in := sc
	in.piped, in.input = true, nil
	in.net = sc.net || w.fetchesNet(c.X, sc)
	in.derived = sc.derived || w.mentions(c.X, sc)
	if text, ok := w.outputText(c.X, sc); ok {
		in.input = &text
	}
	y := w.stmt(c.Y, in)
	// Each side of a pipe is a subshell, but some shells run the last one here.
	all := w.join(sc.dirs, w.join(x.any, y.any))
	return dirsAfter{all, all}
}

func (w *walker) ifClause(c *syntax.IfClause, sc scope) dirsAfter {
	f := w.stmts(c.Cond, sc)
	in := sc
	in.dirs = w.join(f.ok, f.any)
	then := w.stmts(c.Then, in)
	all := w.join(in.dirs, w.join(then.ok, then.any))
	if c.Else != nil {
		other := w.ifClause(c.Else, in)
		all = w.join(all, other.any)
	}
	return dirsAfter{all, all}
}

func (w *walker) forClause(c *syntax.ForClause, sc scope) dirsAfter {
	iter, ok := c.Loop.(*syntax.WordIter)
	if !ok || c.Select || c.Braces {
		w.line.unusual("it has a loop that only bash knows")
		if loop, ok := c.Loop.(*syntax.CStyleLoop); ok {
			w.substitutionsIn(loop, sc)
			if loop.Cond == nil {
				w.endless(c.Do)
			}
		}
	}
	if ok {
		if !iter.InPos.IsValid() || !harmlessLoopName(iter.Name.Value) {
			w.line.unusual("its loop sets %s", Quote(iter.Name.Value))
			w.line.vague = w.line.vague || !tameVariable(iter.Name.Value)
		}
		for _, item := range iter.Items {
			if a := w.word(item, sc); !a.Literal && !a.Glob {
				w.line.unusual("its loop runs over something that is not literal: %s", clip(a.Text))
			}
		}
	}
	sc.loop = true
	f := w.stmts(c.Do, sc)
	all := w.join(sc.dirs, f.any)
	return dirsAfter{all, all}
}

func (w *walker) caseClause(c *syntax.CaseClause, sc scope) dirsAfter {
	if a := w.word(c.Word, sc); !a.Literal || c.Braces {
		w.line.unusual("its case is not about a literal word")
	}
	all := sc.dirs
	for _, item := range c.Items {
		if item.Op != syntax.Break {
			w.line.unusual("only bash knows %s", item.Op)
		}
		for _, p := range item.Patterns {
			if a := w.word(p, sc); !a.Literal && !a.Glob {
				w.line.unusual("its case has a pattern that is not literal")
			}
		}
		f := w.stmts(item.Stmts, sc)
		all = w.join(all, f.any)
	}
	return dirsAfter{all, all}
}

// add keeps a program; a line with too many is not read further by a person.
func (w *walker) add(p Program) int {
	most := maxPrograms
	if w.guess {
		most = maxVisits
	}
	if len(w.line.Programs) >= most {
		w.line.unknown("it starts more than %d programs", maxPrograms)
		w.tooMuch()
		return -1
	}
	w.line.Programs = append(w.line.Programs, p)
	return len(w.line.Programs) - 1
}

// readsFile: standard input comes from a file or another descriptor.
func readsFile(list []*syntax.Redirect) bool {
	return slices.ContainsFunc(list, func(r *syntax.Redirect) bool {
		return (r.Op == syntax.RdrIn || r.Op == syntax.DplIn || r.Op == syntax.RdrInOut) && (r.N == nil || r.N.Value == "0")
	})
}

func inputFile(list []*syntax.Redirect) string {
	for _, r := range list {
		if r.Op == syntax.RdrIn && (r.N == nil || r.N.Value == "0") {
			return r.Word.Lit()
		}
		if r.Op == syntax.DplIn && (r.N == nil || r.N.Value == "0") && r.Word.Lit() != "0" && r.Word.Lit() != "-" {
			return descriptors + r.Word.Lit()
		}
	}
	return ""
}
