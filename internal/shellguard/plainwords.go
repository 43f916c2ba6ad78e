package shellguard

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
)

// PlainWords cuts a line that has nothing in it but plain words and the signs
// between commands: every program in such a line is one of its words. It is
// there to save taking the line apart where no rule could mean it. Files: one of
// the words may be a link to a script that a rule names. Nil: the line is not so
// plain.
func PlainWords(r *toolcrib.Review) (words []string, files bool) {
	var in request
	if !RunsLines(&r.Spec) || r.Spec.Native == "command_input" || json.Unmarshal(r.Input, &in) != nil || len(in.Command) > 1<<10 {
		return nil, false
	}
	words = strings.FieldsFunc(in.Command, func(r rune) bool { return r == ' ' || r == '|' || r == '&' || r == ';' })
	for i, w := range words {
		for k := range len(w) {
			c := w[k]
			if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && !strings.ContainsRune("_-./=:,@%+", rune(c)) {
				return nil, false
			}
		}
		switch w {
		case "if", "then", "elif", "else", "fi", "for", "while", "until", "do", "done", "case", "esac", "in", "select", "function", "time", "coproc", "eval", "source", ".":
			return nil, false
		}
		if strings.HasPrefix(programName(w), "git-") || programName(w) == "xargs" || programName(w) == "parallel" {
			return nil, false // another name for git, and programs that their input names
		}
		if UsualName(programName(w)) == "python" || UsualName(programName(w)) == "pypy" {
			return nil, false // a module may stand in the same word as its option
		}
		files = files || strings.Contains(w, "/") || isShell(programName(w))
		words[i] = programName(w)
		if strings.ContainsAny(w, "=,:") { // an option may name a program
			for part := range strings.FieldsFuncSeq(w, func(r rune) bool { return r == '=' || r == ',' || r == ':' }) {
				if strings.HasPrefix(programName(part), "git-") {
					return nil, false
				}
				words = append(words, programName(part))
			}
		}
		if len(w) > 2 && len(w) < 40 && w[0] == '-' && w[1] != '-' { // script -qcNAME
			for at := 2; at < len(w); at++ {
				if strings.HasPrefix(w[at:], "git-") {
					return nil, false
				}
				words = append(words, programName(w[at:]))
			}
		}
	}
	if slices.Contains(words, "env") && strings.Contains(in.Command, "-") {
		return nil, false // it may make a command of one word
	}
	return words, files
}
