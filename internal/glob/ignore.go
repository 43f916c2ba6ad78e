package glob

import (
	"bytes"
	"strings"
)

// Ignore is the rules of one .gitignore file on top of those of the
// directories above it. The nil Ignore ignores nothing.
type Ignore struct {
	up    *Ignore
	dir   string // the directory of the file, with a slash at its end, or ""
	rules []rule
}

type rule struct {
	not  bool // takes back
	dirs bool // only for directories
	base bool // held against the last element
	lead string
	way  []segment // of what follows lead
}

// NewIgnore reads a .gitignore file of a directory. Paths are all given from
// the same place, which need not be this directory; up are the rules there
// are besides, which these overrule.
func NewIgnore(up *Ignore, dir string, text []byte) *Ignore {
	ig := &Ignore{up: up}
	if dir != "" && dir != "." {
		ig.dir = dir + "/"
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	for len(text) > 0 {
		line, rest, _ := bytes.Cut(text, []byte{'\n'})
		text = rest
		if r, ok := readRule(string(bytes.TrimSuffix(line, []byte{'\r'}))); ok {
			ig.rules = append(ig.rules, r)
		}
	}
	if len(ig.rules) == 0 {
		return up
	}
	return ig
}

func readRule(line string) (rule, bool) {
	if strings.HasPrefix(line, "#") {
		return rule{}, false
	}
	line = trimSpaces(line)
	var r rule
	line, r.not = strings.CutPrefix(line, "!")
	line, r.dirs = strings.CutSuffix(line, "/")
	if line == "" {
		return rule{}, false
	}
	if !strings.Contains(line, "/") {
		r.base = true
		if strings.Trim(line, "*") == "" {
			line = "*" // ** has no special meaning without a slash
		}
		s, ok := compileSegment(line, true)
		r.way = []segment{s}
		return r, ok
	}
	line = strings.TrimPrefix(line, "/")
	// git compares the plain beginning of a pattern by itself. So in a**/b the
	// two stars stand first in what is left and mean directories, though its
	// manual says otherwise.
	if i := strings.IndexAny(line, `*?[\`); i > 0 && line[i-1] != '/' && strings.HasPrefix(line[i:], "**") {
		r.lead, line = line[:i], line[i:]
	}
	elems, ok := splitElems(line)
	if !ok {
		return rule{}, false
	}
	for _, elem := range elems {
		s, ok := compileSegment(elem, true)
		if !ok {
			return rule{}, false
		}
		r.way = append(r.way, s)
	}
	if r.way[len(r.way)-1].deep && r.lead == "" {
		r.way = append(r.way, segment{kind: anything}) // a/** is what lies in a, not a itself
	}
	return r, true
}

// splitElems splits a pattern at its slashes. One in a class is no separator,
// one behind a backslash is.
func splitElems(line string) (elems []string, ok bool) {
	var elem strings.Builder
	for i := 0; i < len(line); {
		n := 1
		switch line[i] {
		case '/':
			elems = append(elems, elem.String())
			elem.Reset()
			i++
			continue
		case '\\':
			if strings.HasPrefix(line[i:], `\/`) {
				i++
				continue
			}
			n = min(2, len(line)-i)
		case '[':
			if _, n, ok = class(line[i:], true); !ok {
				return nil, false
			}
		}
		elem.WriteString(line[i : i+n])
		i += n
	}
	return append(elems, elem.String()), true
}

// trimSpaces drops spaces at the end that no backslash keeps.
func trimSpaces(line string) string {
	end := 0
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case ' ':
			continue
		case '\\':
			i++
		}
		end = min(i+1, len(line))
	}
	return line[:end]
}

// Match reports whether a path is ignored. The directories on the way to it
// must not be ignored themselves: nothing in one that is can be taken back.
func (ig *Ignore) Match(path string, dir bool) bool {
	found, not := ig.Last(path, dir)
	return found && !not
}

// Last finds the rule that counts for a path, which is the last that matches, and says
// whether it takes back.
func (ig *Ignore) Last(path string, dir bool) (found, not bool) {
	for ; ig != nil; ig = ig.up {
		rel, below := strings.CutPrefix(path, ig.dir)
		if !below {
			continue
		}
		name := rel[strings.LastIndexByte(rel, '/')+1:]
		for i := len(ig.rules) - 1; i >= 0; i-- {
			if r := &ig.rules[i]; r.match(rel, name, dir) {
				return true, r.not
			}
		}
	}
	return false, false
}

func (r *rule) match(rel, name string, dir bool) bool {
	if r.dirs && !dir {
		return false
	}
	if r.base {
		return r.way[0].match(name)
	}
	rel, ok := strings.CutPrefix(rel, r.lead)
	if ok && rel == "" && len(r.way) == 2 && r.way[0].deep {
		return r.way[1].match("") // nothing is left, which * matches
	}
	return ok && matchPath(r.way, rel)
}
