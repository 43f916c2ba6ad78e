package gitconfig

import (
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/pathglob"
)

// The bounds on how a command line is read.
const (
	maxNested = 4
	maxLooked = 1024
	maxWords  = 200
)

// What a variable or a command in a command line stands for.
const (
	inTree  = "\x01" // the work tree, or where the program starts, which is the same
	unknown = "\x02"
)

// programs reads the command lines of the settings and what hooks name. What
// names a place for certain comes first: whether another word is a file is for
// programs to decide, and must not crowd it out.
func (w *settingsWalk) programs() {
	for _, w.guess = range []bool{false, true} {
		before := len(w.found)
		for _, line := range w.lines {
			if w.guess && len(w.found)-before >= maxWords {
				return
			}
			w.program(line, 0)
		}
		if !w.guess {
			w.modules()
		}
	}
}

// program notes the words of a command line that can be files of the work tree:
// a program, or the script that is given to one. A word without a slash is
// looked for on the PATH, but an interpreter would take it for a file, so that
// it counts if there is one.
func (w *settingsWalk) program(line string, depth int) {
	if depth > maxNested {
		return
	}
	words, inner := w.words(strings.TrimPrefix(line, "!"))
	dirs := []string{w.tree}
	for i, word := range words {
		if i > 0 && words[i-1] == "cd" {
			if dir, ok := w.path(w.tree, strings.TrimLeft(strings.TrimPrefix(word, inTree), "/")); ok && !slices.Contains(dirs, dir) {
				dirs = append(dirs, dir)
			}
			continue
		}
		name, value, assigned := strings.Cut(word, "=")
		if assigned {
			word = value
		}
		if i > 0 && strings.HasPrefix(word, "-") && !w.guess {
			if m := ofPython.FindStringSubmatch(strings.Join(words[i:min(i+2, len(words))], " ")); m != nil && strings.Contains(strings.ToLower(strings.Join(words[:i], " ")), "python") {
				w.module(m[1])
			}
		}
		if assigned && name == "PATH" {
			for part := range strings.SplitSeq(value, ":") {
				if !strings.ContainsAny(part, inTree+unknown) {
					w.note(w.path(w.tree, part))
				}
			}
			continue
		}
		w.word(word, dirs)
	}
	for _, line := range inner {
		w.program(line, depth+1)
	}
}

// word notes one word, from each of the directories that it may be in.
func (w *settingsWalk) word(word string, dirs []string) {
	certain := strings.ContainsAny(word, "/.")
	if i := strings.LastIndexAny(word, inTree+unknown); i >= 0 {
		certain = word[i] == inTree[0]
		if word = word[i+1:]; !strings.HasPrefix(word, "/") {
			return // a part of a name
		}
		word = strings.TrimLeft(word, "/")
	}
	if word == "" || strings.HasPrefix(word, "-") || strings.ContainsAny(word, "*%") {
		return
	}
	for _, dir := range dirs {
		p, ok := w.path(dir, word)
		if ok && certain != w.guess && (certain || w.isThere(p)) {
			w.note(p, ok)
		}
	}
}

// note notes a place, but not the work tree itself or what lies around it.
func (w *settingsWalk) note(p string, ok bool) {
	if !ok {
		return
	}
	if w.tree == "" || !pathglob.Holds(p, w.tree) {
		w.found = append(w.found, Pointed{Path: p, Guess: w.guess})
	}
}

// isThere tells whether there is a file.
func (w *settingsWalk) isThere(path string) bool {
	there, known := w.there[path]
	if known || len(w.there) >= maxLooked {
		return there
	}
	if w.there == nil {
		w.there = map[string]bool{}
	}
	_, err := w.src.Read(path)
	w.there[path] = err == nil
	return err == nil
}

// words cuts a command line, and gives the command lines in it. Quotes do not
// matter here: what they join is one word too many, or is found by its parts.
func (w *settingsWalk) words(line string) (words, inner []string) {
	var b strings.Builder
	end := func() {
		if b.Len() > 0 {
			words = append(words, b.String())
			b.Reset()
		}
	}
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '"' || c == '\'' || c == '\\' || c < ' ' && c != '\t' && c != '\n':
		case c == '`':
			n := strings.IndexByte(line[i+1:], '`')
			if n < 0 {
				n = len(line) - i - 1
			}
			inner = append(inner, line[i+1:i+1+n])
			b.WriteString(w.standsFor(line[i+1 : i+1+n]))
			i += n + 1
		case c == '$' && i+1 < len(line) && (line[i+1] == '(' || line[i+1] == '{'):
			n := closing(line[i+1:])
			text := strings.Trim(line[i+2:min(i+1+n, len(line))], "\"' ")
			if line[i+1] == '(' {
				inner = append(inner, text)
			}
			b.WriteString(w.standsFor(text))
			i += 1 + n
		case c == '$':
			n := 0
			for i+1+n < len(line) && isNameByte(line[i+1+n]) {
				n++
			}
			b.WriteString(w.standsFor(line[i+1 : i+1+n]))
			i += n
		case strings.IndexByte(" \t\n;&|()<>{}", c) >= 0:
			end()
		default:
			b.WriteByte(c)
		}
	}
	end()
	return words, inner
}

// closing gives where a bracket that a text begins with is closed.
func closing(text string) int {
	depth := 0
	for i := range len(text) {
		switch text[i] {
		case '(', '{':
			depth++
		case ')', '}':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return len(text)
}

func isNameByte(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// standsFor reads a variable or a command for where it leads. Git starts its
// programs at the top of the work tree.
func (w *settingsWalk) standsFor(text string) string {
	switch name, _, _ := strings.Cut(text, ":"); {
	case name == "HOME" && w.src.Home != "":
		return w.src.Home
	case name == "PWD", name == "GIT_WORK_TREE", name == "pwd", strings.Contains(text, "--show-toplevel"):
		return inTree
	}
	return unknown
}
