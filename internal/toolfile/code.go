package toolfile

import (
	"path"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/starter"
)

// A value is never taken apart on its way to a program. But some programs take their words for code, and there a value would
// be a part of it: sh -c "echo {a}" runs what stands in a. So a placeholder in such a word is a mistake. One that is the whole
// word says plainly that the value is a program, and a person is told so.

// checkCode finds placeholders in what a program of the command takes for code.
func (p *parser) checkCode() {
	var words []Word
	for _, element := range p.file.Command {
		words = append(words, element...)
	}
	if len(words) == 0 {
		return
	}
	p.checkStarted(words)
	p.checkChosen(words)
	first := program(words[0])
	p.interpreter(first, words[1:])
	switch _, steps := starter.Of(first); {
	case first == "watch" || first == "parallel":
		for _, w := range words[1:] {
			p.code(first, w)
		}
	case steps || runsOthers(first):
		for i := 1; i < len(words); i++ {
			p.interpreter(program(words[i]), words[i+1:])
		}
	}
}

// interpreter looks at the words of a program that may take some of them for code.
func (p *parser) interpreter(name string, rest []Word) {
	switch name {
	case "":
	case "ssh":
		for _, w := range behindHost(rest) {
			p.code(name, w)
		}
	case "env":
		for i, w := range rest {
			if text := literal(w); strings.HasPrefix(text, "-S") || strings.HasPrefix(text, "--split-string") {
				p.code(name, w)
				if i+1 < len(rest) {
					p.code(name, rest[i+1])
				}
			}
		}
	case "xargs":
		if !slices.ContainsFunc(rest, func(w Word) bool {
			text := literal(w)
			return text == "-0" || text == "--null" || strings.HasPrefix(text, "-d") || strings.HasPrefix(text, "--delimiter")
		}) {
			p.splits(p.file.Stdin.Text)
		}
	case "awk", "sed":
		p.programText(name, rest)
	default:
		p.evaluated(name, rest)
	}
}

// evaluated: the word behind one of these options, or in it, is code; and so is the standard input of who runs no file.
func (p *parser) evaluated(name string, rest []Word) {
	letters, long := evaluates(name)
	if letters == "" {
		return
	}
	for i := 0; i < len(rest); i++ {
		text := literal(rest[i])
		switch option, _, joined := strings.Cut(text, "="); {
		case slices.Contains(long, option), cluster(text, letters):
			p.code(name, rest[i]) // -e{code}
			if i++; i < len(rest) && !joined {
				p.code(name, rest[i])
			}
			return
		case slices.Contains([]string{"-o", "-O", "+O", "+o", "-W", "-X", "-r", "-d", "--require", "--import"}, text):
			i++ // its value
		case text == "" || text[0] != '-' && text[0] != '+':
			return // a file, and its arguments
		}
	}
	p.code(name, p.file.Stdin.Text)
}

// cluster: a word of one-letter options of which the last is among these.
func cluster(text, letters string) bool {
	return len(text) > 1 && text[0] == '-' && strings.Trim(text[1:], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") == "" && strings.Contains(letters, text[len(text)-1:])
}

// evaluates gives the letters and the long options of a program by which it takes code. No letters: none is known.
func evaluates(name string) (letters string, long []string) {
	if starter.IsShell(name) {
		return "c", []string{"--command", "--init-command"}
	}
	switch name {
	case "python", "pypy":
		return "c", nil
	case "perl", "ruby", "lua", "luajit", "osascript", "julia", "rscript", "elixir", "raku":
		return "eE", []string{"--eval", "--print"}
	case "node", "nodejs", "bun", "tsx":
		return "ep", []string{"--eval", "--print"}
	case "php":
		return "rBRE", []string{"--run"}
	case "pwsh", "powershell":
		return "cC", nil
	case "su", "runuser", "script", "flock":
		return "c", []string{"--command"}
	case "vim", "vi", "nvim", "ex":
		return "c", []string{"--cmd"}
	case "git":
		return "c", []string{"--config-env", "--exec-path"} // a setting of git names programs
	case "sqlite":
		return "c", []string{"-cmd"}
	}
	return "", nil
}

// programText: of awk and sed the first word is the program, unless options name one.
func (p *parser) programText(name string, rest []Word) {
	option := false // some option had a program, or a file of one
	for i := 0; i < len(rest); i++ {
		text := literal(rest[i])
		switch {
		case text == "--":
		case slices.Contains([]string{"-e", "--expression", "--source"}, text) || name == "sed" && strings.HasPrefix(text, "-") && !strings.HasPrefix(text, "--") && strings.HasSuffix(text, "e"):
			p.code(name, rest[i])
			if option = true; i+1 < len(rest) {
				i++
				p.code(name, rest[i])
			}
		case strings.HasPrefix(text, "--expression=") || strings.HasPrefix(text, "--source="):
			option = true
			p.code(name, rest[i])
		case text == "-f" || text == "--file":
			option = true
			i++
		case slices.Contains([]string{"-v", "-F", "-l"}, text) && (name == "awk" || text == "-l"):
			i++
		case strings.HasPrefix(text, "-"):
		default:
			if !option {
				p.code(name, rest[i])
			}
			return
		}
	}
}

// code tells of placeholders in a word that is taken for code.
func (p *parser) code(name string, w Word) {
	for _, piece := range w {
		if arg, ok := p.file.Arg(piece.Arg); piece.When || !ok || arg.tame() {
			continue
		}
		line := p.file.Lines["command"]
		if len(w) == 1 {
			p.warn(line, "command", "{%s} is code for %s: whoever calls this tool runs what they like, with all that is declared here", piece.Arg, name)
			continue
		}
		hint := "give the value as a word of its own that the code reads, or on standard input (stdin: json)"
		switch {
		case starter.IsShell(name):
			hint = "give it as a word of its own, as in [" + name + ", -c, 'echo \"$1\"', " + name + ", \"{" + piece.Arg + "}\"], or make it a script"
		case name == "awk":
			hint = "give it as a word of its own behind the program, and read ARGV"
		case name == "ssh":
			hint = "give it on standard input to a program there"
		}
		p.fail(line, "command", "{%s} would become a part of the code that %s runs, and a value could be any command: %s", piece.Arg, name, hint)
	}
}

// splits tells of placeholders in what is taken apart into words.
func (p *parser) splits(w Word) {
	for _, piece := range w {
		if arg, ok := p.file.Arg(piece.Arg); ok && !piece.When && !arg.tame() {
			p.fail(p.file.Lines["stdin"], "stdin", "xargs takes {%s} apart into words, and a value could be any option: put it into the command, or use xargs -0", piece.Arg)
		}
	}
}

// tame: no value of it can be code, because it is a number, true or false, or one of the words of the file.
func (a Arg) tame() bool {
	kind := a.Type
	if kind == "array" {
		kind = a.Items
	}
	return a.Listed || slices.Contains([]string{"integer", "number", "boolean"}, kind)
}

// program is the name of the program that a word means; empty if that is no plain text.
func program(w Word) string {
	text := literal(w)
	if len(w) != 1 || w[0].Arg != "" || text == "" || text[0] == '-' {
		return ""
	}
	name := strings.TrimSuffix(strings.ToLower(path.Base(strings.ReplaceAll(text, `\`, "/"))), ".exe")
	switch name = strings.TrimRight(name, "0123456789."); name {
	case "gawk", "mawk", "nawk", "goawk":
		return "awk"
	case "gsed":
		return "sed"
	case "gxargs":
		return "xargs"
	case "genv":
		return "env"
	}
	return name
}

// literal is the text that a word begins with.
func literal(w Word) string {
	if len(w) == 0 || w[0].Arg != "" {
		return ""
	}
	return w[0].Text
}

// behindHost are the words of ssh that a shell there puts together and reads.
func behindHost(rest []Word) []Word {
	for i := 0; i < len(rest); i++ {
		switch text := literal(rest[i]); {
		case len(text) == 2 && text[0] == '-' && strings.Contains("BbcDEeFIiJLlmOoPpQRSWw", text[1:]):
			i++
		case strings.HasPrefix(text, "-"):
		default:
			return rest[i+1:]
		}
	}
	return nil
}

// runsOthers: programs that run another one that stands in their words, in other ways than starters do.
func runsOthers(name string) bool {
	return slices.Contains([]string{
		"docker", "podman", "nerdctl", "kubectl", "oc", "lxc", "incus", "find", "fd", "tmux", "screen", "wsl", "npx", "bunx", "uv", "uvx", "pipx", "poetry", "pdm", "hatch", "nix", "nix-shell", "conda", "mamba", "bundle",
		"distrobox", "toolbox", "flatpak", "vagrant",
	}, name)
}

// passesOn: what stands behind the "--" of such a program goes to another one, to which it may be options.
func passesOn(name string) bool {
	_, steps := starter.Of(name)
	return steps || runsOthers(name) || slices.Contains([]string{"npm", "pnpm", "yarn", "bun", "cargo", "go", "just", "task", "dotnet", "deno", "gradle", "ssh"}, name)
}

// Ends tells whether a "--" in the command keeps what comes behind it from being taken for options.
func (f *File) Ends() bool {
	return len(f.Command) == 0 || len(f.Command[0]) == 0 || !passesOn(program(f.Command[0][0]))
}
