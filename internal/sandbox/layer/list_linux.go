package layer

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/toolcrib/toolcrib/internal/difference"
)

// shownList are changes that are shown to a person.
type shownList struct {
	changes []Change
	ignored *ignored
	root    func(Change) string             // the live tree
	after   func(Change) (root, rel string) // where the content after the change lies
}

// The bounds on what is listed in a question, in bytes of lines.
const (
	maxDeletedLines = 80 << 10
	maxOtherLines   = 12 << 10 // of each other kind
)

// lines lists the changes: every deletion, except that what Git ignores is a line for
// each tree. If that is too long, a directory that is deleted with all that is in it is
// one line. What is left out even then is counted, and whole says where it can be read.
func (l *shownList) lines(whole func(*shownList) string) string {
	var out strings.Builder
	cut := false
	for _, kind := range []Kind{Deleted, Changed, Created} {
		most := maxOtherLines
		if kind == Deleted {
			most = maxDeletedLines
		}
		list := l.grouped(kind, func(c Change) string { return l.ignoredBy(c) })
		if kind == Deleted && sizeOf(list) > most {
			list = l.grouped(kind, l.deletedWith())
		}
		text, left := within(list, most)
		out.WriteString(text)
		switch {
		case left > 0 && kind == Deleted:
			fmt.Fprintf(&out, "deleted: %d more that are not listed here. Look at them before you answer.\n", left)
		case left > 0:
			fmt.Fprintf(&out, "%s: %d more that are not listed here.\n", kind, left)
		}
		cut = cut || left > 0
	}
	if cut {
		out.WriteString(whole(l) + "\n")
	}
	return out.String()
}

// all writes a line for each change.
func (l *shownList) all(w io.Writer) error {
	out := bufio.NewWriter(w)
	for _, kind := range []Kind{Deleted, Changed, Created} {
		for _, c := range l.changes {
			if c.Kind == kind {
				_, _ = fmt.Fprintf(out, "%s %s%s\n", c.Kind, difference.Path(c.Path), c.detail()) // Flush tells
			}
		}
	}
	return out.Flush()
}

// row is a line of a list, which stands for one change or for several.
type row struct {
	text  string
	top   string // what they have in common; empty: it is one change
	loose bool   // they lie in different directories
	files int
	size  int64
}

// grouped lists the changes of a kind. Those that have a directory in common are one row.
func (l *shownList) grouped(kind Kind, common func(Change) string) []row {
	var rows []row
	at := map[string]int{}
	for _, c := range l.changes {
		if c.Kind != kind {
			continue
		}
		top := common(c)
		key, loose := top, top == c.Path && !c.dir()
		if loose {
			key = "loose"
		}
		i, known := at[key]
		if top == "" || !known {
			if i = len(rows); top != "" {
				at[key] = i
			}
			rows = append(rows, row{text: fmt.Sprintf("%s %s%s\n", c.Kind, difference.Path(c.Path), c.detail()), top: top, loose: loose})
		}
		if !c.dir() {
			rows[i].files++
			rows[i].size += max(c.Before.Size, c.After.Size)
		}
	}
	for i := range rows {
		r := &rows[i]
		switch {
		case r.top == "" || r.files <= 1 && r.loose:
		case r.loose:
			r.text = fmt.Sprintf("%s %d files that Git ignores, such as %s (%s)\n", kind, r.files, difference.Path(r.top), bytesOf(r.size))
		case l.ignored.top(r.top, true) != "":
			r.text = fmt.Sprintf("%s %s (ignored by Git: %d files, %s)\n", kind, difference.Path(r.top), r.files, bytesOf(r.size))
		default:
			r.text = fmt.Sprintf("%s %s (the directory with everything in it: %d files, %s)\n", kind, difference.Path(r.top), r.files, bytesOf(r.size))
		}
	}
	return rows
}

// ignoredBy is what a change has in common with others that Git ignores.
func (l *shownList) ignoredBy(c Change) string { return l.ignored.top(c.Path, c.dir()) }

// deletedWith gives the outermost directory that is deleted with everything in it.
func (l *shownList) deletedWith() func(Change) string {
	inside := ""
	return func(c Change) string {
		if top := l.ignoredBy(c); top != "" {
			return top
		}
		if inside != "" && strings.HasPrefix(c.Path, inside+"/") {
			return inside
		}
		inside = ""
		if c.dir() {
			inside = c.Path
		}
		return inside
	}
}

// dir tells whether a change is about a directory.
func (c *Change) dir() bool {
	return c.After.Mode.IsDir() || !c.After.Exists() && c.Before.Mode.IsDir()
}

func sizeOf(rows []row) (n int) {
	for _, r := range rows {
		n += len(r.text)
	}
	return n
}

// within are the rows that there is room for, and how many changes of files the others
// stand for.
func within(rows []row, most int) (text string, left int) {
	var out strings.Builder
	for _, r := range rows {
		if left > 0 || out.Len()+len(r.text) > most {
			left += max(r.files, 1)
			continue
		}
		out.WriteString(r.text)
	}
	return out.String(), left
}
