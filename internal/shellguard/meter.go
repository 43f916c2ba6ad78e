package shellguard

import "strings"

// A short line can name values that double with each assignment, and words that are
// read again at every level of a pipe. Two bounds hold for all of it: how long the
// text of one variable or word is followed, and how much one judgement may do.

// maxText bounds the text of one variable, and what expansions add to one word. A
// longer one may be any text.
const maxText = 16 << 10

// maxWork bounds the work of one judgement: the bytes of the words that it looks at,
// and of those that it puts together. The longest of the lines that people and agents
// really write takes a thousandth of it.
const maxWork = 4 << 20

// perWord is what a word costs, however short it is.
const perWord = 16

// meter counts the work of one judgement. All readings of a line share one. The zero
// value has no work left; nil is for the few words of a rule, and has no end.
type meter struct{ left int }

// spend takes work off the meter and reports whether there was enough left.
func (m *meter) spend(n int) bool {
	if m == nil {
		return true
	}
	m.left -= n
	return m.left >= 0
}

func (m *meter) empty() bool { return m != nil && m.left < 0 }

// total is the length of all the texts together.
func total(texts []string) (n int) {
	for _, t := range texts {
		n += len(t)
	}
	return n
}

// widensText: a format of printf has a width or a precision that makes more of its
// arguments than they are.
func widensText(format string) bool {
	for {
		_, rest, found := strings.Cut(format, "%")
		if !found {
			return false
		}
		spec := rest[:len(rest)-len(strings.TrimLeft(rest, "-+ #0123456789.*'"))]
		if len(spec) > 3 || strings.Contains(spec, "*") {
			return true
		}
		format = rest[len(spec):]
		format = strings.TrimPrefix(format, "%") // of %%
	}
}
