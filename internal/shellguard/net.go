package shellguard

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/toolcrib/toolcrib/internal/pattern"
)

// What the line gets from elsewhere must not be run unasked. Which programs take
// their input for code nobody can list, so that the list is of those that take it
// for data: behind a program that fetches, every other one is asked about.

// fetchesNet: something in a statement gets text from another machine.
func (w *walker) fetchesNet(s *syntax.Stmt, sc scope) bool {
	found := false
	syntax.Walk(s, func(n syntax.Node) bool {
		if call, ok := n.(*syntax.CallExpr); ok && !found {
			if args := w.started(call, sc); len(args) > 0 {
				found = isFetcher(path.Base(args[0].Text))
			}
		}
		return !found && w.work.spend(1)
	})
	return found
}

func isFetcher(name string) bool {
	switch name {
	case "curl", "wget", "nc", "ncat", "netcat", "fetch", "http", "https", "xh", "aria2c", "lynx", "socat", "ftp", "tftp", "axel":
		return true
	}
	return false
}

// codeObeys: code that runs what it reads.
var codeObeys = pattern.Of("(?i)(?:^|[^.\\w])exec\\b|\\beval\\b|system|popen|spawn|subprocess|child_process|getline|\\|\\s*[\"']|`|\\bqx|runinthiscontext|new function|\\bcompile\\(|pickle|marshal|importlib")

// takesData: the program is known not to run what it reads.
func (p *Program) takesData(name string) bool {
	switch name {
	case "at", "batch", "crontab", "ed", "ex", "vi", "vim", "nvim", "nano", "emacs", "sqlite3", "uv", "uvx", "pipx", "npx", "bunx", "su", "sudo", "doas", "run0", "expect", "gdb", "lldb", "m4", "dc":
		return false
	case "sed", "gsed":
		_, input := sedRuns(sedScripts(p.Args))
		return !input
	case "docker", "podman", "nerdctl":
		return !p.word("run", "exec")
	case "gcc", "cc", "g++", "clang", "tcc", "make", "gmake", "go", "cargo":
		return !p.readsDescriptor()
	case "jq", "yq", "xq", "gron", "fx", "tar", "bsdtar", "gtar", "cat", "tee", "head", "tail", "grep", "sort", "less", "more", "bat", "kubectl", "xmllint", "xmlstarlet", "xsltproc", "pandoc", "html2text", "pup", "htmlq", "pv", "sponge", "column", "zcat", "zstdcat", "bzcat", "xzcat", "lz4", "brotli", "cpio", "gpg", "gpg2", "apt-key", "sha256sum", "shasum",
		"pbcopy", "xclip", "xsel", "wl-copy", "ts", "npm", "yarn", "pnpm", "read", "mapfile", "readarray", "exec", "dos2unix", "recode", "magick", "identify", "ffprobe", "sleep", "mongoimport", "csvlook", "csvcut", "mlr", "xsv":
		return true
	}
	switch {
	case p.Class == ReadOnly, p.Builtin && name != "eval" && name != "." && name != "source":
		return true
	case strings.HasSuffix(name, "awk") || readsCode(name) && !isShell(name) && name != "eval" && name != "." && name != "source":
		return p.readsAsData(name)
	case p.Class == Runs || p.Class == Unknown:
		return false
	}
	return p.name.Literal
}

// readsAsData: the interpreter has code or a script, and that does not run what
// it reads.
func (p *Program) readsAsData(name string) bool {
	if !strings.HasSuffix(name, "awk") && (!p.hasScript() || !p.isTold(name)) {
		return false
	}
	for i, a := range p.Args {
		t := a.texts()[0]
		if t == "-m" && strings.HasPrefix(name, "py") {
			return i+1 < len(p.Args) && p.Args[i+1].Text == "json.tool"
		}
		if !a.Literal && strings.HasPrefix(a.Text, "$") || codeObeys.MatchString(t) {
			return false
		}
	}
	return true
}

// isTold: its words have a script, or code behind an option for that.
func (p *Program) isTold(name string) bool {
	for i, a := range p.Args {
		before := wordBefore(p.Args, i)
		if !strings.HasPrefix(a.Text, "-") && !(name == "php" && before == "-d") && !(takesValue(before) && before != "-r") || strings.HasPrefix(a.Text, "--eval=") {
			return true
		}
	}
	return false
}

// fromNet asks about a program that is given what the line gets from elsewhere.
func (w *walker) fromNet(p *Program, name string, wraps bool, sc scope) {
	if !sc.net || w.guess || w.quiet || wraps || slices.Contains(w.funcs, p.Name) || p.takesData(name) {
		return
	}
	w.line.floor = append(w.line.floor, clip(Quote(p.Name))+" is given what the line gets from elsewhere, and may run it")
}

// netFiles notes the files that a program makes of what it reads from elsewhere.
func (w *walker) netFiles(p *Program, name string, net bool) {
	if isFetcher(name) && p.namesByItself(name) {
		w.fetched[anyUnpacked] = true
	}
	if !net {
		return
	}
	switch name {
	case "split", "csplit":
		w.fetched[anyUnpacked] = true
	case "cp", "install", "tee", "dd", "sponge", "mv", "ln", "base64", "xxd", "openssl", "gpg", "gunzip", "zstd", "xz", "sed", "awk":
		for _, a := range p.Args {
			w.fetched[fileKey(strings.TrimPrefix(a.Text, "of="))] = true
		}
	}
}

// fedFiles notes the files that a program makes of text which stands in the line.
func (w *walker) fedFiles(p *Program, name string) {
	if p.input == nil || w.written == nil {
		return
	}
	switch name {
	case "cp", "install", "dd", "sponge":
		for _, a := range p.Args {
			if t := strings.TrimPrefix(a.Text, "of="); !isInput(t, p.Dirs) && !strings.HasPrefix(t, "-") {
				w.noteText(t, *p.input)
			}
		}
	case "split", "csplit":
		w.fetched[anyUnpacked] = true
	}
}

// namesByItself: what it gets is called as the other side, or a file, says.
func (p *Program) namesByItself(name string) bool {
	if p.flag("", "remote-header-name", "content-disposition", "input-file", "recursive", "mirror", "config", "page-requisites") {
		return true
	}
	letters := map[string]string{"curl": "JK", "wget": "irmp"}[name]
	return letters != "" && slices.ContainsFunc(p.Args, func(a Arg) bool {
		return len(a.Text) > 1 && a.Text[0] == '-' && a.Text[1] != '-' && strings.ContainsAny(a.Text[1:], letters) && isWord(a.Text[1:])
	})
}

// floorNet is about lines that give code from elsewhere to what runs code in
// another way than by its input, and about shells that another machine talks to.
func (l *Line) floorNet(p *Program, name string, fetched bool) string {
	whole := slices.ContainsFunc(p.Args, func(a Arg) bool { return !a.Literal && !a.Glob && strings.HasPrefix(a.Text, "$") })
	some := slices.ContainsFunc(p.Args, func(a Arg) bool { return !a.Literal && !a.Glob })
	switch name {
	case "nc", "ncat", "netcat":
		if p.flag("e", "exec", "sh-exec", "lua-exec") || p.flag("c") && !p.flag("z") {
			return "it gives another machine a shell"
		}
		if slices.ContainsFunc(l.Programs, func(q Program) bool { return isShell(path.Base(q.Name)) && !q.hasScript() }) {
			return "it gives another machine a shell"
		}
	case "socat":
		if slices.ContainsFunc(p.Args, func(a Arg) bool {
			low := strings.ToLower(a.Text)
			return strings.HasPrefix(low, "exec:") || strings.HasPrefix(low, "system:") || strings.HasPrefix(low, "shell:")
		}) {
			return "it gives another machine a shell"
		}
	case "trap", "make", "gmake", "ssh":
		if fetched && some {
			return Quote(name) + " is given code that is not in the line"
		}
	case "git":
		if fetched && slices.ContainsFunc(p.Args, func(a Arg) bool { return !a.Literal && strings.Contains(a.Text, "alias.") }) {
			return "git is given code that is not in the line"
		}
	case "awk", "gawk", "mawk", "nawk", "sed", "gsed", "perl", "ruby":
		if fetched && whole {
			return Quote(name) + " is given code that is not in the line"
		}
	case "sqlite3", "psql", "mysql", "mariadb": // their commands start programs, too
		if fetched && slices.ContainsFunc(p.Args, func(a Arg) bool {
			return slices.ContainsFunc(a.texts(), func(t string) bool { return strings.HasPrefix(t, unread) })
		}) {
			return Quote(name) + " is given commands that are not in the line"
		}
	}
	return ""
}
