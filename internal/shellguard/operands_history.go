package shellguard

import (
	"path"
	"strings"
)

// maxHistory bounds how many words of a git command are looked at for paths.
const maxHistory = 200

// addHistory adds the files that git is told to take out of its history: HEAD:a/b,
// :0:a/b, -L1,5:a/b and :(top)a/b name a file as much as a/b does. Such a path
// counts from the top of the repository, which may be any directory above, or,
// with a dot in front, from where git runs.
func (o *operands) addHistory(p *Program, guess bool) {
	if programKey(p.Name) != "git" {
		return
	}
	sub, rest := gitSubCommand(p.Args)
	switch sub {
	case "clone", "push", "fetch", "pull", "remote", "ls-remote", "submodule", "subtree":
		return // there it is an address, or a branch
	}
	o.addPathspecs(p, sub, rest, guess)
	said := messages("git", p.Args)
	n := 0
	for i, a := range p.Args {
		if said[i] || strings.HasPrefix(a.Text, "--") {
			continue
		}
		for _, t := range a.texts() {
			if n++; n > maxHistory {
				return
			}
			o.addHistoryFile(p, t, a, guess)
		}
	}
	if p.input == nil {
		return
	}
	for _, text := range p.input.texts() { // git cat-file --batch
		for word := range strings.FieldsSeq(text) {
			if n++; n > maxHistory {
				return
			}
			o.addHistoryFile(p, word, *p.input, guess)
			if p.flag("", "stdin") { // it reads what else it would be told
				o.addPathspec(p, word, Operand{Guess: guess})
			}
		}
	}
}

// addHistoryFile adds what one word names.
func (o *operands) addHistoryFile(p *Program, word string, a Arg, guess bool) {
	if magic, _, ok := strings.Cut(word, ")"); strings.HasPrefix(word, ":!") || strings.HasPrefix(word, ":^") || ok && strings.HasPrefix(word, ":(") && strings.Contains(magic, "exclude") {
		return // what is left out
	}
	as := Operand{Guess: guess || !a.Literal && !a.Glob}
	for at := strings.IndexByte(word, ':'); at >= 0; {
		name := word[at+1:]
		if strings.HasPrefix(name, "(") {
			_, name, _ = strings.Cut(name, ")")
		}
		for _, d := range p.historyDirs() {
			if strings.HasPrefix(name, "./") || strings.HasPrefix(name, "../") {
				o.add(d, name, a.Glob, as)
				continue
			}
			for top := path.Clean(d); ; top = path.Dir(top) {
				o.add(top, strings.TrimLeft(name, "/"), a.Glob, as)
				if top == path.Dir(top) {
					break
				}
			}
		}
		next := strings.IndexByte(name, ':')
		if next < 0 {
			return
		}
		at = len(word) - len(name) + next
	}
}

func (p *Program) historyDirs() []string {
	if len(p.repoDirs) > 0 {
		return p.repoDirs
	}
	return p.Dirs
}
