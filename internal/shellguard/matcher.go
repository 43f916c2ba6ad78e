package shellguard

import (
	"slices"
	"strings"
)

// Matcher holds patterns of commands against one line. What is expensive to find
// out is found out once.
type Matcher struct {
	Line *Line

	listed       bool
	mentioned    []mention // the words of the line that may be programs
	allMentioned bool      // mentioned is all of them
}

// Match says how sure it is that a pattern means the line: one program of it is
// enough.
func (m *Matcher) Match(pattern *Pattern) Certainty {
	l := m.Line
	c := No
	for i := range l.Programs {
		c = max(c, pattern.may(&l.Programs[i]))
	}
	if l.plain != nil {
		for i := range l.plain.Programs {
			c = max(c, min(Maybe, pattern.may(&l.plain.Programs[i])))
		}
	}
	if c == No && l.possible != nil {
		for i := range l.possible.Programs {
			if q := &l.possible.Programs[i]; q.filled || pattern.meansProgram(q) && !obscure(q) {
				c = max(c, min(Maybe, pattern.may(q)))
			}
		}
	}
	if l.unread() || l.hidesSome() || c == No && (pattern.mentioned(m.mentions()) || !m.allMentioned) {
		c = max(c, Maybe)
	}
	return c
}

// Names lists the names by which patterns can mean the line, see
// [Pattern.Programs]. False: it may be any.
func (m *Matcher) Names() (names []string, known bool) {
	l := m.Line
	if l.unread() || l.hidesSome() {
		return nil, false
	}
	programs := l.Programs
	if slices.ContainsFunc(programs, func(p Program) bool { return obscure(&p) || p.filled || hides(&p) }) {
		return nil, false
	}
	if l.plain != nil {
		programs = slices.Concat(programs, l.plain.Programs)
	}
	if l.possible != nil {
		if slices.ContainsFunc(l.possible.Programs, func(p Program) bool { return p.filled }) {
			return nil, false
		}
		programs = slices.Concat(programs, l.possible.Programs)
	}
	rows := m.mentions()
	if !m.allMentioned {
		return nil, false
	}
	for _, row := range rows {
		for i, word := range row.words {
			if strings.ContainsAny(word, "*?[") {
				return nil, false
			}
			name := programName(word)
			names = append(names, name, UsualName(name))
			if readsOther(name) {
				for _, w := range row.ways(i) {
					names = append(names, w.name)
				}
			}
		}
	}
	for i := range programs {
		for _, r := range programs[i].readings(programs[i].Args) {
			names = append(names, r.name)
		}
	}
	return names, true
}

func (m *Matcher) mentions() []mention {
	if !m.listed {
		m.listed = true
		m.mentioned, m.allMentioned = m.Line.mentions()
	}
	return m.mentioned
}
