package shellguard

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// The user of a client may have set options of zsh by which more glyphs are patterns:
// EXTENDED_GLOB (^ # ~), BRACE_CCL ({ab}), GLOB_SUBST (also in values) and GLOB_ASSIGN
// (also in assignments). A pattern that means no file is an error, or stays as it is. So
// HEAD^ and a#b are asked about only where there is a file that they could mean.

// loose is a word that may be a pattern to such a zsh.
type loose struct {
	text string // as it is written
	glob string // the files that have to be looked at
	is   string // the expression for the names that it may mean
}

// maxLoose bounds the words of one line that are held against the files.
const maxLoose = 50

// ownOptions: the shell may be zsh, with the options of its user.
func (o *Options) ownOptions() bool { return o.Zsh && o.UserShell }

// glyph is a letter of a word, and whether it stands for nothing but itself.
type glyph struct {
	r      rune
	quoted bool
}

func appendGlyphs(glyphs []glyph, text string, quoted bool) []glyph {
	for _, r := range text {
		glyphs = append(glyphs, glyph{r, quoted})
	}
	return glyphs
}

// readLoose is what such a zsh may take the letters of a word for. Nil: for what other
// shells do. Unsure: nobody can tell from the letters.
func readLoose(glyphs []glyph) (found *loose, unsure bool) {
	odd, wild := false, false
	for i, s := range glyphs {
		switch {
		case s.quoted:
		case s.r == '#' && i > 0, s.r == '^' && (i == 0 || glyphs[i-1].r != '['):
			odd = true
		case s.r == '*', s.r == '?', s.r == '[':
			wild = true
		case s.r == '{' && isClass(glyphs[i:]):
			// Only where names of commits have it: stash@{0}, HEAD^{tree}.
			if odd = true; i == 0 || glyphs[i-1].r != '@' && glyphs[i-1].r != '^' {
				return nil, true
			}
		}
	}
	without := slices.IndexFunc(glyphs, func(s glyph) bool { return s.r == '~' && !s.quoted }) > 0
	switch {
	case wild && (odd || without), odd && without, odd && (glyphs[0].r == '-' || hasComma(glyphs)):
		return nil, true
	case !odd:
		return nil, false
	}
	return looseFiles(glyphs)
}

// isClass: the letters begin with a pair of braces that has something in it, and not
// several things.
func isClass(glyphs []glyph) bool {
	end := slices.Index(glyphs, glyph{r: '}'})
	return end > 1 && !hasComma(glyphs[:end])
}

func hasComma(glyphs []glyph) bool { return slices.Contains(glyphs, glyph{r: ','}) }

// looseFiles says which files a word could mean: ^ stands for anything up to the next
// slash, # for any number of what stands before it.
func looseFiles(glyphs []glyph) (found *loose, unsure bool) {
	var text, is strings.Builder
	skip := rune(0) // up to where all is covered
	for i, s := range glyphs {
		text.WriteRune(s.r)
		more := i+1 < len(glyphs) && glyphs[i+1] == glyph{r: '#'}
		switch {
		case s.r == '/':
			skip = 0
			is.WriteByte('/')
		case skip != 0:
			if s.r == skip && !s.quoted {
				skip = 0
			}
		case s.quoted && more:
			return nil, true
		case s == glyph{r: '^'}:
			skip = '/'
			is.WriteString("[^/]*")
		case s == glyph{r: '{'}:
			skip = '}'
			is.WriteString("[^/]*")
		case s == glyph{r: '#'}:
		case more:
			is.WriteString("(?:" + regexp.QuoteMeta(string(s.r)) + ")*")
		default:
			is.WriteString(regexp.QuoteMeta(string(s.r)))
		}
	}
	elems := strings.Split(text.String(), "/")
	for i, e := range elems {
		if e == "." || e == ".." || e == "" && i > 0 {
			return nil, true
		}
		if elems[i] = globEscape(e); strings.ContainsAny(e, "^#{") {
			elems[i] = "*"
		}
	}
	glob := strings.Join(elems, "/")
	if starred(glob) > 2 || text.Len() > maxMatches {
		return nil, true
	}
	fold := "(?i)" // by NO_CASE_GLOB
	if strings.HasPrefix(text.String(), "HEAD") {
		fold = "" // or header.h would be a reason to ask about HEAD^
	}
	return &loose{text: text.String(), glob: glob, is: fold + "^" + is.String() + "$"}, false
}

// globEscape has a name mean itself in a pattern.
func globEscape(name string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(name)
}

// addLoose notes a word that may be a pattern, and refuses one of which nobody can tell.
func (l *Line) addLoose(found *loose, unsure bool) (why string) {
	switch {
	case unsure:
		return "zsh may take one of its words for a pattern"
	case found == nil || slices.Contains(l.loose, *found):
	case len(l.loose) == maxLoose:
		return "zsh may take too many of its words for patterns"
	default:
		l.loose = append(l.loose, *found)
	}
	return ""
}

// looseWords says which words of a line mean files to a zsh with the options of its user
// and not to other shells.
func (s *Guard) looseWords(l *Line) []string {
	var out []string
	var dirs []string
	for i := range l.Programs {
		for _, d := range l.Programs[i].Dirs {
			if !slices.Contains(dirs, d) {
				dirs = append(dirs, d)
			}
		}
	}
	for _, w := range l.loose {
		is, err := regexp.Compile(w.is)
		for _, d := range dirs {
			root := strings.TrimSuffix(path.Clean(d), "/") + "/"
			if strings.HasPrefix(w.glob, "/") {
				root = ""
			}
			if err != nil || s.Glob == nil {
				return append(out, fmt.Sprintf("nobody can say what %s means to zsh", Quote(w.text)))
			}
			files, err := s.Glob(globEscape(root) + w.glob)
			if err != nil {
				return append(out, fmt.Sprintf("nobody can say what %s means to zsh", Quote(w.text)))
			}
			for _, f := range files {
				if name := strings.TrimPrefix(f, root); is.MatchString(name) && len(out) < maxReasons {
					out = append(out, fmt.Sprintf("%s may be a pattern to zsh (EXTENDED_GLOB), and means %s then; write it in quotes", Quote(w.text), Quote(name)))
					break
				}
			}
		}
	}
	return out
}
