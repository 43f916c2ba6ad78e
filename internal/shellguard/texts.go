package shellguard

import (
	"path"
	"slices"
	"strings"
)

// takesText: the program runs text that it is given in one of many ways: code
// that starts programs, options that name a command, its input. Which words of
// the line end up in it is not followed to the end, so that every one may.
func (p *Program) takesText(name string) bool {
	some := func(test func(t string) bool) bool {
		return slices.ContainsFunc(p.Args, func(a Arg) bool { return test(a.texts()[0]) })
	}
	begins := func(options ...string) bool {
		return some(func(t string) bool {
			return slices.ContainsFunc(options, func(o string) bool {
				return strings.HasPrefix(o, "--") && abbreviated(t, o) || !strings.HasPrefix(o, "--") && strings.HasPrefix(t, o)
			})
		})
	}
	switch name {
	case "sed", "gsed":
		scripts := sedScripts(p.Args)
		commands, input := sedRuns(scripts)
		return input || len(commands) > 0 || slices.ContainsFunc(scripts, sedWrite.MatchString)
	case "tar", "gtar", "bsdtar":
		return begins("-I", "-F", "--checkpoint-action", "--to-command", "--use-compress-program", "--rsh-command", "--info-script", "--new-volume-script") || some(func(t string) bool { return strings.Contains(t, " ") }) ||
			len(p.Args) > 0 && !strings.HasPrefix(p.Args[0].Text, "-") && strings.ContainsAny(p.Args[0].Text, "IF")
	case "zip":
		return begins("-T", "--unzip-command")
	case "rsync":
		return begins("-e", "--rsh", "--rsync-path")
	case "ssh", "scp", "sftp":
		return begins("-o", "-F", "-S", "-e")
	case "env":
		return some(func(t string) bool {
			return isSplit(t) || len(t) > 1 && t[0] == '-' && t[1] != '-' && strings.Contains(t, "S")
		})
	case "make", "gmake":
		return begins("--eval", "-E") || some(func(t string) bool { return strings.HasPrefix(t, "SHELL") || strings.Contains(t, "!=") })
	case "compgen", "complete", "bind":
		return true
	case "test", "[", "printf", "read", "unset":
		return begins("-v") && some(func(t string) bool { return strings.Contains(t, "[") })
	case "vi", "vim", "nvim", "view", "ex", "ed", "emacs", "gdb", "lldb", "expect", "parallel", "m4", "dc", "sqlite3", "psql", "mysql":
		return true
	case "cp", "install", "split", "csplit", "dd":
		return p.readsDescriptor()
	}
	if strings.HasSuffix(name, "awk") || readsCode(name) {
		return !strings.HasSuffix(name, "awk") && !p.hasScript() || some(once(codeObeys.MatchString))
	}
	return false
}

// once tests each text a single time: a line may repeat a word very often.
func once(test func(t string) bool) func(t string) bool {
	known := map[string]bool{}
	return func(t string) bool {
		is, seen := known[t]
		if !seen {
			is = test(t)
			known[t] = is
		}
		return is
	}
}

// RunsInput reports whether the program may run text of its input, or of files
// that it is told to read.
func (p *Program) RunsInput() bool { return p.takesText(programKey(p.Name)) }

// commandsInTexts looks into the words and the input of such a program for commands of the
// floor, wherever in a text they begin.
func (w *walker) commandsInTexts(p *Program, name string, in scope) {
	if !p.takesText(name) || in.depth > maxWrapping {
		return
	}
	for _, a := range p.Args {
		for _, t := range a.texts() {
			w.commandsAnywhere(t, in)
		}
	}
	if p.input != nil {
		for _, t := range p.input.texts() {
			w.commandsAnywhere(t, in)
		}
	}
	if name == "parallel" {
		for i, a := range p.Args {
			if i > 0 && strings.HasPrefix(p.Args[0].Text, ":::") {
				w.maybeScript(a.texts()[0], in)
			}
		}
	}
}

// commandsAnywhere walks a text from every word that is a program of the floor.
func (w *walker) commandsAnywhere(text string, in scope) {
	if !strings.ContainsAny(text, " \t") {
		return
	}
	found := 0
	for i := 0; i < len(text) && found < maxReadings; {
		if notInName(rune(text[i])) {
			i++
			continue
		}
		end := i
		for end < len(text) && !notInName(rune(text[end])) {
			end++
		}
		word := text[i:end]
		if !floorProgram(path.Base(word)) {
			word = behindLetter(word)
		}
		if floorProgram(path.Base(word)) {
			found++
			w.maybeScript(text[end-len(word):], in)
		}
		i = end
	}
}

// rawWords are the words of a line, quotes and backslashes taken off.
func rawWords(text string) []string {
	plain := strings.NewReplacer("'", "", "\"", "", "\\", "").Replace(text)
	var out []string
	for word := range strings.FieldsFuncSeq(plain, func(r rune) bool { return notInName(r) && !strings.ContainsRune("*?[]", r) }) {
		out = append(out, word)
		if value := behindLetter(word); value != word {
			out = append(out, value)
		}
	}
	return out
}

// behindLetter is what stands behind the letters of an option in the same word,
// as in -Irm and -TTrm.
func behindLetter(word string) string {
	if len(word) < 3 || word[0] != '-' || word[1] == '-' {
		return word
	}
	value := word[2:]
	if len(value) > 1 && value[0] == word[1] {
		value = value[1:]
	}
	return value
}
