package skill

import (
	"slices"
	"sync"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/lineage"
)

// session names a conversation: two people never share one.
type session struct{ subject, organisation, id string }

func sessionOf(c toolcrib.Caller) session { return session{c.Subject, c.Organisation, c.Session} }

// The bounds of what is remembered. What is forgotten only tightened.
const (
	maxSessions = 4096
	maxActive   = 32
)

// active is which skills the sessions follow, in the order in which they began. It
// is kept in memory: a session ends with its program.
type active struct {
	mu    sync.Mutex
	of    map[session][]Skill
	order []session // the oldest first
}

func (a *active) set(c toolcrib.Caller, s Skill) {
	key := sessionOf(c)
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.of == nil {
		a.of = map[session][]Skill{}
	}
	list, known := a.of[key]
	if !known {
		if a.order = append(a.order, key); len(a.order) > maxSessions {
			delete(a.of, a.order[0])
			a.order = slices.Delete(a.order, 0, 1)
		}
	}
	list = slices.DeleteFunc(slices.Clone(list), func(other Skill) bool { return other.Name == s.Name })
	if list = append(list, s); len(list) > maxActive {
		list = list[1:]
	}
	a.of[key] = list
}

// end reports whether the session followed it.
func (a *active) end(c toolcrib.Caller, name string) bool {
	key := sessionOf(c)
	a.mu.Lock()
	defer a.mu.Unlock()
	before := len(a.of[key])
	if before == 0 {
		return false
	}
	a.of[key] = slices.DeleteFunc(slices.Clone(a.of[key]), func(s Skill) bool { return s.Name == name })
	return len(a.of[key]) < before
}

// Active are the skills that a session follows. One that works for another follows those
// of that one too: else it would be put to work to get around them.
func (b *Box) Active(c toolcrib.Caller) []Skill {
	b.active.mu.Lock()
	defer b.active.mu.Unlock()
	list := slices.Clone(b.active.of[sessionOf(c)])
	if lineage.Delegate(c.Agent) {
		c.Agent, c.Session = lineage.Root(c.Agent), lineage.Root(c.Session)
		list = append(list, b.active.of[sessionOf(c)]...)
	}
	return list
}
