package toolfile

import (
	"strings"

	"github.com/toolcrib/toolcrib/internal/starter"
)

// checkStarted refuses a command in which a value would be the program: behind env, timeout and the like it is not the first
// element that is one. With env a value could also be any variable.
func (p *parser) checkStarted(words []Word) {
	for len(words) > 0 {
		name := program(words[0])
		how, ok := starter.Of(name)
		if !ok || runsText(name) {
			return
		}
		rest, operands := words[1:], how.Operands
		for len(rest) > 0 {
			text := literal(rest[0])
			switch {
			case name == "env" && (strings.HasPrefix(text, "-S") || strings.HasPrefix(text, "--split-string")):
				return // told as code
			case text == "--":
			case len(text) == 2 && text[0] == '-' && strings.Contains(how.Letters, text[1:]) && len(rest[0]) == 1 && len(rest) > 1:
				rest = rest[1:] // its value
			case strings.HasPrefix(text, "-"), name == "env" && strings.Contains(text, "="):
			case operands > 0:
				operands--
			default:
				operands = -1
			}
			if operands < 0 {
				break
			}
			rest = rest[1:]
		}
		if len(rest) > 0 {
			p.startedBy(name, rest[0])
		}
		words = rest
	}
}

func (p *parser) startedBy(name string, w Word) {
	for _, piece := range w {
		if arg, ok := p.file.Arg(piece.Arg); ok && !piece.When && !arg.Listed {
			p.fail(p.file.Lines["command"], "command", "{%s} stands where %s expects the program: it cannot come from an argument", piece.Arg, name)
		}
	}
}

// runsText: what stands behind these is not a program with its words, or not always.
func runsText(name string) bool {
	switch name {
	case "watch", "script", "su", "runuser", "parallel", "gdb", "lldb", "perf", "op", "mise", "ts", "arch", "direnv", "dotenv":
		return true
	}
	return false
}

// checkChosen tells of a value that would choose an option: a word of dashes and a placeholder.
func (p *parser) checkChosen(words []Word) {
	for _, w := range words {
		if len(w) < 2 || w[0].Arg != "" || strings.Trim(w[0].Text, "-") != "" {
			continue
		}
		if arg, ok := p.file.Arg(w[1].Arg); ok && !arg.tame() {
			p.warn(p.file.Lines["command"], "command", "{%s} chooses an option of the program, and a value can be any of them: list the ones that you mean by enum", w[1].Arg)
		}
	}
}
