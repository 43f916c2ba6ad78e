package shellguard

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// A word that is not literal is never allowed. The floor and the rules that
// take away have to know more: what the word may become, as far as the line
// itself says. "x=push; git $x -f" says it all.

// openness is how much of a word is decided while the line runs.
type openness uint8

const (
	settled  openness = iota // nothing, or a variable that nothing in the line sets
	computed                 // what other programs of the line print or read
	unseen                   // nobody can tell, or somebody took pains to hide it
)

// maxValues bounds the texts that one word is followed to.
const maxValues = 64

// value is what a variable may hold, or a word may become.
type value struct {
	texts []string
	open  openness
	from  string // the one tame program that prints all of it, see Arg
}

func (v value) with(o value) value {
	out := value{texts: slices.Clone(v.texts), open: max(v.open, o.open)}
	if v.from == o.from || len(v.texts) == 0 && v.open == settled {
		out.from = o.from
	}
	for _, t := range o.texts {
		if !slices.Contains(out.texts, t) {
			out.texts = append(out.texts, t)
		}
	}
	if len(out.texts) > maxValues {
		out.texts, out.open = out.texts[:maxValues], unseen
	}
	return out.bounded()
}

// bounded leaves out what is too long to be followed.
func (v value) bounded() value {
	if total(v.texts) <= maxText {
		return v
	}
	kept, size := make([]string, 0, len(v.texts)), 0
	for _, t := range v.texts {
		if size += len(t); size <= maxText {
			kept = append(kept, t)
		}
	}
	v.texts, v.open = kept, unseen
	return v
}

// texts is what an argument may be.
func (a Arg) texts() []string {
	if len(a.values) > 0 {
		return a.values
	}
	return []string{a.Text}
}

func (a Arg) value() value { return value{a.texts(), a.open, a.from} }

// remember notes what the line gives its variables, all over the line: loops,
// functions and traps run in an order of their own.
func (w *walker) remember(f *syntax.File) {
	if w.vars == nil {
		w.vars = map[string]value{}
	}
	// Words are folded by a walker that keeps nothing but the values.
	quiet := &walker{opt: &Options{}, line: &Line{}, vars: w.vars, work: w.work, quiet: true}
	set := func(name string, v value) {
		w.vars[name] = w.vars[name].with(v)
	}
	syntax.Walk(f, func(n syntax.Node) bool {
		if w.work.empty() {
			return false
		}
		switch n := n.(type) {
		case *syntax.Assign:
			if n.Name != nil {
				set(n.Name.Value, quiet.assigned(n))
			}
		case *syntax.ParamExp:
			if n.Exp != nil && n.Exp.Word != nil && n.Param != nil && (n.Exp.Op == syntax.AssignUnset || n.Exp.Op == syntax.AssignUnsetOrNull) {
				set(n.Param.Value, quiet.word(n.Exp.Word, scope{}).value())
			}
		case *syntax.ForClause:
			if iter, ok := n.Loop.(*syntax.WordIter); ok {
				for _, item := range iter.Items {
					for _, a := range quiet.words(item, scope{}) {
						set(iter.Name.Value, a.value())
					}
				}
			}
		case *syntax.Stmt:
			if _, ok := n.Cmd.(*syntax.WhileClause); ok {
				w.loopReads(n, quiet, set)
			}
			if c, ok := n.Cmd.(*syntax.CallExpr); ok && len(c.Args) > 1 {
				if name, v := quiet.printsInto(c); name != "" {
					set(name, v)
				}
				if c.Args[0].Lit() == "set" {
					var args []Arg
					for _, word := range c.Args[1:] {
						args = append(args, quiet.words(word, scope{})...)
					}
					w.setPositional(stepOver(args, ""))
				}
				names, v := readNames(c), value{open: computed}
				if len(names) > 0 {
					if text, ok := quiet.inputText(n.Redirs, scope{}); ok {
						v = value{open: text.open}
						for _, t := range text.texts() {
							v = v.with(value{texts: append(strings.Fields(t), strings.TrimSpace(t))})
						}
					}
				}
				for _, name := range names {
					set(name, v)
				}
			}
		}
		return true
	})
}

// loopReads notes what a loop reads from text that stands in the line.
func (w *walker) loopReads(loop *syntax.Stmt, quiet *walker, set func(string, value)) {
	text, ok := quiet.inputText(loop.Redirs, scope{})
	if !ok {
		return
	}
	v := value{open: text.open}
	for _, t := range text.texts() {
		v = v.with(value{texts: append(strings.Fields(t), strings.Split(strings.TrimSpace(t), "\n")...)})
	}
	syntax.Walk(loop.Cmd, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.CallExpr); ok && len(c.Args) > 1 {
			for _, name := range readNames(c) {
				set(name, v)
			}
		}
		return true
	})
}

// assigned is the value of one assignment.
func (w *walker) assigned(a *syntax.Assign) value {
	v := value{texts: []string{""}}
	switch {
	case a.Array != nil:
		v = value{}
		var all []string
		for _, e := range a.Array.Elems {
			if e.Value != nil {
				arg := w.word(e.Value, scope{})
				v = v.with(arg.value())
				all = append(all, arg.texts()[0])
			}
		}
		v = v.with(value{texts: []string{strings.Join(all, " ")}})
	case a.Value != nil:
		v = w.word(a.Value, scope{}).value()
	}
	if a.Append {
		old := w.vars[a.Name.Value]
		out := value{open: max(v.open, old.open)}
		for _, before := range old.texts {
			for _, t := range v.texts {
				out = out.with(value{texts: []string{before + t, before + " " + t}})
			}
		}
		return out.with(v)
	}
	return v
}

// readNames are the variables that a builtin fills with what it reads.
func readNames(c *syntax.CallExpr) []string {
	var out []string
	for i, arg := range c.Args[1:] {
		t := arg.Lit()
		switch c.Args[0].Lit() {
		case "read", "mapfile", "readarray":
			if t != "" && t[0] != '-' {
				out = append(out, t)
			}
		case "getopts":
			if i == 1 {
				out = append(out, t)
			}
		}
	}
	return out
}

// printsInto is printf -v: the variable, and what it is set to.
func (w *walker) printsInto(c *syntax.CallExpr) (name string, v value) {
	if len(c.Args) < 4 || c.Args[0].Lit() != "printf" || c.Args[1].Lit() != "-v" {
		return "", value{}
	}
	v, ok := w.printed([]*syntax.Stmt{{Cmd: &syntax.CallExpr{Args: append([]*syntax.Word{c.Args[0]}, c.Args[3:]...)}}}, scope{})
	if !ok {
		v = value{open: unseen}
	}
	return c.Args[2].Lit(), v
}

// setPositional notes what "$@" may be: the words of set, or of a call of a
// function.
func (w *walker) setPositional(args []Arg) {
	if len(args) == 0 || w.vars == nil {
		return
	}
	v := value{texts: []string{joined(args).Text}}
	for _, a := range args {
		v = v.with(a.value())
	}
	w.vars["@"] = w.vars["@"].with(v)
}

// setShellArguments notes what sh -c 'code' x y z has for $0, $1 and so on.
func (w *walker) setShellArguments(args []Arg, code Arg) {
	at := slices.IndexFunc(args, func(a Arg) bool { return a.Text == code.Text && !strings.HasPrefix(a.Text, "-") })
	if at < 0 || at+1 >= len(args) || w.vars == nil {
		return
	}
	w.vars["0"] = w.vars["0"].with(args[at+1].value())
	w.setPositional(args[at+2:])
}

// parameter is what $name or ${name…} may become. Nothing is known of a
// variable that the line does not set: the tool chose it, or it is empty.
func (f *wordFolder) parameter(p *syntax.ParamExp) value {
	if p.Param == nil {
		return value{open: unseen}
	}
	name := p.Param.Value
	v, set := f.w.vars[name]
	f.split = f.split || p.Index != nil // of an array, each element is a word
	switch {
	case name == "0" && set:
	case p.Length || strings.Contains("#?$!-0", name):
		return value{texts: []string{"0"}}
	case strings.Contains("@*123456789", name):
		v, set = f.w.vars["@"], true
		v.open, f.split = max(v.open, computed), true
	case !set:
		v = value{texts: []string{"$" + name}}
	}
	switch {
	case p.Excl || p.Slice != nil || p.Repl != nil || p.Names != 0:
		v.open = unseen
	case p.Exp == nil:
	case p.Exp.Word == nil:
	default:
		quiet := *f.w // what is in the word is walked elsewhere
		quiet.line, quiet.quiet = &Line{}, true
		given := quiet.word(p.Exp.Word, f.sc).value()
		switch p.Exp.Op {
		case syntax.AlternateUnset, syntax.AlternateUnsetOrNull, syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
			v = v.with(given)
		case syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
		default: // cuts something off: a path becomes another one
			v.open = max(v.open, computed)
			if !set || slices.ContainsFunc(v.texts, func(t string) bool {
				return strings.HasPrefix(t, "/") || strings.HasPrefix(t, "~") || strings.HasPrefix(t, "$")
			}) {
				v.open = unseen
			}
		}
	}
	return v
}

// printed is what a substitution prints if that stands in the line: an echo or
// a printf of words that are known.
func (w *walker) printed(list []*syntax.Stmt, sc scope) (value, bool) {
	if len(list) != 1 {
		return value{}, false
	}
	text, ok := w.outputText(list[0], sc)
	if !ok {
		return value{}, false
	}
	v := value{open: text.open}
	for _, t := range text.texts() {
		v = v.with(value{texts: []string{strings.TrimRight(t, "\n")}})
	}
	return v, true
}

// echoed is what echo or printf prints.
func echoed(name string, args []string) (string, bool) {
	switch name {
	case "echo":
		escapes := true // dash reads them always, bash with -e: both are tried by reading them
		for len(args) > 0 && (args[0] == "-n" || args[0] == "-e" || args[0] == "-en" || args[0] == "-ne" || args[0] == "-E") {
			escapes = escapes && args[0] != "-E"
			args = args[1:]
		}
		text := strings.Join(args, " ")
		if escapes && strings.Contains(text, `\`) {
			out, _, err := expand.Format(&expand.Config{}, strings.ReplaceAll(strings.ReplaceAll(text, `\0`, `\`), "%", "%%"), nil)
			if err != nil {
				return "", false
			}
			return out + "\n", true
		}
		return text + "\n", true
	case "printf":
		if len(args) > 0 && args[0] == "--" {
			args = args[1:]
		}
		if len(args) == 0 || args[0] == "-v" || widensText(args[0]) {
			return "", false
		}
		var b strings.Builder
		for rest := args[1:]; ; {
			out, n, err := expand.Format(&expand.Config{}, args[0], rest)
			if err != nil || b.Len() > maxLine {
				return "", false
			}
			b.WriteString(out)
			if n == 0 || n >= len(rest) {
				return b.String(), true
			}
			rest = rest[n:]
		}
	}
	return "", false
}
