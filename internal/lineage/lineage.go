// Package lineage is the part of the ground floor that knows who works for whom. An
// agent that another one has put to work is named by both, "lead/helper", and its
// session by both sessions; the empty name is an agent without a preset.
//
// Every package may import it. It decides nothing: who judges such a call judges it
// once for every name in it, so that a delegate never has more than each of them.
//
// Its invariant: a name that a person gives in the settings has no [Sign] in it, so
// that only the program itself makes a lineage.
package lineage

import "strings"

// Sign stands between those who work for each other.
const Sign = "/"

// Names gives the agents of a lineage, the first of whom the others work for. One
// without a sign is itself.
func Names(agent string) []string { return strings.Split(agent, Sign) }

// Delegate reports whether an agent works for another one.
func Delegate(agent string) bool { return strings.Contains(agent, Sign) }

// Under names an agent, or a session, that works for another.
func Under(lead, name string) string { return lead + Sign + name }

// Root is the agent, or the session, that the others of a lineage work for.
func Root(of string) string {
	root, _, _ := strings.Cut(of, Sign)
	return root
}
