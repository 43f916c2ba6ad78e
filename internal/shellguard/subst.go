package shellguard

import (
	"slices"

	"mvdan.cc/sh/v3/syntax"
)

// param writes a parameter so that the floor still sees $HOME for what it is.
func (f *wordFolder) param(p *syntax.ParamExp) {
	name := "…"
	if p.Param != nil {
		name = p.Param.Value
	}
	shown := "$" + name
	if p.Exp != nil && p.Exp.Word != nil {
		// ${x:-word}: the word may be what is used.
		if lit := p.Exp.Word.Lit(); lit != "" {
			shown += ":-" + lit
		}
	}
	f.addExpansion(shown, f.parameter(p))
	f.w.substitutionsIn(p, f.sc)
}

// printsPlace is the program of a substitution that is known to print a
// directory that is not a home; empty if it is another.
func printsPlace(list []*syntax.Stmt) string {
	if len(list) != 1 {
		return ""
	}
	c, ok := list[0].Cmd.(*syntax.CallExpr)
	if !ok || len(c.Args) == 0 {
		return ""
	}
	switch name := c.Args[0].Lit(); name {
	case "git", "mktemp", "go", "npm":
		return name
	}
	return ""
}

// unread stands for what a substitution prints. Text that has it may be read
// again, as code: then it is still nothing that is known.
const unread = "$(…)"

func isMark(list []*syntax.Stmt) bool {
	if len(list) != 1 {
		return false
	}
	c, ok := list[0].Cmd.(*syntax.CallExpr)
	return ok && len(c.Args) == 1 && c.Args[0].Lit() == "…"
}

// startsProgram: a substitution of nothing but a redirection reads a file.
func startsProgram(list []*syntax.Stmt) bool {
	return slices.ContainsFunc(list, func(s *syntax.Stmt) bool { return s.Cmd != nil })
}
