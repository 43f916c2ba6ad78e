package shellguard

import (
	"path"
	"slices"
	"strings"
)

// floorOpen: a program that can do what the floor is about is given something
// to do it to that is decided while the line runs. A variable that nothing in
// the line sets does not count, nor what tame programs print (find, mktemp,
// git): those are part of everyday work.
func (l *Line) floorOpen(p *Program, name string, tame bool) string {
	open := func(args []Arg) bool {
		return slices.ContainsFunc(args, func(a Arg) bool {
			return a.open == unseen && (a.split || !startsPlain(a.Text)) || a.open == computed && !tame && !startsPlain(a.Text)
		})
	}
	if p.name.open == unseen || p.name.open == computed && !tame {
		return "which program runs is decided by what the line computes"
	}
	tame = tame && !l.readsNames()
	const why = " is given something that only shows while it runs"
	switch name {
	case "rm", "chmod", "chown", "chgrp", "setfacl":
		fed := slices.ContainsFunc(p.Via, func(v string) bool { return v == "xargs" || v == "parallel" })
		fed = fed && (!tame || slices.ContainsFunc(l.Redirects, func(r Redirect) bool { return r.Op == "<" }))
		if p.flag("rR", "recursive") && (open(p.Args) || fed) {
			return Quote(name) + why
		}
	case "shred", "dd", "mkswap", "wipefs", "blkdiscard":
		if open(p.Args) {
			return Quote(name) + why
		}
	case "find":
		if (p.flag("", "delete") || p.runsRemover()) && open(p.Args) {
			return Quote(name) + why
		}
	case "git":
		if sub, rest := gitSubCommand(p.Args); (sub == "push" || strings.HasPrefix(sub, "$")) && open(append(slices.Clone(rest), p.Args[0])) {
			return "git push" + why
		}
	}
	return ""
}

// readsNames: variables are read from a file, so that what is in them is not what
// tame programs print.
func (l *Line) readsNames() bool {
	return slices.ContainsFunc(l.Redirects, func(r Redirect) bool { return r.Op == "<" }) &&
		slices.ContainsFunc(l.Programs, func(p Program) bool { return p.Name == "read" || p.Name == "mapfile" || p.Name == "readarray" })
}

// startsPlain: a word that begins with the name of something here stays here,
// and is no option.
func startsPlain(text string) bool {
	return text != "" && isWord(text[:1])
}

// floorName: a program whose name is not literal may be any that the floor is
// about.
func (p *Program) floorName() string {
	if p.name.Literal || len(p.Args) == 0 {
		return ""
	}
	for _, name := range []string{"rm", "git", "dd", "chmod", "find", "mv"} {
		if why := p.floor(name); why != "" {
			return why + ", if " + clip(p.Name) + " is " + name
		}
	}
	return ""
}

// tame tells, for each program, whether everything else in the line prints names
// of files that are there, or nothing. Each program is looked at once: a line of
// wrappers in each other has many, with long lists of words.
func (l *Line) tame() func(except int) bool {
	wild := make([]bool, len(l.Programs))
	count := 0
	for i := range l.Programs {
		if wild[i] = !l.Programs[i].tame(); wild[i] {
			count++
		}
	}
	return func(except int) bool { return count == 0 || count == 1 && except >= 0 && wild[except] }
}

func (p *Program) tame() bool {
	switch name := path.Base(p.Name); name {
	case "find", "fd", "fdfind", "ls", "git", "rg", "grep", "sort", "uniq", "head", "tail", "wc", "du", "mktemp", "basename", "realpath", "readlink", "pwd", "which", "command", "type", "go", "npm", "yarn", "pnpm", "brew", "uname", "date", "id", "whoami", "nproc", "hostname",
		"cd", "test", "[", "true", "false", ":", "read", "xargs", "mkdir", "touch", "rm", "cp", "mv", "make", "set", "trap", "exit", "sleep", "export", "local", "time", "timeout", "sudo", "env", "nice", "chmod", "chown":
	case "dirname":
		return !slices.ContainsFunc(p.Args, func(a Arg) bool {
			return strings.HasPrefix(a.Text, "/") || strings.HasPrefix(a.Text, "~") || strings.HasPrefix(a.Text, "$HOME")
		})
	case "echo", "printf":
		if slices.ContainsFunc(p.Args, func(a Arg) bool { return strings.Contains(a.Text, `\`) && a.Text != `%s\n` }) {
			return false
		}
	default:
		if !slices.Contains(p.Via, "function "+Quote(name)) && p.Class != Unknown || makesCode(name) {
			return false
		}
	}
	return !p.vitalArg()
}

// isShell: programs that read shell code.
func isShell(name string) bool {
	switch name {
	case "sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish", "csh", "tcsh", "rbash", "pdksh", "yash", "elvish", "nu", "xonsh",
		"rksh", "sash", "osh", "ysh", "rc", "es", "posh", "hush", "mrsh", "oksh", "loksh", "bash-static":
		return true
	}
	if short, version, ok := strings.Cut(name, "-"); ok && version != "" && version[0] >= '0' && version[0] <= '9' {
		return isShell(short) // zsh-5.9
	}
	return false
}

// takesCode: its -c has no code yet, or nothing but what is put in.
func (p *Program) takesCode() bool {
	n := len(p.Args)
	return n > 0 && (p.Args[n-1].Text == "-c" || n > 1 && p.Args[n-2].Text == "-c" && (p.Args[n-1].Text == "{}" || p.Args[n-1].Text == "%" || p.Args[n-1].Text == "$0" || p.Args[n-1].Text == "$@"))
}

// readsDescriptor: its operand is a descriptor, not a file.
func (p *Program) readsDescriptor() bool {
	return slices.ContainsFunc(p.Args, func(a Arg) bool {
		return isInput(a.Text, p.Dirs)
	})
}

// fetchedFiles are the files that a program puts what it gets from elsewhere
// into.
func (p *Program) fetchedFiles(name string) []string {
	if name == "scp" || name == "rsync" || name == "sftp" {
		return append(p.copiedFiles(), p.askedFiles()...)
	}
	if isStore(name) {
		return p.downloadedFiles()
	}
	if !makesCode(name) {
		return p.askedFiles()
	}
	var out []string
	for i, a := range p.Args {
		t := a.Text
		switch {
		case i > 0 && (p.Args[i-1].Text == "--output" || p.Args[i-1].Text == "--output-document" || p.Args[i-1].Text == "--out" || isOutputFlag(name, p.Args[i-1].Text)):
			out = append(out, t)
		case strings.HasPrefix(t, "--output=") || strings.HasPrefix(t, "--output-document=") || strings.HasPrefix(t, "--out="):
			_, t, _ = strings.Cut(t, "=")
			out = append(out, t)
		case (name == "curl" || name == "wget" || name == "fetch") && len(t) > 2 && t[0] == '-' && t[1] != '-' && strings.ContainsAny(t, "oO"):
			out = append(out, t[strings.IndexAny(t, "oO")+1:]) // -sof
		case !strings.HasPrefix(t, "-") && strings.Contains(t, "/"):
			// The last element of the address is what wget and curl -O call it.
			out = append(out, t)
			t, _, _ = strings.Cut(t, "?")
			out = append(out, t, "index.html")
		}
	}
	return append(out, p.askedFiles()...)
}

// copiedFiles are the files that scp and its like get from another machine.
func (p *Program) copiedFiles() []string {
	var out []string
	for _, a := range p.Args {
		if host, file, ok := strings.Cut(a.Text, ":"); ok && !strings.Contains(host, "/") && file != "" {
			out = append(out, file)
		}
	}
	if n := len(p.Args); len(out) > 0 && !strings.Contains(p.Args[n-1].Text, ":") {
		out = append(out, p.Args[n-1].Text)
	}
	return out
}

func isOutputFlag(name, flag string) bool {
	if len(flag) < 2 || flag[0] != '-' || flag[1] == '-' {
		return false
	}
	switch last := flag[len(flag)-1]; name {
	case "curl", "aria2c", "openssl", "gpg", "fetch", "http", "https", "ftp":
		return last == 'o' || strings.HasSuffix(flag, "out")
	case "wget":
		return last == 'O'
	}
	return false
}

// runsFile is the file that a program runs: a script, or itself.
func (p *Program) runsFile(name string) string {
	if strings.Contains(p.Name, "/") {
		if !strings.HasPrefix(p.Name, "/usr/") && !strings.HasPrefix(p.Name, "/bin/") {
			return p.Name
		}
	}
	switch {
	case name == "." || name == "source":
		if len(p.Args) > 0 {
			return p.Args[0].texts()[0]
		}
	case name == "npm" || name == "yarn" || name == "pnpm":
		return "package.json"
	case name == "make" || name == "gmake" || name == "awk" || name == "gawk" || name == "expect" || name == "sed" || name == "psql" || name == "ansible-playbook":
		for i, a := range p.Args {
			if i > 0 && p.Args[i-1].Text == "-f" || name == "ansible-playbook" && !strings.HasPrefix(a.Text, "-") {
				return a.texts()[0]
			}
		}
		if name == "make" || name == "gmake" {
			return "Makefile"
		}
	case isShell(name) || readsCode(name) || runsAnything(name) && !strings.HasPrefix(name, "git"):
		for i, a := range p.Args {
			t := a.texts()[0]
			switch {
			case t == "-c" || t == "-e" || t == "-m" || t == "-r" && name == "php" || t == "--eval" || t == "-E" && name == "perl":
				return ""
			case strings.HasPrefix(t, "-") || i > 0 && takesValue(p.Args[i-1].Text):
			default:
				return t
			}
		}
	}
	return ""
}

// takesValue: options of shells and interpreters before the script.
func takesValue(flag string) bool {
	return isOneOf(flag, "-o -O +o +O -W -X --rcfile --init-file -r --require -I")
}
