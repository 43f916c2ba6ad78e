package shellguard

import (
	"mvdan.cc/sh/v3/syntax"
)

// function notes a declaration. Its body is taken apart so that a person sees
// it, but a line with functions is not judged: a name no longer says what runs.
func (w *walker) function(c *syntax.FuncDecl, sc scope) {
	name := ""
	if c.Name != nil {
		name = c.Name.Value
	}
	w.line.unusual("it declares the function %s", Quote(name))
	w.funcs = append(w.funcs, name)
	if w.bodies != nil {
		w.bodies[name] = c.Body
	}
	if bomb(c.Body, name) {
		w.line.floor = append(w.line.floor, "the function "+Quote(name)+" starts itself again in the background or in a pipe: a fork bomb")
	}
	sc = sc.started("function " + Quote(name))
	sc.dynamic = true
	w.stmt(c.Body, sc)
}

// bashOnly is every construct of bash that a plain sh does not have.
func (w *walker) bashOnly(c syntax.Command, sc scope) {
	switch c := c.(type) {
	case *syntax.DeclClause:
		w.line.unusual("it sets variables with %s", c.Variant.Value)
		w.line.vague = w.line.vague || !tameDeclaration(c)
		for _, a := range c.Args {
			if a.Name != nil && len(w.line.assigned) < maxNames {
				w.line.assigned = append(w.line.assigned, w.vars[a.Name.Value].texts...)
			}
		}
		w.add(Program{Name: c.Variant.Value, Builtin: true, Why: []string{"sets variables"}, Dirs: sc.dirs, Via: sc.via, Dynamic: true})
	case *syntax.CoprocClause:
		w.line.unknown("only bash knows coproc")
		w.stmt(c.Stmt, sc.started("coproc"))
		w.coprocess(c.Stmt, sc)
		w.coprocessNet(c.Stmt, sc)
		return
	default:
		w.line.unusual("it uses a construct that only bash knows")
	}
	w.substitutionsIn(c, sc)
}

// coprocess reads the words of a coproc once more: the parser takes arguments
// such as of=/dev/sda for assignments there.
func (w *walker) coprocess(s *syntax.Stmt, sc scope) {
	c, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(c.Assigns) == 0 || len(c.Args) == 0 {
		return
	}
	var args []Arg
	for _, word := range c.Args {
		args = append(args, w.word(word, sc))
	}
	for _, a := range c.Assigns {
		if a.Name != nil && a.Value != nil {
			v := w.word(a.Value, sc)
			v.Text = a.Name.Value + "=" + v.Text
			args = append(args, v)
		}
	}
	w.possibleWalker().program(args, sc)
}

// coprocessNet: what a coprocess prints can be read anywhere in the line, and what
// it reads written. One that fetches, or takes code, is asked about.
func (w *walker) coprocessNet(s *syntax.Stmt, sc scope) {
	if w.fetchesNet(s, sc) {
		w.line.floor = append(w.line.floor, "a coprocess gets something from elsewhere, and any part of the line may run it")
	}
	syntax.Walk(s, func(n syntax.Node) bool {
		if call, ok := n.(*syntax.CallExpr); ok {
			if args := w.started(call, sc); len(args) > 0 {
				name := programKey(args[0].Text)
				if p := (Program{Name: args[0].Text, Args: args[1:], Dirs: sc.dirs}); readsCode(name) && !p.hasScript() {
					w.line.floor = append(w.line.floor, "a coprocess is a "+Quote(name)+", and any part of the line may give it code")
				}
			}
		}
		return true
	})
}

// substitutionsIn finds the programs in the substitutions of a node that is not
// understood otherwise.
func (w *walker) substitutionsIn(n syntax.Node, sc scope) {
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			w.substitution(n.Stmts, sc)
			return false
		case *syntax.ProcSubst:
			w.substitution(n.Stmts, sc)
			return false
		}
		return true
	})
}

func (w *walker) substitution(list []*syntax.Stmt, sc scope) {
	sc.dynamic = true
	w.plainSubstitution(list, sc)
}

// plainSubstitution walks one of which it is known what it prints.
func (w *walker) plainSubstitution(list []*syntax.Stmt, sc scope) {
	sc = sc.started("a substitution")
	sc.child = false
	sc.input, sc.pipes = nil, false
	if w.quiet {
		return
	}
	if sc.depth > maxWrapping || len(w.line.Programs) >= maxPrograms && !w.guess {
		w.tooMuch()
		return
	}
	w.stmts(list, sc)
}
