package shellguard

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Text that the line hands to a shell or an interpreter is code as much as the
// line itself: here-documents, here-strings, what echo prints into a pipe, what
// was written to a file that is run afterwards.

// inputText is the text that redirections give a command: of a here-document or
// a here-string, on whatever descriptor.
func (w *walker) inputText(list []*syntax.Redirect, sc scope) (Arg, bool) {
	var out Arg
	found := false
	for _, r := range list {
		switch r.Op {
		case syntax.Hdoc, syntax.DashHdoc:
			if r.Hdoc == nil {
				continue
			}
			out, found = w.document(r, sc), true
		case syntax.WordHdoc:
			out, found = w.word(r.Word, sc), true
			if out.Glob {
				out.Literal = true
			}
		case syntax.RdrIn, syntax.RdrInOut, syntax.DplIn:
			if r.N == nil || r.N.Value == "0" {
				out, found = Arg{}, false
				if target := w.word(r.Word, sc); target.file != nil {
					out, found = *target.file, true
				} else if r.Op == syntax.RdrIn && target.Literal {
					out, found = w.written[fileKey(target.Text)], w.written[fileKey(target.Text)].Text != ""
				}
			}
		}
	}
	return out, found
}

// document folds the text of a here-document.
func (w *walker) document(r *syntax.Redirect, sc scope) Arg {
	f := newFolder(w, sc)
	quoted := quotesDocument(r)
	for _, part := range r.Hdoc.Parts {
		if lit, ok := part.(*syntax.Lit); ok {
			text := lit.Value
			if !quoted {
				text = unescapeDocument(text)
			}
			f.addLiteral(text)
			continue
		}
		f.part(part, false)
	}
	a := Arg{Text: f.text.String(), Literal: !f.dynamic, open: f.open}
	if f.dynamic {
		a.values = f.values()
	}
	return a
}

// quotesDocument: the word that ends a here-document is quoted, so that nothing in its
// text is expanded.
func quotesDocument(r *syntax.Redirect) bool {
	return r.Word != nil && (r.Word.Lit() == "" || strings.ContainsRune(r.Word.Lit(), '\\'))
}

func unescapeDocument(s string) string {
	return strings.NewReplacer(`\\`, `\`, "\\\n", "", `\$`, `$`, "\\`", "`").Replace(s)
}

// outputText is what a statement prints, where that stands in the line.
func (w *walker) outputText(s *syntax.Stmt, sc scope) (Arg, bool) {
	if s == nil || s.Cmd == nil || !w.work.spend(perWord) {
		return Arg{}, false
	}
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		return w.callText(s, c, sc)
	case *syntax.Block:
		return w.listText(c.Stmts, sc)
	case *syntax.Subshell:
		return w.listText(c.Stmts, sc)
	case *syntax.TimeClause:
		return w.outputText(c.Stmt, sc)
	case *syntax.BinaryCmd:
		if call, ok := c.Y.Cmd.(*syntax.CallExpr); ok && c.Op == syntax.Pipe && len(call.Args) > 0 {
			if name := call.Args[0].Lit(); name == "cat" || name == "tee" {
				return w.outputText(c.X, sc)
			}
		}
		if c.Op == syntax.AndStmt {
			return w.listText([]*syntax.Stmt{c.X, c.Y}, sc)
		}
	}
	return Arg{}, false
}

func (w *walker) listText(list []*syntax.Stmt, sc scope) (Arg, bool) {
	all := Arg{Literal: true}
	for _, s := range list {
		a, ok := w.outputText(s, sc)
		if !ok {
			return Arg{}, false
		}
		all = Arg{Text: all.Text + a.texts()[0], Literal: all.Literal && a.Literal, open: max(all.open, a.open)}
	}
	return all, len(list) > 0
}

func (w *walker) callText(s *syntax.Stmt, c *syntax.CallExpr, sc scope) (Arg, bool) {
	args := w.started(c, sc)
	if len(args) == 0 {
		return Arg{}, false
	}
	name := path.Base(args[0].Text)
	if name == "cat" || name == "tee" {
		if text, ok := w.inputText(s.Redirs, sc); ok {
			return text, true
		}
		if name == "cat" && len(args) == 2 && args[1].Text != "-" {
			text := w.written[fileKey(args[1].Text)]
			return text, args[1].Literal && text.Text != ""
		}
		if sc.input != nil && sc.piped && !readsFile(s.Redirs) {
			return *sc.input, true
		}
		return Arg{}, false
	}
	if name != "echo" && name != "printf" {
		return Arg{}, false
	}
	args = args[1:]
	literal, open := true, settled
	for _, a := range args {
		literal = literal && (a.Literal || a.Glob)
		open = max(open, a.open)
	}
	ways, tooMany := w.readings(args)
	if ways == nil {
		ways = [][]Arg{args}
	}
	out := Arg{Literal: literal, open: open}
	if tooMany {
		out.open = unseen
	}
	for _, way := range ways {
		words := argTexts(way)
		text, ok := echoed(name, words)
		if !ok {
			return Arg{}, false
		}
		out.Text = text
		out.values = append(out.values, text)
		if raw := strings.Join(words, " ") + "\n"; name == "echo" && strings.Contains(raw, `\`) {
			out.values = append(out.values, raw) // not every echo reads backslashes
		}
	}
	if literal && len(out.values) == 1 {
		out.values = nil
	}
	out.Literal = literal && out.values == nil
	return out, true
}

// started folds the words of a command and takes the wrappers off it: what
// "env nice echo x" prints is what echo prints.
func (w *walker) started(c *syntax.CallExpr, sc scope) []Arg {
	quiet := *w // the words are walked where the command is
	quiet.line, quiet.quiet, quiet.names = &Line{}, true, nil
	args := make([]Arg, 0, len(c.Args))
	for _, word := range c.Args {
		args = quiet.appendWords(args, word, sc)
	}
	for range maxWrapping {
		if len(args) == 0 {
			return nil
		}
		u, ok := unwrap(path.Base(args[0].Text), args[1:])
		if !ok || len(u.inner) != 1 || len(u.inner[0]) == 0 {
			break
		}
		args = u.inner[0]
	}
	return args
}

// fileKey is how files of the line are told apart: by their last element, since
// the line may go to their directory in between.
func fileKey(text string) string {
	text = strings.TrimRight(text, "/")
	return text[strings.LastIndexByte(text, '/')+1:]
}

// readInput gives a program the text that stands in the line for its input.
func (w *walker) readInput(p *Program, name string, sc scope) {
	for i := range p.Args {
		if text := p.Args[i].file; text != nil && (isShell(name) || name == "." || name == "source") {
			in := sc.started(Quote(name) + ", which reads it")
			in.dynamic, in.input = true, nil
			w.code(*text, in)
		}
	}
	if sc.input == nil {
		return
	}
	in := sc.started(Quote(name) + ", which reads it")
	in.dynamic, in.input = true, nil
	switch {
	case isShell(name) && !p.hasScript(), (name == "." || name == "source") && p.readsDescriptor(), name == "at", name == "batch", name == "ssh", name == "su", name == "sudo", name == "tmux", name == "screen":
		w.code(*sc.input, in)
	case name == "crontab":
		for _, text := range sc.input.texts() {
			for line := range strings.SplitSeq(text, "\n") {
				if fields := strings.Fields(line); len(fields) > 5 {
					w.maybeScript(strings.Join(fields[5:], " "), in)
				}
			}
		}
	case readsCode(name) || carriesCode(name):
		for _, text := range sc.input.texts() {
			w.embedded(text, in)
		}
	}
}

// code walks text that a shell is given: as part of the line if it stands
// there, as something possible if it is put together.
func (w *walker) code(text Arg, sc scope) {
	if sc.depth > maxWrapping {
		w.tooMuch()
		return
	}
	if text.open == unseen {
		w.line.floor = append(w.line.floor, "a shell is given code that nobody can see")
	}
	for _, t := range text.texts() {
		if nesting, splits := nestingOf(t); nesting > maxNesting || splits > maxSplits {
			w.tooMuch()
			return
		}
		if text.Literal {
			w.script(t, sc)
		} else {
			w.maybeScript(t, sc)
		}
	}
}

// maybeScript walks text that may be run as shell code: nothing is allowed by it,
// but the floor and the rules that take away see what is in it.
func (w *walker) maybeScript(text string, sc scope) {
	if sc.depth > maxWrapping || len(text) > maxLine {
		w.tooMuch()
		return
	}
	if nesting, splits := nestingOf(text); nesting > maxNesting || splits > maxSplits {
		w.tooMuch()
		return
	}
	sc.dynamic = true
	w.possibleWalker().script(text, sc.started("code"))
}

// possibleWalker is a walker for what the line may do beside what it says.
func (w *walker) possibleWalker() *walker {
	if w.guess {
		return w
	}
	if w.line.possible == nil {
		w.line.possible = &Line{Text: w.line.Text}
	}
	s := *w
	s.line, s.guess = w.line.possible, true
	return &s
}

// tooMuch notes that a line is not followed to its end: then nobody knows.
func (w *walker) tooMuch() {
	const why = "it starts more than can be followed"
	w.line.unknown("it nests too many commands in each other")
	if !slices.Contains(w.line.floor, why) {
		w.line.floor = append(w.line.floor, why)
	}
}
