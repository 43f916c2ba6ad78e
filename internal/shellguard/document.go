package shellguard

import (
	"runtime"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Agents write a message of several lines as "$(cat <<'EOF' … EOF)": a text that
// stands in the line as it is. In double quotes it is one literal word.

// messageText is the text of such a substitution.
func (w *walker) messageText(p *syntax.CmdSubst) (text string, ok bool) {
	if p.Backquotes || p.TempFile || p.ReplyVar || len(p.Stmts) != 1 || slices.Contains(w.funcs, "cat") {
		return "", false
	}
	s := p.Stmts[0]
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || s.Background || s.Negated || s.Coprocess || s.Disown || len(call.Assigns) > 0 || len(call.Args) != 1 || call.Args[0].Lit() != "cat" || len(s.Redirs) != 1 {
		return "", false
	}
	r := s.Redirs[0]
	if r.Op != syntax.Hdoc || r.N != nil || r.Hdoc == nil || len(r.Word.Parts) != 1 || len(r.Hdoc.Parts) > 1 {
		return "", false
	}
	if mark, quoted := r.Word.Parts[0].(*syntax.SglQuoted); !quoted || mark.Dollar || !isWord(mark.Value) {
		return "", false
	}
	if len(r.Hdoc.Parts) == 1 {
		lit, plain := r.Hdoc.Parts[0].(*syntax.Lit)
		if !plain {
			return "", false
		}
		text = lit.Value
	}
	return strings.TrimRight(text, "\n"), true
}

// isDocument: the substitution begins and ends as such a text does, cut from the line
// without the parser. Old shells look for the end of a substitution by counting its
// brackets and quotes; where one may be in use, these have to be even.
func isDocument(text string) bool {
	rest, ok := strings.CutPrefix(text, "$(cat <<")
	if !ok {
		return false
	}
	rest, ok = strings.CutPrefix(strings.TrimPrefix(rest, " "), "'")
	mark, rest, found := strings.Cut(rest, "'\n")
	if !ok || !found || !isWord(mark) {
		return false
	}
	for {
		line, after, more := strings.Cut(rest, "\n")
		if line == mark {
			return strings.Trim(after, " \t\n") == ")" && more && (runtime.GOOS == "linux" || endsWhereCounted(text))
		}
		if !more {
			return false
		}
		rest = after
	}
}

// endsWhereCounted: whoever counts brackets and quotes finds the same end.
func endsWhereCounted(text string) bool {
	depth, quote := 0, byte(0)
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"' || c == '`':
			quote = c
		case c == '(':
			depth++
		case c == ')':
			if depth--; depth == 0 {
				return i == len(text)-1
			}
		}
	}
	return false
}

// withoutDocuments puts plain letters in the place of such texts, so that the rest of
// the line can be read a second time. Found: there are some; ok: and nothing else that
// is expanded.
func withoutDocuments(text string, f *syntax.File) (plain string, found, ok bool) {
	var quiet walker
	out, same := []byte(text), true
	syntax.Walk(f, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.ParamExp, *syntax.ArithmExp, *syntax.ProcSubst:
			same = false
		case *syntax.DblQuoted:
			for _, part := range n.Parts {
				p, subst := part.(*syntax.CmdSubst)
				if !subst {
					_, plain := part.(*syntax.Lit)
					same = same && plain
					continue
				}
				from, to := int(p.Pos().Offset()), int(p.End().Offset())
				_, doc := quiet.messageText(p)
				found = found || doc
				if !doc || from >= to || to > len(text) || !isDocument(text[from:to]) {
					same = false
					continue
				}
				for i := from; i < to; i++ {
					out[i] = 'x'
				}
			}
			return false
		case *syntax.CmdSubst:
			same = false
		}
		return true
	})
	return string(out), found, same && found
}
