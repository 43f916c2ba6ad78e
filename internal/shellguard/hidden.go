package shellguard

import (
	"path"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/pattern"
)

// hiddenCommands looks for what a program is told to run without being a wrapper: code
// on its input, commands in its options and in the code of other languages,
// arguments that come from its input.
func (w *walker) hiddenCommands(p *Program, name string, sc scope) {
	w.readInput(p, name, sc)
	in := sc.started(Quote(name))
	in.dynamic, in.input = true, nil
	if in.depth > maxWrapping {
		w.tooMuch()
		return
	}
	w.fedFiles(p, name)
	switch name {
	case "xargs", "parallel":
		w.xargsInput(p, name, sc)
	case "alias":
		for _, a := range p.Args {
			if k, v, ok := strings.Cut(a.Text, "="); ok && w.vars != nil {
				w.vars["alias "+k] = w.vars["alias "+k].with(value{texts: []string{v}})
			}
		}
		return
	case "git-push", "git-send-pack", "git-clean", "git-reflog", "git-filter-branch", "git-update-ref", "git-config", "git-grep", "git-fetch", "git-clone", "git-submodule", "git-rebase", "git-bisect":
		w.possibleWalker().program(append([]Arg{{Text: "git", Literal: true}, {Text: name[len("git-"):], Literal: true}}, p.Args...), in)
		return
	case "git":
		for _, t := range gitCommands(p.Args) {
			w.maybeScript(t, in)
		}
		return
	case "set":
		if i := slices.IndexFunc(p.Args, func(a Arg) bool { return a.Text == "--" }); i >= 0 && i+1 < len(p.Args) {
			w.possibleWalker().program(p.Args[i+1:], in) // "$@" may be what comes next
		}
		return
	}
	w.startsOthers(p, name, in)
	w.startedByRunner(p, name, in)
	w.commandsInTexts(p, name, in)
	if slices.Contains(w.funcs, p.Name) && len(p.Args) > 0 {
		w.possibleWalker().program(p.Args, in) // a function may run its arguments
	}
	if rest := runnerArgs(name, p.Args); len(rest) > 0 {
		w.possibleWalker().program(rest, in)
	}
	if name == "sed" || name == "gsed" {
		return
	}
	if !carriesCode(name) && !readsCode(name) && !runsAnything(name) && p.name.Literal {
		return
	}
	w.awkStrings(p, name, in)
	for i, a := range p.Args {
		for _, t := range a.texts() {
			if !strings.ContainsAny(t, " \t\n") {
				if strings.ContainsAny(t, "('\"`") {
					w.embedded(t, in)
				}
				continue
			}
			if _, after, ok := strings.Cut(t, "="); ok && !ownLanguage(name) {
				w.maybeScript(strings.TrimPrefix(after, "exec="), in)
			}
			if i > 0 && strings.HasPrefix(p.Args[i-1].Text, "-") && !ownLanguage(name) || !p.name.Literal || name == "tmux" || name == "screen" || strings.HasSuffix(name, "tar") {
				w.maybeScript(t, in)
			}
			w.embedded(t, in)
		}
	}
}

// awkStrings reads the code of awk with the variables that -v sets, and the one of
// pwsh, whose rm has a name of its own.
func (w *walker) awkStrings(p *Program, name string, in scope) {
	switch {
	case strings.HasSuffix(name, "awk"):
		var set strings.Builder
		for _, a := range p.Args {
			if key, value, ok := strings.Cut(strings.TrimPrefix(a.texts()[0], "-v"), "="); ok && isAssignment(key+"=") && !strings.ContainsAny(value, "\"\\\n") {
				set.WriteString(key + "=\"" + value + "\"\n")
			}
		}
		for _, a := range p.Args {
			if t := a.texts()[0]; set.Len() > 0 && codeStarts.MatchString(t) {
				w.assembledCommands(set.String()+t, in)
			}
		}
	case name == "pwsh" || name == "powershell":
		for _, a := range p.Args {
			w.maybeScript(removeItem.Regexp().ReplaceAllString(a.texts()[0], "rm "), in)
		}
	}
}

// removeItem is rm, as PowerShell calls it.
var removeItem = pattern.Of(`(?i)\b(remove-item|ri|del|erase|rd)\s`)

// startsOthers looks for programs among the words of one that may start them.
func (w *walker) startsOthers(p *Program, name string, in scope) {
	switch name {
	case "sed", "gsed":
		w.sed(p, in)
	case "make", "gmake":
		w.givenRecipes(p, in)
		w.makeTexts(p, in)
		return
	case "just", "task", "go-task", "rake":
		w.givenRecipes(p, in)
	}
	if _, wraps := unwrap(name, p.Args); w.guess || wraps || !p.startsWords(name) {
		return
	}
	for i, a := range p.Args {
		if i > maxPrograms {
			break
		}
		switch base := path.Base(a.texts()[0]); base {
		case "rm", "git", "dd", "chmod", "chown", "find", "mv", "shred", "rsync", "sudo", "env", "xargs":
			w.possibleWalker().program(p.Args[i:], in)
		default:
			if isShell(base) && i+1 < len(p.Args) && strings.HasPrefix(p.Args[i+1].Text, "-") && strings.HasSuffix(p.Args[i+1].Text, "c") {
				w.possibleWalker().program(p.Args[i:], in)
			}
		}
	}
}

// givenRecipes follows the recipes that a runner finds on its input or in <(…).
func (w *walker) givenRecipes(p *Program, in scope) {
	if p.input != nil && p.readsDescriptor() {
		for _, t := range p.input.texts() {
			w.recipes(t, in)
		}
	}
	for _, a := range p.Args {
		if a.file != nil {
			for _, t := range a.file.texts() {
				w.recipes(t, in)
			}
		}
	}
}

// makeTexts follows the recipes that make is given in the line, and the shell
// that it is told to run them with.
func (w *walker) makeTexts(p *Program, in scope) {
	shell, flags := "", ""
	for i, a := range p.Args {
		for _, t := range a.texts() {
			key, value, ok := strings.Cut(t, "=")
			switch {
			case strings.HasPrefix(key, "--ev") && ok:
				w.recipes(value, in)
			case i > 0 && (strings.HasPrefix(p.Args[i-1].Text, "--ev") && !strings.Contains(p.Args[i-1].Text, "=") || p.Args[i-1].Text == "-E"):
				w.recipes(t, in)
			case strings.HasPrefix(t, "-E") && len(t) > 2:
				w.recipes(t[2:], in)
			case ok && strings.TrimRight(key, ":+?") == "SHELL":
				shell = value
			case ok && strings.TrimRight(key, ":+?") == ".SHELLFLAGS":
				flags = value
			}
		}
	}
	if shell != "" {
		w.maybeScript(shell+" "+flags, in)
	}
}

// xargsInput adds the words that xargs finds on its input, where they stand in
// the line.
func (w *walker) xargsInput(p *Program, name string, sc scope) {
	if i := slices.IndexFunc(p.Args, func(a Arg) bool { return strings.HasPrefix(a.Text, ":::") }); i >= 0 && name == "parallel" {
		text := joined(p.Args[i+1:])
		sc.input = &text
	}
	if sc.input == nil {
		return
	}
	u := unwrapXargs(name, p.Args)
	in := sc.started(Quote(name))
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
				w.possibleWalker().program(command, in)
			}
		}
		if len(u.inner) == 0 && !u.isScript {
			continue // it only prints
		}
		if u.isScript {
			w.maybeScript(strings.ReplaceAll(u.script.Text, "{}", strings.TrimSpace(text)), in)
		}
	}
}

// gitCommands are the commands that stand in arguments of git.
func gitCommands(args []Arg) []string {
	var out []string
	sub, _ := gitSubCommand(args)
	for i, a := range args {
		t := a.texts()[0]
		next := ""
		if i+1 < len(args) {
			next = args[i+1].texts()[0]
		}
		switch {
		case t == "-c":
			if plainSetting(next) {
				continue
			}
			_, t, _ = strings.Cut(next, "=")
			out = append(out, strings.TrimPrefix(t, "!"), "git "+t)
		case strings.HasPrefix(t, "-c") && strings.Contains(t, "="):
			_, t, _ = strings.Cut(t, "=")
			out = append(out, strings.TrimPrefix(t, "!"), "git "+t)
		case sub == "config" || sub == "grep" && strings.HasPrefix(t, "-O") || strings.HasPrefix(t, "--open-files-in-pager="):
			// It is run with the settings, or for the files that are found.
			_, value, _ := strings.Cut(t, "=")
			for _, value := range []string{value, strings.TrimPrefix(t, "-O")} {
				if strings.ContainsAny(value, " \t") {
					out = append(out, strings.TrimPrefix(value, "!"), "git "+value)
				}
			}
		case t == "--upload-pack" || t == "--receive-pack" || sub == "clone" && t == "-u":
			out = append(out, next)
		case sub == "clone" && t == "--config":
			_, value, _ := strings.Cut(next, "=")
			out = append(out, strings.TrimPrefix(value, "!"), "git "+value)
		case strings.HasPrefix(t, "--config=") && sub == "clone":
			_, value, _ := strings.Cut(t[len("--config="):], "=")
			out = append(out, strings.TrimPrefix(value, "!"), "git "+value)
		case sub == "clone" && strings.HasPrefix(t, "-u"):
			out = append(out, t[2:])
		case t == "for-each-repo":
			out = append(out, "git "+joined(stepOver(args[i+1:], "")).Text)
		case strings.HasPrefix(t, "--") && gitProgram(t):
			if _, value, ok := strings.Cut(t, "="); ok {
				next = value
			}
			out = append(out, strings.TrimPrefix(next, "!"), "git "+next)
		case strings.HasPrefix(t, "-x") && len(t) > 2 && (sub == "rebase" || sub == "difftool"):
			out = append(out, t[2:])
		case t == "-x" || t == "--exec" || t == "--extcmd" || strings.HasSuffix(t, "-filter") && strings.HasPrefix(t, "--"):
			out = append(out, next)
		case strings.HasPrefix(t, "--exec=") || strings.HasPrefix(t, "--extcmd=") || strings.HasPrefix(t, "--upload-pack=") || strings.HasPrefix(t, "--receive-pack="):
			_, t, _ = strings.Cut(t, "=")
			out = append(out, t)
		case strings.HasPrefix(t, "alias."):
			out = append(out, strings.TrimPrefix(next, "!"), "git "+next)
		case t == "foreach" || t == "run" || strings.HasPrefix(t, "core.") || strings.Contains(t, ".command"):
			out = append(out, strings.TrimPrefix(joined(stepOver(args[i+1:], "")).Text, "!"))
		case strings.HasPrefix(t, "ext::"):
			out = append(out, t[5:])
		}
	}
	return out
}

// gitProgram: long options of git that name a program, or any beginning of one.
func gitProgram(t string) bool {
	return slices.ContainsFunc([]string{"--exec", "--extcmd", "--upload-pack", "--receive-pack", "--open-files-in-pager"}, func(o string) bool { return abbreviated(t, o) && len(t) > 3 })
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

// ownLanguage: the code that their options take is none for a shell.
func ownLanguage(name string) bool {
	return isOneOf(name, "awk gawk mawk nawk jq deno bun") || readsCode(name) && !isShell(name) && name != "at" && name != "batch" && name != "crontab" && name != "eval" && name != "source" && name != "." && name != "expect"
}

// carriesCode: programs whose arguments or input hold commands in a language of
// their own.
func carriesCode(name string) bool {
	return isOneOf(name, "awk gawk mawk nawk sed gsed tar gtar bsdtar rsync ssh scp sftp find vi vim nvim view ex ed emacs expect gdb lldb m4 dc bc sqlite3 psql mysql "+
		"tmux screen man less more ftp nmap make gmake nix-shell systemd-run at batch osascript pwsh go cargo zip socat nc ncat docker podman kubectl jq export declare typeset readonly local")
}
