package voice

import (
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/desk"
	"github.com/toolcrib/toolcrib/internal/spoken"
)

// Spoken says what a spoken yes may allow. The zero value is nothing: a bus does not
// tell who speaks, and every program on it can say that somebody did.
type Spoken int

// The levels.
const (
	// Off asks nobody aloud.
	Off Spoken = iota
	// Harmless is what reads, writes what can be undone or uses the network, says so
	// itself, and is asked about because of a mode or a rule, and not because a guard
	// suspects something.
	Harmless
	// All is programs, deleting and what does not say what it does besides. What is
	// asked about every time, and what has hidden parts, stays at the desk.
	All
)

// takes reports whether a spoken yes may answer a question.
func (s Spoken) takes(q *desk.Question) bool {
	if s == Off || q.Text != "" || q.Floor || q.Unseen {
		return false
	}
	if s == All {
		return true
	}
	if q.Effects == 0 || !q.Effects.Within(toolcrib.Reads|toolcrib.Writes|toolcrib.Network) || len(q.Changed) > 0 || q.Replaces != "" {
		return false
	}
	for _, v := range q.Reasons {
		if v.Decision == toolcrib.Ask && v.Guard != "mode" && v.Guard != "rules" && v.Guard != "default" && v.Guard != "effects" {
			return false
		}
	}
	return true
}

// questionOf says what a call would do, by what it can do and nothing else: names and
// arguments come from a model, a server or a page, and could talk a person into a yes.
func questionOf(q *desk.Question) []spoken.Key {
	if q.Effects == 0 {
		return []spoken.Key{spoken.MayAnything}
	}
	can := q.Effects.All()
	var said []spoken.Key
	if can&toolcrib.Network != 0 && can&(toolcrib.Runs|toolcrib.Destroys|toolcrib.Writes|toolcrib.UsesSecrets) != 0 {
		said = append(said, spoken.AlsoReaches)
	}
	switch {
	case can&toolcrib.Runs != 0:
		if can&toolcrib.Destroys != 0 {
			said = append(said, spoken.AlsoDeletes)
		}
		return append(said, spoken.MayRun)
	case can&toolcrib.Destroys != 0:
		return append(said, spoken.MayDelete)
	case can&toolcrib.Writes != 0:
		return append(said, spoken.MayWrite)
	case can&toolcrib.UsesSecrets != 0:
		return append(said, spoken.MayUnlock)
	case can&toolcrib.Network != 0:
		return append(said, spoken.MayReach)
	case can&toolcrib.Reads != 0:
		return append(said, spoken.MayLook)
	}
	return append(said, spoken.MayDo)
}

// inWords says sentences of the table one after the other.
func inWords(lang string, keys ...spoken.Key) string {
	var said []string
	for _, k := range keys {
		said = append(said, spoken.Say(lang, k))
	}
	return strings.Join(said, " ")
}
