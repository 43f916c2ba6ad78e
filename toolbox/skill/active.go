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

func (s session) caller() toolcrib.Caller {
	return toolcrib.Caller{Subject: s.subject, Organisation: s.organisation, Session: s.id}
}

// The bounds of what is remembered. What is forgotten only tightened.
const (
	maxSessions = 4096
	maxActive   = 32
)

// inUse is a skill that a session uses. One whose text was only read is not followed: what
// it says of tools does not count, and commands see it all the same.
type inUse struct {
	Skill
	by       session
	followed bool
}

// active is which skills the sessions use, in the order in which they began. It
// is kept in memory: a session ends with its program.
type active struct {
	mu    sync.Mutex
	of    map[session][]inUse
	order []session // the oldest first
	// ended is called for each skill that a session no longer uses. Nil: nobody wants to know.
	ended func(c toolcrib.Caller, skill string)
}

func (a *active) set(c toolcrib.Caller, s Skill, followed bool) {
	var gone []func()
	defer func() {
		for _, tell := range gone {
			tell()
		}
	}()
	key := sessionOf(c)
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.of == nil {
		a.of = map[session][]inUse{}
	}
	forget := func(of session, list []inUse) {
		for _, s := range list {
			gone = append(gone, func() { a.tell(of, s.Name) })
		}
	}
	list, known := a.of[key]
	if !known {
		if a.order = append(a.order, key); len(a.order) > maxSessions {
			forget(a.order[0], a.of[a.order[0]])
			delete(a.of, a.order[0])
			a.order = slices.Delete(a.order, 0, 1)
		}
	}
	same := func(other inUse) bool { return other.Name == s.Name }
	if i := slices.IndexFunc(list, same); i >= 0 {
		followed = followed || list[i].followed // reading on does not end it
	}
	list = slices.DeleteFunc(slices.Clone(list), same)
	if list = append(list, inUse{s, key, followed}); len(list) > maxActive {
		forget(key, list[:1])
		list = list[1:]
	}
	a.of[key] = list
}

// tell says that a session no longer uses a skill. No lock is held.
func (a *active) tell(of session, skill string) {
	if a.ended != nil {
		a.ended(of.caller(), skill)
	}
}

// end reports whether the session used it.
func (a *active) end(c toolcrib.Caller, name string) bool {
	key := sessionOf(c)
	a.mu.Lock()
	list := a.of[key]
	left := slices.DeleteFunc(slices.Clone(list), func(s inUse) bool { return s.Name == name })
	if len(list) > 0 {
		a.of[key] = left
	}
	a.mu.Unlock()
	if len(left) == len(list) {
		return false
	}
	a.tell(key, name)
	return true
}

// Active are the skills that a session follows. One that works for another follows those
// of that one too: else it would be put to work to get around them.
func (b *Box) Active(c toolcrib.Caller) []Skill {
	var list []Skill
	for _, u := range b.active.list(c) {
		if u.followed {
			list = append(list, u.Skill)
		}
	}
	return list
}

// list are the skills that a session uses, its own first, and those of whom it works for.
func (a *active) list(c toolcrib.Caller) []inUse {
	a.mu.Lock()
	defer a.mu.Unlock()
	list := slices.Clone(a.of[sessionOf(c)])
	if lineage.Delegate(c.Agent) {
		c.Agent, c.Session = lineage.Root(c.Agent), lineage.Root(c.Session)
		list = append(list, a.of[sessionOf(c)]...)
	}
	return list
}
