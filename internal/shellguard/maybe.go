package shellguard

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// maybePrograms finds the words of a wrapper that may be the program it starts:
// each option that is not known to stand alone may take the word behind it. Of a
// wrapper with operands of its own, such as timeout, those come first.
func maybePrograms(args []Arg, operands int) []int {
	var out []int
	seen := map[[2]int]bool{}
	var from func(i, left int)
	from = func(i, left int) {
		for i < len(args) && !seen[[2]int{i, left}] {
			seen[[2]int{i, left}] = true
			t := args[i].Text
			switch {
			case t == "--":
				if at := i + 1 + left; at < len(args) {
					out = append(out, at)
				}
				return
			case strings.HasPrefix(t, "-") && len(t) > 1:
				if i+1 < len(args) && !(strings.HasPrefix(t, "--") && strings.Contains(t, "=")) {
					from(i+2, left) // with a word of its own
				}
			case isAssignment(t), t == "-": // env - is env -i
			case left > 0:
				left--
			default:
				out = append(out, i)
				return
			}
			i++
		}
	}
	from(0, operands)
	slices.Sort(out)
	return slices.Compact(out)
}

// timeProgram reads "time -o x rm" as the program time does, and not the keyword: not
// every shell has that.
func (w *walker) timeProgram(s *syntax.Stmt, sc scope) {
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 || !strings.HasPrefix(call.Args[0].Lit(), "-") {
		return
	}
	args := []Arg{{Text: "time", Literal: true}}
	for _, word := range call.Args {
		args = append(args, w.words(word, sc)...)
	}
	w.possibleWalker().program(args, sc)
}

// ownOperands is how many words stand between the options of a wrapper and its
// program; false for what is no such wrapper.
func ownOperands(name string) (int, bool) {
	switch name {
	case "flock", "ssh":
		return 1, true
	case "find", "alias", "trap", "eval":
		return 0, false
	case "command":
		return 0, true
	}
	if w, ok := wrapperOf(name); ok {
		return w.operands, true
	}
	return 0, isWrapper(name)
}

// possibleCommands walks whatever a wrapper with options may start beside what it seems to.
func (w *walker) possibleCommands(p *Program, u unwrapped, name string, sc scope) {
	operands, ok := ownOperands(name)
	if !ok || u.isScript && name != "watch" && name != "ssh" && name != "env" && name != "flock" && name != "script" && name != "su" && name != "runuser" || name == "command" && len(p.Args) > 0 && (p.Args[0].Text == "-v" || p.Args[0].Text == "-V") {
		return
	}
	in := sc.started(Quote(name))
	in.dynamic, in.child = true, true
	in.marks = append(slices.Clip(in.marks), fillMarks(name, p.Args)...)
	if in.depth > maxWrapping {
		return
	}
	at := maybePrograms(p.Args, operands)
	if wr, ok := wrapperOf(name); ok && wr.dynamic {
		// What stands between its options and the program is its own affair:
		// setarch x86_64 rm, faketime '1 day ago' rm, perf stat rm.
		for i, a := range p.Args {
			if len(at) < maxDirs*maxDirs && !slices.Contains(at, i) && !strings.HasPrefix(a.Text, "-") {
				at = append(at, i)
			}
		}
	}
	for _, i := range at {
		rest := p.Args[i:]
		known := slices.ContainsFunc(u.inner, func(inner []Arg) bool { return len(inner) == len(rest) })
		if (name == "xargs" || name == "parallel") && !known && in.filled(p.Args[i]).open == unseen {
			continue // xargs -I {} echo {}: which of its letters take a word is known
		}
		if name == "watch" || name == "ssh" {
			w.maybeScript(joined(rest).Text, in)
		}
		if !known && name != "ssh" {
			w.possibleWalker().program(rest, in)
		}
	}
	if len(at) == 0 && fills(sc.via) {
		// What xargs finds on its input is the program.
		w.possibleWalker().program([]Arg{{Text: "…", open: unseen}}, in)
		w.line.floor = append(w.line.floor, "which program "+Quote(name)+" starts is decided by its input")
	}
}

// fills: words that are not in the line are put in by one of these.
func fills(via []string) bool {
	return slices.Contains(via, "xargs") || slices.Contains(via, "parallel")
}

// fillMarks are the words for which xargs and parallel put in what they read.
func fillMarks(name string, args []Arg) []string {
	var out []string
	switch name {
	case "parallel":
		return []string{"{}", "{.}", "{/}", "{1}"}
	case "xargs":
		for i, a := range args {
			t := a.Text
			switch {
			case strings.HasPrefix(t, "--replace"):
				if _, mark, ok := strings.Cut(t, "="); ok && mark != "" {
					out = append(out, mark)
				}
				out = append(out, "{}")
			case !strings.HasPrefix(t, "-") || strings.HasPrefix(t, "--"):
			case strings.ContainsAny(t, "IJ"):
				if at := strings.IndexAny(t, "IJ"); at+1 < len(t) {
					out = append(out, t[at+1:])
				} else if i+1 < len(args) {
					out = append(out, args[i+1].Text)
				}
			case strings.Contains(t, "i"):
				if at := strings.IndexByte(t, 'i'); at+1 < len(t) {
					out = append(out, t[at+1:])
				}
				out = append(out, "{}")
			}
		}
	}
	return slices.DeleteFunc(out, func(m string) bool { return m == "" })
}

// filled makes a word what it is where a mark in it is replaced: unknown.
func (sc *scope) filled(a Arg) Arg {
	if slices.ContainsFunc(sc.marks, func(m string) bool { return strings.Contains(a.Text, m) }) {
		a.Literal, a.open, a.values = false, unseen, nil
	}
	return a
}

// isInput: a file name that means the standard input, however it is written.
func isInput(text string, dirs []string) bool {
	if text == "-" {
		return true
	}
	if !strings.HasPrefix(text, "/") {
		for _, d := range dirs {
			if strings.Contains(text, "/") && isInput(path.Join(d, text), nil) {
				return true
			}
		}
		return false
	}
	t := path.Clean(text)
	return t == "/dev/stdin" || strings.HasPrefix(t, "/dev/fd/") || strings.HasPrefix(t, "/proc/") && strings.Contains(t, "/fd/")
}

// takesCommands: programs of another kind that run what they read, where that
// comes from the network.
func (p *Program) takesCommands(name string) bool {
	input := p.readsDescriptor()
	switch name {
	case "make", "gmake", "awk", "gawk", "mawk", "nawk", "sed", "gsed":
		return input && p.flag("fE", "file", "makefile")
	case "ssh":
		at := maybePrograms(p.Args, 1)
		return len(at) == 0
	case "gdb", "lldb", "ed", "ex", "vi", "vim", "nvim", "sqlite3", "psql", "mysql", "m4", "dc":
		return true
	case "deno", "bun", "uv", "go", "npx":
		return input
	case "parallel":
		return len(maybePrograms(p.Args, 0)) == 0
	}
	return false
}
