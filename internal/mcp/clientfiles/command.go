package clientfiles

import (
	"errors"
	"slices"
	"strings"
)

// splitCommand takes a command with blanks in it apart. Some clients give such
// a text to a shell, others start the file of that name; a shell is never used
// here, so it is one file, or words that no shell would read otherwise, or
// refused. The text is in our form.
func splitCommand(command string, hasArgs bool, exists func(string) bool) (words []string, err error) {
	command = strings.TrimSpace(command)
	if !strings.ContainsAny(command, " \t\r\n") {
		return []string{command}, nil
	}
	if exists != nil && exists(unescape(command)) {
		return []string{command}, nil
	}
	if first := strings.Fields(command)[0]; looksLikePath(command) && (exists == nil || !exists(unescape(first))) {
		// The blank may be in a directory's name: /Applications/My App/bin/x.
		if hasArgs || hasProgramSuffix(command) {
			return []string{command}, nil
		}
		return nil, errors.New("its command is a path with blanks, and it cannot be told whether it is one file or a command line: write the program under command and the rest under args")
	}
	bare := withoutReferences(command)
	if strings.ContainsAny(bare, "|&;<>()$`\"'*?[]{}#~!%\r\n") || strings.Contains(bare, `\ `) {
		return nil, errors.New("its command is a line for a shell, and no shell is used here: write the program under command and the rest under args")
	}
	words = strings.Fields(command)
	if strings.Contains(words[0], "=") {
		return nil, errors.New("its command begins with the assignment of a variable: write that under env")
	}
	for _, w := range words {
		if strings.Count(w, "${") != strings.Count(w, "}") {
			return nil, errors.New("its command has a variable with a blank in it")
		}
	}
	return words, nil
}

func looksLikePath(text string) bool {
	return strings.HasPrefix(text, "/") || strings.HasPrefix(text, "./") || strings.HasPrefix(text, "../") || strings.HasPrefix(text, "~/") ||
		strings.HasPrefix(text, `\\`) || strings.HasPrefix(text, `.\`) || hasDrive(text)
}

func hasDrive(text string) bool {
	return len(text) > 2 && text[0]|0x20 >= 'a' && text[0]|0x20 <= 'z' && text[1] == ':' && (text[2] == '\\' || text[2] == '/')
}

func hasProgramSuffix(text string) bool {
	lower := strings.ToLower(text)
	// A second one means that a program and its script stand there.
	return strings.Count(lower, ".exe ")+strings.Count(lower, ".cmd ")+strings.Count(lower, ".bat ") == 0 &&
		slices.ContainsFunc([]string{".exe", ".cmd", ".bat", ".ps1", ".sh"}, func(suffix string) bool { return strings.HasSuffix(lower, suffix) })
}

// withoutReferences takes the variables and secrets out of a text of ours. What
// is escaped stays.
func withoutReferences(text string) string {
	var out strings.Builder
	for _, p := range references(text) {
		if !p.ref {
			out.WriteString(p.text)
		}
	}
	return out.String()
}

// piece is a part of a text of ours: plain (still escaped), or a reference with
// its braces.
type piece struct {
	text string
	ref  bool
}

func references(text string) []piece {
	var list []piece
	plain := 0
	for i := 0; i < len(text); {
		switch {
		case strings.HasPrefix(text[i:], "$${"):
			i += 3
		case refLen(text[i:]) > 0:
			end := i + refLen(text[i:])
			if i > plain {
				list = append(list, piece{text: text[plain:i]})
			}
			list = append(list, piece{text: text[i:end], ref: true})
			i, plain = end, end
		default:
			i++
		}
	}
	if plain < len(text) {
		list = append(list, piece{text: text[plain:]})
	}
	return list
}

// secretDefault is how a default that is a secret begins: ${VAR:-${secret:NAME}}.
const secretDefault = ":-${secret:"

// refLen gives how long the reference at the beginning of a text is; 0: none.
func refLen(text string) int {
	end := strings.IndexByte(text, '}')
	if !strings.HasPrefix(text, "${") || end < 0 {
		return 0
	}
	if strings.Contains(text[:end], secretDefault) && strings.HasPrefix(text[end+1:], "}") {
		end++
	}
	return end + 1
}

// refSecret gives the secret that a reference names, itself or as its default.
func refSecret(ref string) (string, bool) {
	inner := strings.TrimSuffix(strings.TrimPrefix(ref, "${"), "}")
	if name, ok := strings.CutPrefix(inner, "secret:"); ok {
		return name, true
	}
	_, name, ok := strings.Cut(inner, secretDefault)
	return strings.TrimSuffix(name, "}"), ok
}
