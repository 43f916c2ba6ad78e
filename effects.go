package toolcrib

import (
	"fmt"
	"strings"
)

// Effects says what a tool may do to the world. It is a declaration of the
// tool's author that guards judge by; the zero value means nothing was
// declared and counts as everything.
type Effects uint16

// The effects. Pure is the explicit word for none.
const (
	Pure        Effects = 1 << iota // computes from its input alone
	Reads                           // looks at files, clocks, devices, accounts
	Writes                          // changes something that can be changed back
	Destroys                        // removes or overwrites what cannot be got back
	Runs                            // starts programs
	Network                         // talks to other machines
	AsksPerson                      // waits on a person
	UsesSecrets                     // uses credentials

	allEffects = Reads | Writes | Destroys | Runs | Network | AsksPerson | UsesSecrets
)

// All resolves the declaration: undeclared is every effect, Pure is none.
func (e Effects) All() Effects {
	if e == 0 {
		return allEffects
	}
	return e &^ Pure
}

// Within reports whether everything e may do is among allowed.
func (e Effects) Within(allowed Effects) bool { return e.All()&^allowed == 0 }

// ReadOnly reports whether e changes nothing here or elsewhere.
func (e Effects) ReadOnly() bool { return e.Within(Reads | Network | AsksPerson | UsesSecrets) }

func effectNames() []string {
	return []string{"pure", "reads", "writes", "destroys", "runs", "network", "asks", "secrets"}
}

// String lists the effects by name, "undeclared" for none declared.
func (e Effects) String() string {
	if e == 0 {
		return "undeclared"
	}
	var parts []string
	for i, name := range effectNames() {
		if e&(1<<i) != 0 {
			parts = append(parts, name)
		}
	}
	return strings.Join(parts, ",")
}

// MarshalText writes the names, so that JSON and YAML stay readable.
func (e Effects) MarshalText() ([]byte, error) { return []byte(e.String()), nil }

// UnmarshalText reads what MarshalText wrote and refuses unknown words:
// a misspelt effect must not silently become a harmless one.
func (e *Effects) UnmarshalText(text []byte) error {
	*e = 0
	if s := string(text); s == "" || s == "undeclared" {
		return nil
	}
next:
	for part := range strings.SplitSeq(string(text), ",") {
		part = strings.TrimSpace(part)
		for i, name := range effectNames() {
			if part == name {
				*e |= 1 << i
				continue next
			}
		}
		return fmt.Errorf("unknown effect %q: want one of %s", part, strings.Join(effectNames(), ", "))
	}
	return nil
}
