package shellguard

import (
	"strings"

	"github.com/toolcrib/toolcrib/internal/pattern"
)

// sedRun is sed's command e, with its address and the command it runs.
var sedRun = pattern.Of(`(?m)(?:^|[;{}])\s*(?:(?:\d+(?:~\d+)?|\$|/(?:[^/\\\n]|\\.)*/[IM]*|\\[^\w\s](?:[^\n])*?)(?:\s*,\s*(?:[+~]?\d+|\$|/(?:[^/\\\n]|\\.)*/[IM]*))?)?[\s!]*e(?:[ \t]*([^\n]*))$`)

// sedWrite is its command w, with the file.
var sedWrite = pattern.Of(`(?m)(?:^|[;{}\d$/])\s*!?\s*[wW][ \t]+([^\n]+)$`)

// sedScripts are the scripts that sed is given in the line.
func sedScripts(args []Arg) []string {
	var given, operands []string
	for i := 0; i < len(args); i++ {
		t := args[i].texts()[0]
		switch {
		case t == "--expression" || strings.HasPrefix(t, "-") && !strings.HasPrefix(t, "--") && strings.HasSuffix(t, "e"):
			if i++; i < len(args) {
				given = append(given, args[i].texts()...)
			}
		case strings.HasPrefix(t, "--expression="):
			given = append(given, t[len("--expression="):])
		case strings.HasPrefix(t, "-e"):
			given = append(given, t[2:])
		case !strings.HasPrefix(t, "-"):
			operands = append(operands, args[i].texts()[0])
		}
	}
	if len(given) == 0 && len(operands) > 0 {
		given = operands[:1]
	}
	return given
}

// sedRuns finds the commands in scripts of sed, and whether it runs what it
// reads: e alone, or s///e.
func sedRuns(scripts []string) (commands []string, input bool) {
	all := strings.Join(scripts, "\n")
	for _, m := range sedRun.Regexp().FindAllStringSubmatch(all, -1) {
		if m[1] == "" {
			input = true
		} else {
			commands = append(commands, m[1])
		}
	}
	subs, run := sedSubstitutes(all)
	if run || input {
		commands = append(commands, subs...)
	}
	return commands, input || run
}

// sedSubstitutes lists what substitutions put in, and says whether one of them
// is run.
func sedSubstitutes(script string) (texts []string, run bool) {
	for i := 0; i+1 < len(script); i++ {
		if script[i] != 's' || i > 0 && isNameByte(script[i-1]) && (script[i-1] < '0' || script[i-1] > '9') {
			continue
		}
		delim := script[i+1]
		if isNameByte(delim) || delim <= ' ' || delim == '\\' || delim == ';' || delim == '}' {
			continue
		}
		parts := strings.SplitN(cutUnescaped(script[i+2:], delim), "\x00", 3)
		if len(parts) < 3 {
			continue
		}
		flags := len(parts[2]) - len(strings.TrimLeft(parts[2], "gpiIMme0123456789"))
		texts = append(texts, strings.ReplaceAll(parts[1], `\n`, "\n"))
		run = run || strings.Contains(parts[2][:flags], "e")
	}
	return texts, run
}

// cutUnescaped puts a zero byte in the place of the first two delimiters that
// have no backslash before them.
func cutUnescaped(s string, delim byte) string {
	out := []byte(s)
	for i, n := 0, 0; i < len(out) && n < 2; i++ {
		switch out[i] {
		case '\\':
			i++
		case delim:
			out[i] = 0
			n++
		}
	}
	return string(out)
}

// sed follows what sed runs.
func (w *walker) sed(p *Program, in scope) {
	scripts := sedScripts(p.Args)
	for _, s := range scripts {
		for _, m := range sedWrite.Regexp().FindAllStringSubmatch(s, -1) {
			to := Arg{Text: m[1], Literal: true}
			w.unclear[fileKey(m[1])] = true
			texts, _ := sedSubstitutes(s)
			for _, t := range texts {
				w.noteText(m[1], Arg{Text: t, Literal: true})
			}
			w.possibleWalker().line.Redirects = append(w.possibleWalker().line.Redirects, Redirect{Op: ">", Target: to.Text, Class: Writes, target: to})
		}
	}
	commands, input := sedRuns(scripts)
	for _, c := range commands {
		w.maybeScript(c, in)
	}
	if !input {
		return
	}
	w.line.hides = true // it runs the lines of a file
	if p.input == nil {
		return
	}
	for _, t := range p.input.texts() {
		w.maybeScript(t, in)
	}
}
