package guard

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// hidden looks for what a program is told to run without being a wrapper: code
// on its input, commands in its options and in the code of other languages,
// arguments that come from its input.
func (w *walker) hidden(p *Program, name string, sc scope) {
	w.feed(p, name, sc)
	in := sc.started(show(name))
	in.dynamic, in.input = true, nil
	if in.depth > maxWrapping {
		return
	}
	switch name {
	case "xargs", "parallel":
		w.xargsInput(p, name, sc)
	case "git":
		for _, t := range gitCommands(p.Args) {
			w.perhaps(t, in)
		}
		return
	case "set":
		if i := slices.IndexFunc(p.Args, func(a Arg) bool { return a.Text == "--" }); i >= 0 && i+1 < len(p.Args) {
			w.shadow().program(p.Args[i+1:], in) // "$@" may be what comes next
		}
		return
	}
	if slices.Contains(w.funcs, p.Name) && len(p.Args) > 0 {
		w.shadow().program(p.Args, in) // a function may run its arguments
	}
	if rest := runnerArgs(name, p.Args); len(rest) > 0 {
		w.shadow().program(rest, in)
	}
	if !carriesCode(name) && !readsCode(name) && !runsAnything(name) && p.name.Literal {
		return
	}
	for i, a := range p.Args {
		for _, t := range a.texts() {
			if !strings.ContainsAny(t, " \t\n") {
				continue
			}
			if _, after, ok := strings.Cut(t, "="); ok {
				w.perhaps(strings.TrimPrefix(after, "exec="), in)
			}
			if i > 0 && strings.HasPrefix(p.Args[i-1].Text, "-") || !p.name.Literal || name == "tmux" || name == "screen" {
				w.perhaps(t, in)
			}
			w.embedded(t, in)
		}
	}
}

// xargsInput adds the words that xargs finds on its input, where they stand in
// the line.
func (w *walker) xargsInput(p *Program, name string, sc scope) {
	if sc.input == nil {
		return
	}
	u := unwrapXargs(name, p.Args)
	in := sc.started(show(name))
	in.dynamic, in.input, in.child = true, nil, true
	mark := ""
	for i, a := range p.Args {
		switch t := a.Text; {
		case t == "-I" && i+1 < len(p.Args):
			mark = p.Args[i+1].Text
		case strings.HasPrefix(t, "-I") && len(t) > 2:
			mark = t[2:]
		case t == "-i" || name == "parallel":
			mark = "{}"
		}
	}
	for _, text := range sc.input.texts() {
		words := strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == '\n' || r == '\t' || r == 0 || r == ',' || r == ':' })
		for _, command := range u.inner {
			command = slices.Clone(command)
			replaced := false
			for i, a := range command {
				if mark != "" && strings.Contains(a.Text, mark) {
					command[i] = Arg{Text: strings.ReplaceAll(a.Text, mark, strings.TrimSpace(text)), Literal: true}
					replaced = true
				}
			}
			if !replaced {
				for _, t := range words {
					command = append(command, Arg{Text: strings.Trim(t, `"'`), Literal: true})
				}
			}
			if len(command) <= maxPrograms {
				w.shadow().program(command, in)
			}
		}
		if len(u.inner) == 0 && !u.isScript {
			continue // it only prints
		}
		if u.isScript {
			w.perhaps(strings.ReplaceAll(u.script.Text, "{}", strings.TrimSpace(text)), in)
		}
	}
}

// gitCommands are the commands that stand in arguments of git.
func gitCommands(args []Arg) []string {
	var out []string
	for i, a := range args {
		t := a.texts()[0]
		next := ""
		if i+1 < len(args) {
			next = args[i+1].texts()[0]
		}
		switch {
		case t == "-c":
			_, t, _ = strings.Cut(next, "=")
			out = append(out, strings.TrimPrefix(t, "!"), "git "+t)
		case strings.HasPrefix(t, "-c") && strings.Contains(t, "="):
			_, t, _ = strings.Cut(t, "=")
			out = append(out, strings.TrimPrefix(t, "!"), "git "+t)
		case t == "-x" || t == "--exec" || t == "--extcmd" || strings.HasSuffix(t, "-filter") && strings.HasPrefix(t, "--"):
			out = append(out, next)
		case strings.HasPrefix(t, "--exec=") || strings.HasPrefix(t, "--extcmd=") || strings.HasPrefix(t, "--upload-pack=") || strings.HasPrefix(t, "--receive-pack="):
			_, t, _ = strings.Cut(t, "=")
			out = append(out, t)
		case t == "foreach" || t == "run" || strings.HasPrefix(t, "alias.") || strings.HasPrefix(t, "core.") || strings.Contains(t, ".command"):
			out = append(out, strings.TrimPrefix(joined(stepOver(args[i+1:], "")).Text, "!"))
		case strings.HasPrefix(t, "ext::"):
			out = append(out, t[5:])
		}
	}
	return out
}

// runnerArgs is the command that tools of languages start in their environment.
func runnerArgs(name string, args []Arg) []Arg {
	rest := stepOver(args, "pcnC")
	if len(rest) == 0 {
		return nil
	}
	switch name {
	case "npx", "pnpx", "bunx", "uvx":
		return rest
	case "npm", "pnpm", "yarn", "bun", "poetry", "uv", "pipx", "bundle", "conda", "mamba", "pipenv", "rye", "hatch", "pdm", "nix", "mise", "asdf", "volta", "vagrant", "rbenv", "pyenv":
		switch rest[0].Text {
		case "exec", "x", "run", "dlx", "shell", "ssh":
			return stepOver(rest[1:], "pcnC")
		}
	}
	return nil
}

// carriesCode: programs whose arguments or input hold commands in a language of
// their own.
func carriesCode(name string) bool {
	switch name {
	case "awk", "gawk", "mawk", "nawk", "sed", "gsed", "tar", "gtar", "bsdtar", "rsync", "ssh", "scp", "sftp", "find", "vi", "vim", "nvim", "view", "ex", "ed", "emacs", "expect", "gdb", "lldb", "m4", "dc", "bc", "sqlite3", "psql", "mysql",
		"tmux", "screen", "man", "less", "more", "ftp", "nmap", "make", "gmake", "nix-shell", "systemd-run", "at", "batch", "osascript", "pwsh", "go", "cargo", "zip", "socat", "nc", "ncat", "docker", "podman", "kubectl", "jq", "export", "declare", "typeset", "readonly", "local":
		return true
	}
	return false
}

// noteWritten remembers what the line puts into files, so that it is known when
// one of them is run afterwards.
func (w *walker) noteWritten(s *syntax.Stmt, sc scope) {
	if w.written == nil || s.Cmd == nil {
		return
	}
	for _, r := range s.Redirs {
		if r.Op != syntax.RdrOut && r.Op != syntax.AppOut && r.Op != syntax.RdrClob && r.Op != syntax.RdrAll {
			continue
		}
		for _, target := range w.word(r.Word, sc).texts() {
			if text, ok := w.outputText(s, sc); ok {
				w.note(target, text)
			} else if w.fetches(s.Cmd) {
				w.fetched[fileKey(target)] = true
			}
		}
	}
	switch c := s.Cmd.(type) {
	case *syntax.BinaryCmd:
		call, ok := c.Y.Cmd.(*syntax.CallExpr)
		if c.Op != syntax.Pipe || !ok || len(call.Args) < 2 || call.Args[0].Lit() != "tee" && call.Args[0].Lit() != "sponge" && call.Args[0].Lit() != "dd" {
			return
		}
		for _, word := range call.Args[1:] {
			for _, target := range w.word(word, sc).texts() {
				target = strings.TrimPrefix(target, "of=")
				if text, ok := w.outputText(c.X, sc); ok {
					w.note(target, text)
				} else if w.fetches(c.X.Cmd) {
					w.fetched[fileKey(target)] = true
				}
			}
		}
	case *syntax.CallExpr:
		if len(c.Args) > 0 && (c.Args[0].Lit() == "tee" || c.Args[0].Lit() == "dd") {
			if text, ok := w.inputText(s.Redirs, sc); ok {
				for _, word := range c.Args[1:] {
					w.note(strings.TrimPrefix(w.word(word, sc).Text, "of="), text)
				}
			}
		}
	}
}

func (w *walker) note(file string, text Arg) {
	key := fileKey(file)
	if before := w.written[key]; before.Text != "" {
		text.values = append(append(slices.Clone(before.texts()), text.texts()...), before.Text+text.Text)
		text.Literal = false
	}
	if len(w.written) < maxPrograms {
		w.written[key] = text
	}
}

// fetches reports whether something in a command gets text from elsewhere or
// decodes it.
func (w *walker) fetches(c syntax.Command) bool {
	found := false
	syntax.Walk(c, func(n syntax.Node) bool {
		if call, ok := n.(*syntax.CallExpr); ok {
			for _, word := range call.Args {
				found = found || makesCode(path.Base(word.Lit()))
			}
		}
		return !found
	})
	return found
}

// runsFetched notes the files that a program gets from the network, and says
// whether it runs one of them.
func (w *walker) runsFetched(p *Program, name string) bool {
	if w.fetched == nil {
		return false
	}
	for _, f := range p.fetchedFiles(name) {
		w.fetched[fileKey(f)] = true
	}
	run := p.runsFile(name)
	if name == "mv" || name == "cp" || name == "ln" || name == "install" || name == "tee" {
		for _, a := range p.Args {
			if last := p.Args[len(p.Args)-1].Text; w.fetched[fileKey(a.Text)] {
				w.fetched[fileKey(last)] = true
			} else if text, ok := w.written[fileKey(a.Text)]; ok {
				w.note(last, text)
			}
		}
	}
	if run == "" {
		return false
	}
	if text, ok := w.written[fileKey(run)]; ok && text.Text != "" {
		in := scope{dirs: p.Dirs, via: append(slices.Clip(p.Via), show(p.Name)), dynamic: true, depth: len(p.Via) + 1}
		if isShell(name) || name == "." || name == "source" || strings.Contains(p.Name, "/") {
			for _, t := range text.texts() {
				w.perhaps(t, in)
			}
		}
		for _, t := range text.texts() {
			w.embedded(t, in)
		}
	}
	return w.fetched[fileKey(run)]
}
