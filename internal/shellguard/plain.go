package shellguard

import (
	"maps"
	"slices"

	"mvdan.cc/sh/v3/syntax"
)

// The plain reading is for lines whose words are not all literal: it follows the
// values that the line gives its variables, what its loops run over and what its
// substitutions print, as sets of what each may be. It knows a few constructs and
// refuses all others, so that a value which nobody can tell is never taken for one
// that is known. What it finds is a [Line] of its own, with every program under
// every value; that one is judged like any other. See docs/adr/0011.

// plainReader reads one line.
type plainReader struct {
	opt    *Options
	line   *Line
	fails  bool          // an expansion of this line may fail
	why    string        // why it does not understand the line; empty: it does so far
	budget int           // how many commands may still be looked at
	work   *meter        // what may still be done
	depth  int           // of shells and substitutions within each other
	left   []*plainState // for each loop: how a turn of it was left before its end
}

// maxPlain bounds the commands that are looked at, those of every turn of a loop
// and of every value included.
const maxPlain = 600

// plainState is what holds at one place of the line.
type plainState struct {
	vars  map[string]possible
	dirs  []string
	stdin possible // what each line of standard input may be
	fed   bool     // standard input is another than the shell's
	args  []possible
	shell bool // args are those of this shell
	child bool // a program starts it, so that builtins of the shell are not to be had
}

func (s *plainState) fork() *plainState {
	out := *s
	out.vars = maps.Clone(s.vars)
	return &out
}

// meet makes the state one that holds after either.
func (s *plainState) meet(o *plainState, r *plainReader) {
	for name, v := range s.vars {
		if w, ok := o.vars[name]; ok {
			s.vars[name] = v.or(w)
		} else {
			s.vars[name] = unknownText()
		}
	}
	for name := range o.vars {
		if _, ok := s.vars[name]; !ok {
			s.vars[name] = unknownText()
		}
	}
	s.dirs = r.joinDirs(s.dirs, o.dirs)
}

func (s *plainState) same(o *plainState) bool {
	return slices.Equal(s.dirs, o.dirs) && maps.EqualFunc(s.vars, o.vars, slices.Equal)
}

// readPlain reads a line that the walk does not understand in full, or that has
// words which are not literal. Nil: it does not understand it either.
func readPlain(text string, opt *Options, work *meter) *Line {
	r := &plainReader{opt: opt, line: &Line{Text: text}, budget: maxPlain, work: work}
	if checkText(r.line, text); len(r.line.Unknown) > 0 {
		return nil
	}
	r.script(text, &plainState{vars: map[string]possible{}, dirs: []string{opt.Dir}, stdin: unknownText()})
	if r.why != "" || len(r.line.Programs) == 0 {
		return nil
	}
	return r.line
}

func (r *plainReader) refuse(why string) {
	if r.why == "" {
		r.why = why
	}
}

func (r *plainReader) joinDirs(a, b []string) []string {
	out := slices.Clone(a)
	for _, d := range b {
		if !slices.Contains(out, d) {
			out = append(out, d)
		}
	}
	if len(out) > maxDirs || slices.Contains(out, unknownDir) {
		r.refuse("nobody knows where it is run")
	}
	return out
}

// script reads a piece of shell code. Both readers must find the same words in it.
func (r *plainReader) script(text string, st *plainState) possible {
	if r.depth++; r.depth > maxWrapping {
		r.refuse("it nests too deeply")
	}
	defer func() { r.depth-- }()
	if nesting, splits := nestingOf(text); nesting > maxNesting || splits > maxSplits || len(text) > maxLine {
		r.refuse("it nests too deeply")
	}
	if r.why != "" {
		return unknownText()
	}
	f, text, err := parseAsShells(text)
	switch {
	case err != nil:
		r.refuse("it cannot be parsed")
	case readOtherwise(text, f) != "" || !sameDeep(text, f) || r.opt.Zsh && readInZsh(f) != "":
		r.refuse("it can be read in two ways")
	case r.opt.ownOptions() && r.unsure(f):
	default:
		return r.lines(f.Stmts, st)
	}
	return unknownText()
}

// lines reads the statements of a piece of code line by line. Some shells drop the rest
// of a line when an expansion in it fails, and go on with the next one.
func (r *plainReader) lines(list []*syntax.Stmt, st *plainState) (out possible) {
	outer := r.fails
	defer func() { r.fails = outer || r.fails }()
	for len(list) > 0 {
		n := 1
		for n < len(list) && list[n].Pos().Line() <= list[n-1].End().Line() {
			n++
		}
		before := st.fork()
		r.fails = false
		printed, _ := r.stmts(list[:n], st)
		if out = out.then(printed); r.fails {
			st.meet(before, r)
		}
		list = list[n:]
	}
	return out
}

// mayFail: the redirection is of a file, or of a descriptor that may not be open.
func mayFail(rd *syntax.Redirect) bool {
	to := ""
	if rd.Word != nil {
		to = rd.Word.Lit()
	}
	switch rd.Op {
	case syntax.DplOut:
		return to != "1" && to != "2"
	case syntax.RdrOut, syntax.AppOut, syntax.RdrIn, syntax.RdrClob:
		return to != "/dev/null"
	}
	return true
}

// stmts reads a list: what the lines may be that it prints, and where the shell
// stands if the last command succeeded.
func (r *plainReader) stmts(list []*syntax.Stmt, st *plainState) (out possible, ok []string) {
	ok = st.dirs
	for _, s := range list {
		var printed possible
		printed, ok = r.stmt(s, st)
		out = out.then(printed)
	}
	return out, ok
}

func (r *plainReader) stmt(s *syntax.Stmt, st *plainState) (out possible, ok []string) {
	if r.budget--; r.budget < 0 || r.work.empty() {
		r.refuse("it does too much")
	}
	if r.why != "" || s.Background || s.Coprocess || s.Disown {
		r.refuse("it goes on in the background")
		return unknownText(), st.dirs
	}
	stdin, fed := st.stdin, st.fed
	var before *plainState
	if slices.ContainsFunc(s.Redirs, mayFail) { // then the command does not run
		before = st.fork()
	}
	for _, rd := range s.Redirs {
		r.redirect(rd, st)
	}
	if s.Cmd != nil {
		out, ok = r.command(s.Cmd, st)
	} else {
		ok = st.dirs
	}
	if before != nil {
		st.meet(before, r)
	}
	st.stdin, st.fed = stdin, fed
	if slices.ContainsFunc(s.Redirs, func(rd *syntax.Redirect) bool { return rd.Op == syntax.DplOut }) {
		out = unknownText() // 2>&1: messages may stand in it
	}
	if s.Negated {
		ok = r.joinDirs(ok, st.dirs)
	}
	return out, ok
}

func (r *plainReader) command(c syntax.Command, st *plainState) (out possible, ok []string) {
	switch c := c.(type) {
	case *syntax.CallExpr:
		return r.call(c, st)
	case *syntax.BinaryCmd:
		return r.binary(c, st)
	case *syntax.Block:
		return r.stmts(c.Stmts, st)
	case *syntax.Subshell:
		out, _ = r.stmts(c.Stmts, st.fork())
	case *syntax.IfClause:
		out = r.ifClause(c, st)
	case *syntax.ForClause:
		out = r.forClause(c, st)
	case *syntax.WhileClause:
		out = r.whileClause(c, st)
	case *syntax.CaseClause:
		out = r.caseClause(c, st)
	case *syntax.TestClause:
		r.testClause(c, st)
	case *syntax.TimeClause:
		if c.Stmt == nil {
			r.refuse("it measures nothing")
			break
		}
		// To a plain shell it is a program, which cannot move the shell.
		in := st.fork()
		out, _ = r.stmt(c.Stmt, in)
		st.meet(in, r)
	case *syntax.DeclClause:
		r.declare(c, st)
	default:
		r.refuse("it uses a construct that is not followed")
	}
	return out, st.dirs
}

func (r *plainReader) binary(c *syntax.BinaryCmd, st *plainState) (out possible, ok []string) {
	switch c.Op {
	case syntax.AndStmt, syntax.OrStmt:
		x, okX := r.stmt(c.X, st)
		in := st.fork()
		if c.Op == syntax.AndStmt {
			in.dirs = okX
		}
		y, okY := r.stmt(c.Y, in)
		st.meet(in, r)
		if c.Op == syntax.AndStmt {
			return x.then(y), okY
		}
		return x.then(y), r.joinDirs(okX, okY)
	case syntax.Pipe:
		left := st.fork()
		x, _ := r.stmt(c.X, left)
		in := st.fork()
		in.stdin, in.fed = x, true
		y, _ := r.stmt(c.Y, in)
		// Each side of a pipe is a subshell, but some shells run the last one here.
		st.meet(in, r)
		return y, st.dirs
	}
	r.refuse("only bash knows |&")
	return unknownText(), st.dirs
}

func (r *plainReader) ifClause(c *syntax.IfClause, st *plainState) possible {
	var out possible
	if len(c.Cond) > 0 {
		out, _ = r.stmts(c.Cond, st)
	}
	then := st.fork()
	printed, _ := r.stmts(c.Then, then)
	if c.Else != nil {
		printed = printed.or(r.ifClause(c.Else, st))
	}
	st.meet(then, r)
	return out.then(printed)
}

func (r *plainReader) caseClause(c *syntax.CaseClause, st *plainState) possible {
	if c.Braces {
		r.refuse("only some shells know its case")
	}
	r.textOf(c.Word, st)
	var out possible
	after := st.fork()
	for _, item := range c.Items {
		if item.Op != syntax.Break {
			r.refuse("only bash knows its case")
		}
		for _, p := range item.Patterns {
			r.textOf(p, st)
		}
		in := st.fork()
		printed, _ := r.stmts(item.Stmts, in)
		out = out.or(printed)
		after.meet(in, r)
	}
	*st = *after
	return out
}
