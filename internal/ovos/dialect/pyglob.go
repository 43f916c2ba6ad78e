package dialect

import "strings"

// pattern is a pattern of Python's pathlib in the form of the native tools.
//
// What stays different: links to directories are never followed, and none of
// them is a directory to a pattern that wants one; ".." leads nowhere.
type pattern struct {
	native string // about whole paths below the directory
	deep   bool   // it can match below the entries of the directory itself
	dirs   bool   // only directories match
	top    bool   // the directory itself matches
	bad    string // what Python says if it does not take it
}

// nothing is an element of a pattern that no name fits: a character that is
// none there is.
const nothing = "[!\x00-\U0010ffff]"

// readPattern reads a pattern as Python 3.11 does. One that it would not take
// has bad set and matches nothing, as has one that leads up: only what lies
// below is ours to look at.
func readPattern(text string) pattern {
	p := pattern{native: nothing}
	if text == "" {
		p.bad = "Unacceptable pattern: ''"
		return p
	}
	if strings.HasPrefix(text, "/") {
		p.bad = "Non-relative patterns are unsupported"
		return p
	}
	var elems []string
	up, all := false, true
	for e := range strings.SplitSeq(text, "/") {
		switch {
		case e == "" || e == ".":
			continue
		case e == "..":
			up = true
		case e != "**" && strings.Contains(e, "**"):
			p.bad = "Invalid pattern: '**' can only be an entire path component"
			return p
		case e == "**":
		default:
			all = false
			e = nativeElement(e)
		}
		elems = append(elems, e)
	}
	switch {
	case len(elems) == 0:
		p.bad = "Unacceptable pattern: " + repr(text)
	case !up:
		p.native = strings.Join(elems, "/")
		p.deep = len(elems) > 1 || elems[0] == "**"
		p.top = all
		p.dirs = strings.HasSuffix(text, "/") || elems[len(elems)-1] == "**"
	}
	return p
}

// files is the pattern for files, held against whole paths also where a
// pattern of one element is otherwise about names at any depth: a second
// alternative with a slash, which nothing fits, makes it one about paths.
func (p pattern) files() string {
	if p.dirs {
		return "{" + nothing + "," + nothing + "/" + nothing + "}"
	}
	return "{" + p.native + "," + nothing + "/" + nothing + "}"
}

// nativeElement rewrites one element. In Python a backslash, braces and a
// bracket that is never closed stand for themselves, and only ! negates.
func nativeElement(e string) string {
	var b strings.Builder
	for i := 0; i < len(e); {
		if e[i] == '[' {
			if class, n := nativeClass(e[i:]); n > 0 {
				b.WriteString(class)
				i += n
				continue
			}
		}
		if strings.IndexByte(`\{},[`, e[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(e[i])
		i++
	}
	return b.String()
}

// nativeClass rewrites [a-z] and tells its length; 0 if it is not closed.
func nativeClass(e string) (class string, n int) {
	from := 1
	not := strings.HasPrefix(e[from:], "!")
	if not {
		from++
	}
	if from >= len(e) {
		return "", 0
	}
	end := strings.IndexByte(e[from+1:], ']') // the first one may be a ]
	if end < 0 {
		return "", 0
	}
	end += from + 1
	set := []rune(e[from:end])
	var b strings.Builder
	for i := 0; i < len(set); {
		lo, hi := set[i], set[i]
		if i++; i+1 < len(set) && set[i] == '-' {
			hi = set[i+1]
			i += 2
		}
		if lo > hi {
			continue // a range from back to front has nothing in it
		}
		b.WriteString(classChar(lo))
		if lo < hi {
			b.WriteString("-" + classChar(hi))
		}
	}
	switch {
	case b.Len() == 0 && not:
		return "?", end + 1
	case b.Len() == 0:
		return nothing, end + 1
	case not:
		return "[!" + b.String() + "]", end + 1
	}
	return "[" + b.String() + "]", end + 1
}

// classChar writes a character in a class so that it means itself there.
func classChar(r rune) string {
	if strings.ContainsRune(`\]-!^[:{},`, r) {
		return `\` + string(r)
	}
	return string(r)
}
