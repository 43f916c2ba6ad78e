package shellguard

import (
	"slices"

	"mvdan.cc/sh/v3/syntax"
)

// call reads a simple command under everything that its words may be.
func (r *plainReader) call(c *syntax.CallExpr, st *plainState) (out possible, ok []string) {
	if len(c.Args) == 0 {
		for _, a := range c.Assigns {
			r.assign(a, st)
		}
		return nil, st.dirs
	}
	for _, a := range c.Assigns {
		r.prefix(a, c.Args, st)
	}
	ways := [][]Arg{nil}
	for _, word := range c.Args {
		words := r.wordWays(word, st)
		if len(words) == 1 && len(ways) == 1 {
			ways[0] = append(ways[0], words[0]...)
			continue
		}
		var next [][]Arg
		for _, way := range words {
			for _, before := range ways {
				next = append(next, append(slices.Clip(before), way...))
			}
		}
		if ways = next; len(ways) > maxCombined {
			r.refuse("its words may be too many things")
		}
		if r.why != "" {
			return unknownText(), st.dirs
		}
	}
	after := st.fork()
	for i, way := range ways {
		in := after
		if len(ways) > 1 {
			in = st.fork()
		}
		printed, okDirs := possible(nil), in.dirs
		if len(way) > 0 {
			printed, okDirs = r.program(way, in)
		}
		out, ok = out.or(printed), r.joinDirs(ok, okDirs)
		if len(ways) == 1 {
			break
		}
		if i == 0 {
			after = in
		} else {
			after.meet(in, r)
		}
	}
	*st = *after
	return out, ok
}

// wordWays are the words that a word of a command becomes, in every way.
func (r *plainReader) wordWays(word *syntax.Word, st *plainState) [][]Arg {
	if len(word.Parts) == 1 {
		if p, ok := word.Parts[0].(*syntax.ProcSubst); ok {
			return [][]Arg{{r.process(p, st)}}
		}
	}
	ways := r.combine(r.pieces(word.Parts, st, false), false)
	if !hasBraces(word) {
		return ways
	}
	// Bash makes several words of it, a plain shell takes it as it stands.
	all := []Arg{}
	each := braced(word)
	if len(each) == 0 {
		r.refuse("its braces become too many words")
		return nil
	}
	for _, w := range each[1:] {
		one := r.combine(r.pieces(w.Parts, st, false), false)
		if len(one) != 1 {
			r.refuse("its braces hold what may be several things")
			return nil
		}
		all = append(all, one[0]...)
	}
	return append(ways, all)
}

// process reads <(…): a file that is there to be read, and nothing else.
func (r *plainReader) process(p *syntax.ProcSubst, st *plainState) Arg {
	if p.Op != syntax.CmdIn || !startsProgram(p.Stmts) {
		r.refuse("it writes into another command")
	}
	if r.depth++; r.depth > maxWrapping {
		r.refuse("it nests too deeply")
	}
	defer func() { r.depth-- }()
	r.stmts(p.Stmts, st.fork())
	return Arg{Text: "<(…)", computed: computedPlaces}
}

// assign follows an assignment that stands alone.
func (r *plainReader) assign(a *syntax.Assign, st *plainState) {
	if a.Append || a.Naked || a.Array != nil || a.Index != nil || a.Name == nil {
		r.refuse("it has an assignment that only bash knows")
		return
	}
	is := r.textOf(a.Value, st)
	switch name := a.Name.Value; {
	case ownVariable(name):
		st.vars[name] = is
	case !harmlessIn(name, is):
		r.refuse("it sets " + name)
	}
}

func harmlessIn(name string, is possible) bool {
	return len(is) == 1 && is[0].kind == exact && harmlessVariable(name, is[0].text)
}

// prefix judges an assignment before a command, which holds for that command alone.
func (r *plainReader) prefix(a *syntax.Assign, command []*syntax.Word, st *plainState) {
	if a.Append || a.Naked || a.Array != nil || a.Index != nil || a.Name == nil {
		r.refuse("it has an assignment that only bash knows")
		return
	}
	is := r.textOf(a.Value, st)
	name, program, sub := a.Name.Value, "", ""
	if len(command) > 0 {
		program = command[0].Lit()
	}
	if len(command) > 1 {
		sub = command[1].Lit()
	}
	switch {
	case harmlessIn(name, is), name == "IFS" && program == "read":
	case isOneOf(name, "GOOS GOARCH GOARM") && program == "go" && isOneOf(sub, "env list version doc build vet") && len(is) == 1 && is[0].kind == exact && isWord(is[0].text):
		// Another machine for go test would choose a program that runs the tests.
	default:
		r.refuse("it sets " + name)
	}
}

// declare judges export of variables that only change how things look.
func (r *plainReader) declare(c *syntax.DeclClause, st *plainState) {
	if c.Variant.Value != "export" || len(c.Args) == 0 {
		r.refuse("it sets variables with " + c.Variant.Value)
		return
	}
	for _, a := range c.Args {
		if a.Name == nil || a.Naked {
			r.refuse("it exports a variable")
			return
		}
		r.prefix(a, nil, st)
	}
}

// redirect judges where a command reads from and writes to.
func (r *plainReader) redirect(rd *syntax.Redirect, st *plainState) {
	if rd.N != nil && len(rd.N.Value) != 1 {
		r.refuse("shells differ in what its redirection means")
		return
	}
	input := rd.N == nil || rd.N.Value == "0"
	if rd.Op != syntax.RdrOut && rd.Op != syntax.AppOut && rd.Op != syntax.RdrClob && rd.Op != syntax.DplOut {
		st.fed = true
	}
	out := Redirect{Op: rd.Op.String(), Class: ReadOnly}
	switch rd.Op {
	case syntax.Hdoc, syntax.DashHdoc:
		st.stdin = unknownText()
		if rd.Hdoc == nil {
			break
		}
		for _, p := range r.pieces(rd.Hdoc.Parts, st, true) {
			if slices.ContainsFunc(p.is, func(a atom) bool { return a.kind == foreign }) {
				st.stdin = possible{{kind: any_}, {kind: foreign}}
			}
		}
	case syntax.WordHdoc:
		st.stdin = r.textOf(rd.Word, st)
	case syntax.RdrIn:
		if len(rd.Word.Parts) == 1 {
			if p, ok := rd.Word.Parts[0].(*syntax.ProcSubst); ok {
				r.process(p, st)
				st.stdin = unknownText()
				return
			}
		}
		if hasBraces(rd.Word) || slices.ContainsFunc(r.combine(r.pieces(rd.Word.Parts, st, false), false), func(words []Arg) bool {
			return len(words) > 1 || len(words) == 1 && (words[0].Glob && !words[0].one || words[0].computed == computedWords)
		}) {
			r.refuse("it reads from a file that a pattern names")
			return
		}
		for _, a := range r.textOf(rd.Word, st) {
			r.inputFile(a, st, &out)
		}
		if input {
			st.stdin = unknownText()
		}
	case syntax.RdrOut, syntax.AppOut, syntax.RdrClob:
		is := r.textOf(rd.Word, st)
		if len(is) != 1 || is[0].kind != exact {
			r.refuse("it writes to a file whose name is not literal")
			return
		}
		target := Arg{Text: is[0].text, Literal: true}
		out.Target, out.target = target.Text, target
		output(&out, target)
	case syntax.DplIn, syntax.DplOut:
		if !isDescriptor(rd.Word.Lit()) {
			r.refuse("it copies a descriptor that is not literal")
		}
	default:
		r.refuse("only bash knows " + rd.Op.String())
	}
	r.line.Redirects = append(r.line.Redirects, out)
	if len(r.line.Redirects) > maxPrograms {
		r.refuse("it has too many redirections")
	}
}

// inputFile: bash connects to what is called /dev/tcp/…, so that a name has to be
// known as far as to tell it is none of these.
func (r *plainReader) inputFile(a atom, st *plainState, out *Redirect) {
	switch {
	case a.kind == exact && isSocket(a.text):
		r.refuse("it opens a connection")
	case a.kind == exact && a.text == "/dev/null":
	case a.kind == exact || a.kind == named && a.relative():
		for _, d := range st.dirs {
			out.Paths = append(out.Paths, Path{Dir: d, Text: a.text, Glob: a.kind == named})
		}
	case a.kind == headed && a.relative(), a.kind == relative:
		out.unnamed = true
	default:
		r.refuse("it reads from a file that nobody knows")
	}
}
