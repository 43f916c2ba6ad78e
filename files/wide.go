package files

import (
	"regexp"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/pathglob"
)

// Programs differ in how they read a pattern: in some letter case counts for nothing, some
// know the extended forms @(a|b), in some * goes past a slash, and a backslash is a slash or
// takes the meaning from what follows. A wide pattern is held against names as the widest of
// them reads it, since what it means too much is looked at once more than needed, and what it
// misses is read unseen.
type wide []wideWay

// wideWay is one reading of a pattern. Without an expression it means every file.
type wideWay struct {
	expr *regexp.Regexp
	head []string // the elements before the first that is a pattern, in lower case
	flat bool     // no more than ** and one element: it leads through no link
}

// everything is what a pattern means that is not understood.
func everything() wide { return wide{{}} }

// readWidely reads a pattern of paths that begin where a search begins, or, unless whole is
// set, one of which only the last element is known to count.
func readWidely(text string, whole bool) wide {
	texts := []string{text}
	if strings.Contains(text, `\`) {
		if strings.ContainsAny(text, "{}") || strings.Contains(text, `\\`) {
			return everything()
		}
		texts = []string{strings.ReplaceAll(text, `\`, "/"), strings.ReplaceAll(text, `\`, "")}
	}
	var out wide
	for _, text := range texts {
		ways, ok := widelyBraced(text)
		if !ok {
			return everything()
		}
		for _, way := range ways {
			w, ok := widely(way, whole)
			if !ok {
				return everything()
			}
			out = append(out, w)
		}
	}
	return out
}

// unsureBraces are those that programs read in several ways: after a dollar sign, without a
// comma, with a range, or in what may be a class.
var unsureBraces = regexp.MustCompile(`\$\{|\{[^,{}]*\}|\{[^{}]*\.\.|\[[^\]]*[{},]`)

// widelyBraced writes out the alternatives of a pattern. One of them is the pattern itself,
// for programs that know no braces.
func widelyBraced(text string) ([]string, bool) {
	if !strings.ContainsAny(text, "{}") {
		return []string{text}, true
	}
	if unsureBraces.MatchString(text) || strings.Contains(text, "(") {
		return nil, false
	}
	ways, err := pathglob.Braces(text)
	return append(ways, text), err == nil
}

// widely reads a pattern whose braces are written out.
func widely(text string, whole bool) (wideWay, bool) {
	var elems []string
	for elem := range strings.SplitSeq(text, "/") {
		switch elem {
		case "..":
			return wideWay{}, false // who knows where that leads
		case "", ".":
		default:
			elems = append(elems, elem)
		}
	}
	expr, ok := widePart(strings.Join(elems, "/"), 0)
	if !ok || len(elems) == 0 {
		return wideWay{}, false
	}
	begin := "^"
	w := wideWay{flat: len(elems) == 1 || len(elems) == 2 && elems[0] == "**"}
	if whole {
		for _, elem := range elems {
			if magicAt(elem) >= 0 {
				break
			}
			w.head = append(w.head, strings.ToLower(elem))
		}
	} else {
		begin = "(?:^|/)"
		if expr, ok = widePart(elems[len(elems)-1], 0); !ok {
			return wideWay{}, false
		}
	}
	var err error
	w.expr, err = regexp.Compile("(?is)" + begin + expr + "(?:/.*)?$")
	return w, err == nil
}

// magicAt is where a pattern stops to be plain text. Letter case beyond ASCII is told by each
// program in its own way, so that such a letter is a pattern as well.
func magicAt(text string) int {
	return strings.IndexFunc(text, func(r rune) bool { return r >= 0x80 || strings.ContainsRune("*?[{!@+(", r) })
}

// plainClass is a class that all programs end at the same place.
var plainClass = regexp.MustCompile(`^\[[!^]?[A-Za-z0-9_.,@ -]+\]`)

// mostNested bounds how deep extended forms may stand in each other, as each doubles the work.
const mostNested = 3

// widePart writes a part of a pattern as a regular expression. What may be a form of a
// pattern may be plain text as well.
func widePart(text string, depth int) (expr string, ok bool) {
	var out strings.Builder
	for i := 0; i < len(text); {
		rest := text[i:]
		c := rest[0]
		plain := regexp.QuoteMeta(rest[:1])
		switch {
		case c == '*':
			plain = ".*"
		case c == '?' || c >= 0x80:
			plain = ".?" // several of them may be one letter
		}
		switch {
		case strings.IndexByte("@+*?!", c) >= 0 && strings.HasPrefix(rest[1:], "("):
			inner, ok := inParens(rest[1:])
			form, known := wideForm(c, inner, depth+1)
			same, understood := widePart(inner, depth+1)
			if !ok || !known || !understood {
				return "", false
			}
			out.WriteString("(?:" + form + "|" + plain + `\(` + same + `\))`)
			i += len(inner) + 3
		case strings.HasPrefix(rest, "**/") && (i == 0 || text[i-1] == '/'):
			out.WriteString("(?:.*/)?")
			i += 3
		case c == '[':
			class := plainClass.FindString(rest)
			if class == "" {
				return "", false
			}
			out.WriteString("(?:.?|" + regexp.QuoteMeta(class) + ")")
			i += len(class)
		case c >= 0x80:
			out.WriteString(".*")
			i++
		default:
			out.WriteString(plain)
			i++
		}
	}
	return out.String(), true
}

// wideForm is an extended form, such as @(a|b).
func wideForm(kind byte, inner string, depth int) (expr string, ok bool) {
	if depth > mostNested || strings.ContainsAny(inner, "/[{}") {
		return "", false // where it ends depends on what is read first
	}
	if kind == '!' {
		return ".*", true
	}
	var parts []string
	from, open := 0, 0
	for i := 0; i <= len(inner); i++ {
		switch {
		case i == len(inner) || inner[i] == '|' && open == 0:
			part, ok := widePart(inner[from:i], depth)
			if !ok {
				return "", false
			}
			parts = append(parts, part)
			from = i + 1
		case inner[i] == '(':
			open++
		case inner[i] == ')':
			open--
		}
	}
	more := string(kind)
	if kind == '@' {
		more = ""
	}
	return "(?:" + strings.Join(parts, "|") + ")" + more, true
}

// inParens is what stands between a bracket and the one that closes it.
func inParens(text string) (inner string, ok bool) {
	open := 0
	for i := range len(text) {
		switch text[i] {
		case '(':
			open++
		case ')':
			if open--; open == 0 {
				return text[1:i], true
			}
		}
	}
	return "", false
}

// means reports whether a file is meant, or lies in a directory that is.
func (w wide) means(path string) bool {
	return slices.ContainsFunc(w, func(way wideWay) bool { return way.expr == nil || way.expr.MatchString(path) })
}

// leads reports whether something in a directory may be meant. A link to one is not always
// followed.
func (w wide) leads(dir string, link bool) bool {
	elems := strings.Split(strings.ToLower(dir), "/")
	return slices.ContainsFunc(w, func(way wideWay) bool {
		most := min(len(elems), len(way.head))
		return (!link || !way.flat) && slices.Equal(elems[:most], way.head[:most])
	})
}
