package shellguard

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// call takes a simple command: assignments, a program and its arguments.
func (w *walker) call(c *syntax.CallExpr, sc scope) dirsAfter {
	w.assigns(c.Assigns, sc)
	sc.tree = sc.tree || w.vitalTree(sc)
	sc.settings = sc.settings || w.otherSettings()
	if len(c.Args) == 0 {
		return sameDirs(sc)
	}
	args := make([]Arg, 0, len(c.Args))
	for _, word := range c.Args {
		args = w.appendWords(args, word, sc)
	}
	f := w.program(args, sc)
	w.noteNames(args[1:])
	ways, tooMany := w.readings(args)
	if tooMany {
		w.tooMuch()
	}
	for _, way := range ways {
		if len(way) > 0 {
			if len(way) == 2 && len(args) == 2 && moves(way[0].Text) && way[1].Text == unread {
				way[1].from = w.vars[strings.TrimPrefix(args[1].Text, "$")].from
			}
			g := w.possibleWalker().program(way, sc)
			f = dirsAfter{w.join(f.ok, g.ok), w.join(f.any, g.any)}
		}
	}
	return f
}

// vitalTree: GIT_WORK_TREE is a home or a directory of the system somewhere in
// the line.
func (w *walker) vitalTree(sc scope) bool {
	return slices.ContainsFunc(w.vars["GIT_WORK_TREE"].texts, func(t string) bool { return w.opt.Homes.isVital(t, sc.dirs) })
}

// otherSettings: the line sets a variable by which git finds its settings.
func (w *walker) otherSettings() bool {
	return slices.ContainsFunc(strings.Fields(settingsVariables), func(name string) bool {
		return slices.ContainsFunc(w.vars[name].texts, func(t string) bool { return settingsVariable(name, t) })
	})
}

// envSettings: env is told so.
func envSettings(args []Arg) bool {
	return slices.ContainsFunc(args, func(a Arg) bool {
		name, value, ok := strings.Cut(a.texts()[0], "=")
		return ok && settingsVariable(name, value)
	})
}

// gitTree: env is told so.
func gitTree(dirs []string, args []Arg, known homes) bool {
	return slices.ContainsFunc(args, func(a Arg) bool {
		tree, ok := strings.CutPrefix(a.texts()[0], "GIT_WORK_TREE=")
		return ok && known.isVital(tree, dirs)
	})
}

// words folds a word; one with braces becomes the several that bash makes of
// it, so that a person and the floor see them. It stays not understood.
func (w *walker) words(word *syntax.Word, sc scope) []Arg { return w.appendWords(nil, word, sc) }

func (w *walker) appendWords(out []Arg, word *syntax.Word, sc scope) []Arg {
	first := w.word(word, sc)
	if first.Literal || first.Glob {
		return append(out, first)
	}
	// The number of words is the product of what stands in each pair.
	if braces := strings.Count(first.Text, "{"); braces == 0 || braces > 4 || strings.Count(first.Text, ",") > 16 || strings.Contains(first.Text, "..") {
		return append(out, first)
	}
	split := &syntax.Word{Parts: slices.Clone(word.Parts)}
	if !syntax.SplitBraces(split) {
		return append(out, first)
	}
	made := 0
	for each, err := range expand.BracesSeq(nil, split) {
		if made++; err != nil || made > maxPrograms {
			break
		}
		out = append(out, w.word(each, sc))
	}
	return out
}

// program judges one command, whoever starts it, and everything it starts.
func (w *walker) program(args []Arg, sc scope) dirsAfter {
	if len(sc.marks) > 0 {
		args = slices.Clone(args)
		args[0] = sc.filled(args[0])
	}
	filled := args[0].open == unseen && fills(sc.via)
	p := Program{Name: args[0].Text, Args: args[1:], Dirs: sc.dirs, Via: sc.via, Dynamic: sc.dynamic, piped: sc.piped, from: sc.from, pipes: sc.pipes, filled: filled, input: sc.input, settings: sc.settings || envSettings(args), homeTree: sc.tree || gitTree(sc.dirs, args, w.opt.Homes), fed: sc.piped || sc.reads || sc.input != nil, name: args[0], homes: w.opt.Homes}
	i := w.add(p)
	if i < 0 {
		return sameDirs(sc)
	}
	if sc.child && args[0].Literal && strings.ContainsAny(args[0].Text, " \t") && sc.depth < maxWrapping {
		w.maybeScript(args[0].Text, sc) // entr -s 'code', sudo -s -- 'code'
	}
	if *w.budget--; sc.depth > maxWrapping || *w.budget < 0 {
		w.tooMuch()
		return sameDirs(sc)
	}
	name := w.identify(&p, args[0], sc.child)
	f := sameDirs(sc)
	u, ok := unwrap(name, p.Args)
	if ok {
		f = w.wrapped(&p, u, name, i, sc)
		w.possibleCommands(&p, u, name, sc)
	} else {
		judge(&p, name)
		if moves(name) && p.Builtin {
			f = w.chdir(&p, name, sc)
		}
	}
	w.line.vague = w.line.vague || setsUntamed(&p, name)
	p.fetched = w.runsFetched(&p, name) || w.readsFetched(&p, name, sc)
	p.vital = p.throughVitalLink(name, w.opt)
	p.linked = p.linksTo(name, w.opt)
	w.fromNet(&p, name, ok && (len(u.inner) > 0 || u.isScript), sc)
	w.netFiles(&p, name, sc.net)
	w.noteSavedBy(&p, name)
	w.noteRuns(&p, name, sc)
	w.line.Programs[i] = p
	w.underOtherNames(&p, args, sc)
	w.noteLinks(&p, name, sc)
	for _, t := range w.vars["alias "+p.Name].texts {
		w.maybeScript(t+" "+joined(p.Args).Text, sc)
	}
	if p.Class != ReadOnly {
		w.hiddenCommands(&p, name, sc)
		by := "function " + Quote(p.Name)
		if body := w.bodies[p.Name]; body != nil && slices.Contains(w.funcs, p.Name) && !slices.Contains(sc.via, by) {
			w.setPositional(p.Args)
			g := w.possibleWalker().stmt(body, sc.started(by))
			f = dirsAfter{w.join(f.ok, g.ok), w.join(f.any, g.any)}
		}
	}
	return f
}

// identify finds out which program a name means, and writes down what speaks
// against it. The name is the key of all tables.
func (w *walker) identify(p *Program, name Arg, child bool) string {
	switch {
	case !name.Literal:
		p.Why = append(p.Why, "its name is not literal")
	case !IsPlain(name.Text):
		p.Why = append(p.Why, "its name has characters that look like others")
	case slices.Contains(w.funcs, name.Text):
		p.Why = append(p.Why, "it is a function of this line")
	case isBuiltin(name.Text) && !child:
		p.Builtin, p.trusted = true, true
	default:
		binary, err := w.opt.resolve(name.Text)
		p.Path, p.trusted = binary, err == nil
		if err != nil {
			err = w.opt.vouch(p, name.Text, err)
		}
		if err != nil {
			p.Why = append(p.Why, err.Error())
		}
	}
	return programKey(name.Text)
}

// programKey is the name that tables know a program by. The shell that reads the
// line has names of its own.
func programKey(name string) string {
	switch {
	case strings.HasSuffix(name, "/"):
		return name
	case strings.HasPrefix(name, "/proc/") && strings.HasSuffix(name, "/exe"), name == "$0", name == "$SHELL", name == "$BASH":
		return "sh"
	}
	return path.Base(name)
}

// wrapped goes on to what a wrapper starts.
func (w *walker) wrapped(p *Program, u unwrapped, name string, i int, sc scope) dirsAfter {
	p.known = true
	switch {
	case u.why != "":
		p.Class = u.class
		p.Why = append(p.Why, u.why)
	case p.trusted:
		p.Class, p.fits = ReadOnly, true
	default:
		p.Class = Runs
	}
	w.line.Programs[i] = *p
	in := sc.started(Quote(name))
	in.dynamic = in.dynamic || u.dynamic
	in.tree, in.settings = in.tree || p.homeTree, in.settings || p.settings
	in.marks = append(slices.Clip(in.marks), fillMarks(name, p.Args)...)
	if u.isScript && len(in.marks) > 0 && isShell(name) {
		u.script = in.filled(u.script)
		if u.script.open == unseen && u.script.Text != "" && sc.piped {
			w.line.floor = append(w.line.floor, Quote(name)+" is given code that is not in the line")
		}
	}
	w.setsFor(p, name)
	if to, ok := wrapperDir(name, p.Args); ok {
		in.dirs = nil
		for _, d := range sc.dirs {
			in.dirs = append(in.dirs, w.directory(d, to, false))
		}
	}
	in.child = name != "command" && name != "builtin" // those start builtins as well
	if in.depth > maxWrapping {
		w.tooMuch()
		return sameDirs(sc)
	}
	if u.isScript && isShell(name) {
		w.setShellArguments(p.Args, u.script)
	}
	if u.isScript {
		if !u.script.Literal {
			w.line.vague = true
			for _, t := range u.script.texts() {
				w.maybeScript(t, in)
			}
			return sameDirs(sc)
		}
		if nesting, splits := nestingOf(u.script.Text); nesting > maxNesting || splits > maxSplits {
			w.tooMuch()
			return sameDirs(sc)
		}
		if f := w.script(u.script.Text, in); name == "eval" {
			return f // it is read by this very shell
		}
		return sameDirs(sc)
	}
	switch name {
	case "docker", "podman", "nerdctl":
		w.inContainer(p, u, in)
	}
	f := sameDirs(sc)
	for _, inner := range u.inner {
		if len(inner) == 0 {
			continue
		}
		if got := w.program(inner, in); !in.child {
			f = got // command cd moves this shell
		}
	}
	return f
}

// setsFor notes the variables that a wrapper sets for what it starts: env A=x,
// sudo A=x, systemd-run -E A=x, docker run -eA=x.
func (w *walker) setsFor(p *Program, name string) {
	if w.vars == nil || isShell(name) || name == "find" || name == "eval" {
		return
	}
	for _, a := range p.Args {
		for _, t := range a.texts() {
			if strings.HasPrefix(t, "--") {
				_, t, _ = strings.Cut(t, "=") // --setenv=A=x
			} else if len(t) > 2 && t[0] == '-' {
				t = t[2:]
			}
			if variable, text, ok := strings.Cut(t, "="); ok && isAssignment(t) {
				w.vars[variable] = w.vars[variable].with(value{texts: []string{text}, open: a.open})
			}
		}
	}
}

// judge gives a program its class by its name and arguments.
func judge(p *Program, name string) {
	found := findForm(name, p.Args)
	switch name {
	case "cd", "set", "exit", "type", "command", ":":
		if !p.Builtin && found.why == "" {
			found.why = "only the shell itself does this"
		}
	}
	p.known = found.known
	why := found.why
	var files []Arg
	if found.known && why == "" {
		files, why = found.form.fit(found.rest)
	}
	for _, d := range p.Dirs {
		if found.dir != "" {
			p.Paths = append(p.Paths, Path{Dir: d, Text: found.dir})
			d = Path{Dir: d, Text: found.dir}.Full()
		}
		p.repoDirs = append(p.repoDirs, d)
		for _, f := range files {
			if f.computed != notComputed {
				// Where it begins is known; the sandbox bounds the rest.
				if at := strings.LastIndexByte(f.head, '/'); at >= 0 {
					p.Paths = append(p.Paths, Path{Dir: d, Text: f.head[:at+1]})
				}
				continue
			}
			if f.Text != "-" {
				p.Paths = append(p.Paths, Path{Dir: d, Text: f.Text, Glob: f.Glob})
			}
		}
	}
	p.fits = found.known && why == "" && (p.trusted || p.vouched && found.form.class != ReadOnly)
	switch {
	case p.fits && found.form.class == ReadOnly:
		p.Class = ReadOnly
		return
	case found.known && found.form.class != ReadOnly && why == "":
		p.Class = found.form.class
	default:
		p.Class = classOf(name, p.Args)
	}
	if why != "" {
		p.Why = append(p.Why, why)
	}
	for _, a := range p.Args {
		if !a.Literal && !a.Glob && !strings.Contains(why, "not literal") {
			p.Why = append(p.Why, "the argument "+clip(a.Text)+" is not literal")
			break
		}
	}
}

// isBuiltin knows the names that shells do by themselves, so that no binary of
// that name is looked for.
func isBuiltin(name string) bool {
	switch name {
	case ".", ":", "[", "alias", "bg", "break", "cd", "command", "continue", "echo", "eval", "exec", "exit", "export", "false", "fg",
		"getopts", "hash", "jobs", "kill", "local", "printf", "pwd", "read", "readonly", "return", "set", "shift", "test", "times",
		"trap", "true", "type", "ulimit", "umask", "unalias", "unset", "wait",
		// Only bash:
		"bind", "builtin", "caller", "compgen", "complete", "compopt", "declare", "dirs", "disown", "enable", "fc", "help", "history",
		"let", "logout", "mapfile", "popd", "pushd", "readarray", "shopt", "source", "suspend", "typeset":
		return true
	}
	return false
}
