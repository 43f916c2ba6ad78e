package shellguard

import (
	"slices"
	"strings"
)

// possible is what a text may be: one of these. Nil is a text that is never there,
// as of a loop that never runs.
type possible []atom

// atom is one of the things that a text may be.
type atom struct {
	kind atomKind
	// text is the whole of it (exact), how it begins (headed), or the pattern that
	// it is a file name of (named).
	text string
	// lines: it may be several lines, each of which is like that.
	lines bool
}

type atomKind uint8

const (
	any_     atomKind = iota // nobody knows
	foreign                  // a variable of the environment, which only names may be shown of
	relative                 // nobody knows, but it does not begin with a slash
	headed                   // it begins with text; what follows may be anything
	named                    // the name of a file that the pattern means, or the pattern
	number                   // digits, or nothing
	signed                   // digits, perhaps with a minus before them, or nothing
	hashes                   // names of commits in hexadecimal digits, HEAD, or nothing
	exact
)

// maxAtoms bounds what one text may be.
const maxAtoms = 24

func unknownText() possible { return possible{{kind: any_}} }

func exactly(texts ...string) possible {
	var out possible
	for _, t := range texts {
		out = out.or(possible{{kind: exact, text: t}})
	}
	return out
}

// or is what either may be. Too many are anything.
func (p possible) or(q possible) possible {
	out := slices.Clone(p)
	for _, a := range q {
		if len(a.text) > maxText {
			a = atom{kind: any_}
		}
		if !slices.Contains(out, a) {
			out = append(out, a)
		}
	}
	if len(out) > maxAtoms {
		if slices.ContainsFunc(out, func(a atom) bool { return a.kind == foreign }) {
			return possible{{kind: any_}, {kind: foreign}}
		}
		return unknownText()
	}
	return out
}

// then is what is printed by two commands, one after the other.
func (p possible) then(q possible) possible {
	if len(p) == 0 || len(q) == 0 {
		return p.or(q)
	}
	return p.or(q).several()
}

// several is what is printed by a command that runs more than once.
func (p possible) several() possible {
	out := slices.Clone(p)
	for i := range out {
		out[i].lines = true
	}
	return out
}

// single is one line of it. The name of a file may hold a newline: only the first
// line of it begins as the name does.
func (p possible) single() possible {
	var out possible
	for _, a := range p {
		if a.lines = false; a.kind == headed || a.kind == relative {
			a = atom{kind: any_}
		}
		out = out.or(possible{a})
	}
	return out
}

// record is what ends with a zero byte, or all of it: no name of a file holds one.
func (p possible) record() possible {
	var out possible
	for _, a := range p {
		switch a.kind {
		case headed, foreign:
			a.lines = false
		case exact: // a newline, or more lines, are part of it
			if a = (atom{kind: headed, text: a.text}); a.text == "" {
				a = atom{kind: any_}
			}
		default:
			a = atom{kind: any_}
		}
		out = out.or(possible{a})
	}
	return out
}

// samples are texts that stand for all that an atom may be, where it does not
// matter which digits it has. Not ok: it may be anything.
func (a atom) samples() (texts []string, ok bool) {
	switch a.kind {
	case exact:
		return []string{a.text}, !a.lines // the others may stand beside it
	case number:
		if a.lines {
			return []string{"", "1", "1 1"}, true
		}
		return []string{"", "1"}, true
	case signed:
		return []string{"", "1", "-1"}, !a.lines
	case hashes:
		if a.lines {
			return []string{"", "0123abc", "0123abc 4567def"}, true
		}
		return []string{"", "0123abc"}, true
	}
	return nil, false
}

// isNumber: arithmetic takes nothing in it for a name, and runs nothing.
func (p possible) isNumber() bool {
	for _, a := range p {
		switch a.kind {
		case number, signed:
		case exact:
			if a.text != "" && !isNumber(strings.TrimPrefix(a.text, "-")) {
				return false
			}
		default:
			return false
		}
	}
	return len(p) > 0
}

// relative: it does not begin with a slash.
func (a atom) relative() bool {
	switch a.kind {
	case relative, number, hashes:
		return true
	case exact, headed, named:
		return a.text != "" && a.text[0] != '/'
	}
	return false
}

// ownVariable knows the names that people give to variables of their own. No shell
// and no program that only reads goes by one of them.
func ownVariable(name string) bool {
	switch name {
	case "BRANCH", "BASE", "DIR", "DIRS", "FILE", "FILES", "N", "I", "X", "F", "D", "COUNT", "TOTAL", "NAME", "ROOT", "SRC", "REPO", "COMMIT", "HASH", "SHA", "TAG", "LATEST", "PATTERN", "EXT", "CURRENT", "MERGE_BASE", "BASE_REF", "TARGET", "RESULT", "OUTPUT", "LINE", "LINES_COUNT", "START", "END", "PKG", "MODULE", "CHANGED", "CHANGED_FILES":
		return true
	}
	return tameVariable(name) && harmlessLoopName(strings.ReplaceAll(name, "_", "")) && name[0] >= 'a' && !strings.HasSuffix(name, "_proxy")
}

// shownVariable knows the variables of the environment that are no secrets.
func shownVariable(name string) bool {
	switch name {
	case "HOME", "USER", "LOGNAME", "PWD", "OLDPWD", "SHELL", "TERM", "PATH", "LANG", "LC_ALL", "TZ", "HOSTNAME", "TMPDIR", "RANDOM", "SECONDS", "LINENO", "UID", "EUID", "PPID", "COLUMNS", "LINES", "BASH_VERSION", "GOPATH", "GOROOT", "GOOS", "GOARCH", "VIRTUAL_ENV", "NODE_ENV", "CI", "EDITOR", "ID", "VERSION_ID", "PRETTY_NAME":
		return true
	}
	return ownVariable(name)
}
