package guard

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
}

func (v value) with(o value) value {
	out := value{texts: slices.Clone(v.texts), open: max(v.open, o.open)}
	for _, t := range o.texts {
		if !slices.Contains(out.texts, t) {
			out.texts = append(out.texts, t)
		}
	}
	if len(out.texts) > maxValues {
		out.texts, out.open = out.texts[:maxValues], unseen
	}
	return out
}

// texts is what an argument may be.
func (a Arg) texts() []string {
	if len(a.values) > 0 {
		return a.values
	}
	return []string{a.Text}
}

func (a Arg) value() value { return value{a.texts(), a.open} }

// remember notes what the line gives its variables, all over the line: loops,
// functions and traps run in an order of their own.
func (w *walker) remember(f *syntax.File) {
	if w.vars == nil {
		w.vars = map[string]value{}
	}
	// Words are folded by a walker that keeps nothing but the values.
	quiet := &walker{opt: &ShellOptions{}, line: &Line{}, vars: w.vars, quiet: true}
	set := func(name string, v value) {
		if len(w.vars) < maxPrograms || w.vars[name].texts != nil {
			w.vars[name] = w.vars[name].with(v)
		}
	}
	syntax.Walk(f, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Assign:
			if n.Name != nil {
				set(n.Name.Value, quiet.assigned(n))
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
			if c, ok := n.Cmd.(*syntax.CallExpr); ok && len(c.Args) > 1 {
				if name, v := quiet.printsInto(c); name != "" {
					set(name, v)
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

// parameter is what $name or ${name…} may become. Nothing is known of a
// variable that the line does not set: the tool chose it, or it is empty.
func (f *folder) parameter(p *syntax.ParamExp) value {
	if p.Param == nil {
		return value{open: unseen}
	}
	name := p.Param.Value
	v, set := f.w.vars[name]
	f.split = f.split || p.Index != nil // of an array, each element is a word
	switch {
	case p.Length || strings.Contains("#?$!-0", name):
		return value{texts: []string{"0"}}
	case strings.Contains("@*123456789", name):
		v, set = value{open: computed}, true
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
			out, _, err := expand.Format(nil, strings.ReplaceAll(strings.ReplaceAll(text, `\0`, `\`), "%", "%%"), nil)
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
		if len(args) == 0 || args[0] == "-v" {
			return "", false
		}
		var b strings.Builder
		for rest := args[1:]; ; {
			out, n, err := expand.Format(nil, args[0], rest)
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

// maxReadings bounds how many ways one command is read.
const maxReadings = 256

// readings are the commands that one command may become: each word with each
// of its values, cut at blanks where it stands outside quotes. Hidden: there
// are too many to follow.
func (w *walker) readings(args []Arg) (out [][]Arg, tooMany bool) {
	if !slices.ContainsFunc(args, func(a Arg) bool { return len(a.values) > 0 }) {
		return nil, false
	}
	product := 1
	for _, a := range args {
		product = min(product*len(a.texts()), maxReadings)
	}
	all := product < 32
	out = [][]Arg{nil}
	if !all {
		out = nil
	}
	for i, a := range args {
		if all {
			var next [][]Arg
			for _, t := range a.texts() {
				for _, before := range out {
					next = append(next, append(slices.Clip(before), w.fields(a, t)...))
				}
			}
			out = next
			continue
		}
		// Too many to combine: one word at a time.
		for _, t := range a.texts() {
			var one []Arg
			for k, b := range args {
				if k == i {
					one = append(one, w.fields(a, t)...)
				} else {
					one = append(one, w.fields(b, b.texts()[0])...)
				}
			}
			out = append(out, one)
		}
		if len(out) > maxReadings {
			return out, true
		}
	}
	return out, false
}

// fields are the words that one text of an argument becomes.
func (w *walker) fields(a Arg, text string) []Arg {
	if len(a.values) == 0 {
		return []Arg{a}
	}
	open := strings.ContainsAny(text, "$`…") || strings.HasPrefix(text, "~")
	if !a.split {
		return []Arg{{Text: text, Literal: !open, open: a.open}}
	}
	between := " \t\n"
	for _, t := range w.vars["IFS"].texts {
		between += t
	}
	var out []Arg
	for _, t := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(between, r) }) {
		glob := strings.ContainsAny(t, "*?[")
		out = append(out, Arg{Text: t, Literal: !open && !glob, Glob: glob && !open, open: a.open})
	}
	return out
}
