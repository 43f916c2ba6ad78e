package shellguard

import (
	"slices"
	"strings"
)

// program judges one command with the words it is given, and everything that it
// starts. It says what the lines may be that it prints.
func (r *plainReader) program(args []Arg, st *plainState) (out possible, ok []string) {
	if r.budget--; r.budget < 0 {
		r.refuse("it does too much")
	}
	if r.why != "" || !args[0].Literal || args[0].sample {
		r.refuse("the name of a program is not known")
		return unknownText(), st.dirs
	}
	p := Program{Name: args[0].Text, Args: args[1:], Dirs: st.dirs, name: args[0], homes: r.opt.Homes, fed: st.fed, piped: st.fed}
	p.computed = slices.ContainsFunc(p.Args, func(a Arg) bool { return a.computed != notComputed || a.one })
	name := (&walker{opt: r.opt, line: r.line}).identify(&p, args[0], st.child)
	p.vouched = false // what a program of the project holds was looked at before the line ran: only the other reading knows what comes first
	if p.Builtin {
		switch name {
		case "cd":
			return nil, r.chdir(&p, st)
		case "read":
			r.read(&p, st)
			return nil, st.dirs
		case "break", "continue":
			if len(p.Args) > 0 || len(r.left) == 0 {
				r.refuse("it leaves several loops, or none")
				return nil, st.dirs
			}
			if left := &r.left[len(r.left)-1]; *left == nil {
				*left = st.fork()
			} else {
				(*left).meet(st, r)
			}
			return nil, st.dirs
		case ":", "true", "false", "echo", "printf", "test", "[", "pwd", "type", "exit", "set", "ulimit", "umask", "command":
		default:
			r.refuse("the shell itself does " + Quote(name))
			return unknownText(), st.dirs
		}
	}
	switch {
	case name == "xargs":
		return r.xargs(&p, st), st.dirs
	case name == "find" && slices.ContainsFunc(p.Args, func(a Arg) bool { return isExec(a.Text) }):
		r.find(&p, st)
		return unknownText(), st.dirs
	case name == "env":
		p.Args = withoutUnset(p.Args)
	case name == "git" && movesBySample(p.Args):
		r.refuse("nobody knows where it goes")
	}
	if u, wraps := unwrap(name, p.Args); wraps {
		return r.wrapped(&p, u, name, st), st.dirs
	}
	judge(&p, name)
	r.add(p)
	if p.Class == ReadOnly {
		return prints(&p, name, st, r.opt), st.dirs
	}
	return unknownText(), st.dirs
}

// movesBySample: git is told to work in a directory with digits in its name that
// stand for any others.
func movesBySample(args []Arg) bool {
	for i, a := range args {
		if a.sample && (isOneOf(wordBefore(args, i), "-C --git-dir --work-tree") || strings.HasPrefix(a.Text, "--git-dir") || strings.HasPrefix(a.Text, "--work-tree")) {
			return true
		}
	}
	return false
}

// add keeps a program, once.
func (r *plainReader) add(p Program) {
	same := func(q Program) bool {
		return q.Name == p.Name && q.Class == p.Class && q.trusted == p.trusted && q.fed == p.fed && slices.Equal(q.Dirs, p.Dirs) && slices.EqualFunc(q.Args, p.Args, func(a, b Arg) bool {
			return a.Text == b.Text && a.Literal == b.Literal && a.Glob == b.Glob && a.computed == b.computed && a.head == b.head && a.many == b.many && a.one == b.one && a.sample == b.sample && a.sure == b.sure
		})
	}
	if slices.ContainsFunc(r.line.Programs, same) {
		return
	}
	if len(r.line.Programs) >= maxPrograms {
		r.refuse("it starts too many programs")
		return
	}
	r.line.Programs = append(r.line.Programs, p)
}

// wrapped goes on to what a wrapper starts.
func (r *plainReader) wrapped(p *Program, u unwrapped, name string, st *plainState) possible {
	in := st.fork()
	in.child = name != "command"
	switch {
	case isShell(name):
		r.shell(p, name, st)
	case u.why != "" || u.isScript || u.dynamic || len(u.inner) != 1 || len(u.inner[0]) == 0:
		r.refuse("it starts a program in a way that is not followed")
	case moves(u.inner[0][0].Text) || u.inner[0][0].Text == "read":
		r.refuse("it starts a program in a way that is not followed")
	default:
		r.transparent(*p)
		out, _ := r.program(u.inner[0], in)
		return out
	}
	return unknownText()
}

// transparent keeps a wrapper that adds nothing to what it starts.
func (r *plainReader) transparent(p Program) {
	if p.Class, p.known, p.fits = ReadOnly, true, p.trusted; !p.trusted {
		p.Class = Unknown
	}
	p.computed = false
	r.add(p)
}

// shell reads sh -c 'code' name x y, where x is $1 and so on.
func (r *plainReader) shell(p *Program, name string, st *plainState) {
	if !isOneOf(name, "sh bash dash") || len(p.Args) < 2 || p.Args[0].Text != "-c" || !p.Args[0].Literal || !p.Args[1].Literal || p.Args[1].sample || strings.HasPrefix(p.Args[1].Text, "-") {
		r.refuse("its code is not literal")
		return
	}
	r.transparent(Program{Name: p.Name, Path: p.Path, Dirs: p.Dirs, name: p.name, homes: p.homes, trusted: p.trusted})
	in := &plainState{vars: map[string]possible{}, dirs: st.dirs, stdin: st.stdin, fed: st.fed, shell: true}
	loops := r.left
	r.left = nil // another shell does not leave the loops of this one
	defer func() { r.left = loops }()
	for _, a := range p.Args[2:] {
		if a.computed == computedWords || a.Glob && !a.one {
			in.args = slices.Repeat([]possible{unknownText()}, 10)
			break
		}
		in.args = append(in.args, a.possible())
	}
	if len(in.args) > 0 {
		in.args = in.args[1:] // $0
	}
	r.script(p.Args[1].Text, in)
}

// withoutUnset takes off the -u NAME of env, for variables that only change how
// things look.
func withoutUnset(args []Arg) []Arg {
	for len(args) > 2 && args[0].Text == "-u" && args[0].Literal && args[1].Literal && isOneOf(args[1].Text, "LANG LC_ALL NO_COLOR FORCE_COLOR TERM TZ CI") {
		args = args[2:]
	}
	return args
}

// chdir follows cd to where its one operand leads.
func (r *plainReader) chdir(p *Program, st *plainState) (ok []string) {
	to, physical, fine := cdTarget(p.Args)
	if !fine || !to.Literal || to.sample || strings.HasPrefix(to.Text, homeDir) {
		r.refuse("nobody knows where it goes")
		return st.dirs
	}
	if to.Text == "" { // it stays where it is
		return st.dirs
	}
	judge(p, "cd")
	r.add(*p)
	w := &walker{opt: r.opt, line: r.line}
	for _, d := range st.dirs {
		at := w.leadsTo(d, to.Text, physical)
		for _, at := range append([]string{at}, w.byUser(d, to.Text, at)...) {
			if at == unknownDir || strings.HasPrefix(at, homeDir) {
				r.refuse("nobody knows where it goes")
			}
			ok = r.joinDirs(ok, []string{at})
		}
	}
	st.dirs = r.joinDirs(st.dirs, ok)
	return ok
}

// read sets variables to what stands in a line of standard input.
func (r *plainReader) read(p *Program, st *plainState) {
	var names []string
	zero, apart := false, false
	for i := 0; i < len(p.Args); i++ {
		a := p.Args[i]
		switch {
		case !a.Literal:
			r.refuse("nobody knows what it reads into")
			return
		case a.Text == "-r" || a.Text == "-rs" || a.Text == "-s":
		case (a.Text == "-d" || a.Text == "-rd" || a.Text == "-n" || a.Text == "-t" || a.Text == "-p") && i+1 < len(p.Args) && p.Args[i+1].Literal:
			i++
			zero = zero || isOneOf(a.Text, "-d -rd") && p.Args[i].Text == ""
			apart = apart || a.Text != "-p" && (!isOneOf(a.Text, "-d -rd") || p.Args[i].Text != "")
		case ownVariable(a.Text):
			names = append(names, a.Text)
		default:
			r.refuse("it reads into " + Quote(a.Text))
			return
		}
	}
	if len(names) == 0 {
		r.refuse("it reads into no variable")
	}
	for _, name := range names {
		st.vars[name] = unknownText()
	}
	if len(names) != 1 {
		return
	}
	from := st.stdin.single()
	if zero && !apart {
		from = st.stdin.record()
	}
	var is possible
	for _, a := range from {
		// It takes blanks and backslashes away.
		if a.kind != headed && a.kind != hashes && a.kind != number && a.kind != foreign || a.kind == headed && strings.Contains(" \t\n\\", a.text[:1]) {
			a = atom{kind: any_}
		}
		is = is.or(possible{a})
	}
	st.vars[names[0]] = is.or(exactly(""))
}
