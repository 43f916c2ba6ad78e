package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
)

// site is one place that can be changed, and how.
type site struct {
	file  string // as the go command names it
	shown string // as a person does
	line  int
	kind  string
	from  int // bytes of the source that are replaced
	to    int
	text  string // what stands there instead
	was   string
}

func (s site) String() string {
	change := fmt.Sprintf("%s: %s → %s", s.kind, brief(s.was), brief(s.text))
	if s.text == "" {
		change = fmt.Sprintf("%s: %s", s.kind, brief(s.was))
	}
	return fmt.Sprintf("%s:%d: %s", s.shown, s.line, change)
}

// brief is one line that fits a screen.
func brief(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > 60 {
		return string(runes[:60]) + "…"
	}
	return text
}

// apply gives the source with the change. It keeps the lines where they are.
func (s site) apply(src []byte) []byte {
	lines := strings.Count(string(src[s.from:s.to]), "\n") - strings.Count(s.text, "\n")
	return fmt.Appendf(nil, "%s%s%s%s", src[:s.from], s.text, strings.Repeat("\n", max(lines, 0)), src[s.to:])
}

// swaps are the operators that are changed, by kind.
func swaps(op token.Token) (kind string, to token.Token) {
	switch op {
	case token.LSS:
		return "comparison shifted", token.LEQ
	case token.LEQ:
		return "comparison shifted", token.LSS
	case token.GTR:
		return "comparison shifted", token.GEQ
	case token.GEQ:
		return "comparison shifted", token.GTR
	case token.EQL:
		return "comparison turned", token.NEQ
	case token.NEQ:
		return "comparison turned", token.EQL
	case token.LAND:
		return "and, or", token.LOR
	case token.LOR:
		return "and, or", token.LAND
	}
	return "", 0
}

// sites finds every place of a file that can be changed.
func sites(file string, src []byte) ([]site, error) {
	fset := token.NewFileSet()
	tree, err := parser.ParseFile(fset, file, src, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	f := &finder{file: file, src: src, pos: func(p token.Pos) token.Position { return fset.Position(p) }}
	for _, d := range tree.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil {
			f.body(fn.Body, endsInError(fn.Type))
		} else {
			f.body(d, false)
		}
	}
	return f.found, nil
}

type finder struct {
	file  string
	src   []byte
	pos   func(token.Pos) token.Position
	found []site
}

func (f *finder) add(kind string, from, to token.Pos, text string) {
	a, b := f.pos(from), f.pos(to)
	f.found = append(f.found, site{file: f.file, shown: f.file, line: a.Line, kind: kind, from: a.Offset, to: b.Offset, text: text, was: string(f.src[a.Offset:b.Offset])})
}

func (f *finder) textOf(n ast.Node) string {
	return string(f.src[f.pos(n.Pos()).Offset:f.pos(n.End()).Offset])
}

// body walks through one function. What a function within it returns is its own.
func (f *finder) body(root ast.Node, failing bool) {
	ast.Inspect(root, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			f.body(n.Body, endsInError(n.Type))
			return false
		case *ast.ImportSpec, *ast.Field:
			return false
		case *ast.IfStmt:
			f.negate(n.Cond)
		case *ast.ForStmt:
			if n.Cond != nil {
				f.negate(n.Cond)
			}
		case *ast.BinaryExpr:
			if kind, to := swaps(n.Op); kind != "" {
				f.add(kind, n.OpPos, n.OpPos+token.Pos(len(n.Op.String())), to.String())
			}
		case *ast.ReturnStmt:
			f.returned(n, failing)
		case *ast.ExprStmt:
			if _, ok := n.X.(*ast.CallExpr); ok {
				f.add("call deleted", n.Pos(), n.End(), "")
			}
		case *ast.DeferStmt:
			f.add("call deleted", n.Pos(), n.End(), "")
			f.body(n.Call, false)
			return false
		case *ast.BasicLit:
			if n.Kind == token.INT {
				f.add("off by one", n.Pos(), n.End(), "("+n.Value+" + 1)")
			}
		}
		return true
	})
}

func (f *finder) negate(cond ast.Expr) {
	f.add("condition negated", cond.Pos(), cond.End(), "!("+f.textOf(cond)+")")
}

func (f *finder) returned(n *ast.ReturnStmt, failing bool) {
	if !failing || len(n.Results) == 0 {
		return
	}
	last := n.Results[len(n.Results)-1]
	if id, ok := last.(*ast.Ident); ok && id.Name == "nil" {
		return
	}
	f.add("error lost", last.Pos(), last.End(), "nil")
}

// endsInError reports whether the last result of a function is an error.
func endsInError(t *ast.FuncType) bool {
	if t.Results == nil {
		return false
	}
	id, ok := t.Results.List[len(t.Results.List)-1].Type.(*ast.Ident)
	return ok && id.Name == "error"
}
