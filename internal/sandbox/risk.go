package sandbox

import (
	"fmt"
	"strings"

	"github.com/toolcrib/toolcrib"
)

// Risk is how much harm a call could do. The zero value means that nobody
// rated it, and counts as the highest.
type Risk uint8

// The risks, from the table of the design.
const (
	Unrated Risk = iota
	Low
	Medium
	High
	Critical
)

func riskNames() []string { return []string{"unrated", "low", "medium", "high", "critical"} }

// String is the name.
func (r Risk) String() string {
	if int(r) < len(riskNames()) {
		return riskNames()[r]
	}
	return fmt.Sprintf("risk %d", uint8(r))
}

// MarshalText writes the name.
func (r Risk) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads a name and refuses others.
func (r *Risk) UnmarshalText(text []byte) error {
	for i, name := range riskNames() {
		if string(text) == name {
			*r = Risk(i)
			return nil
		}
	}
	return fmt.Errorf("unknown risk %q: want one of %s", text, strings.Join(riskNames(), ", "))
}

// rated resolves what was not rated.
func (r Risk) rated() Risk {
	if r == Unrated || r > Critical {
		return Critical
	}
	return r
}

// RiskOf rates a call by its effects, never by a name: a name promises nothing.
// The effects are those that a tool declared, less what a guard that understood
// the command knows not to happen.
func RiskOf(effects toolcrib.Effects) Risk {
	risk, _ := rate(effects)
	return risk
}

// rate gives the reason too.
func rate(effects toolcrib.Effects) (Risk, string) {
	all := effects.All()
	switch {
	case effects == 0:
		return Critical, "it declares no effects, which counts as all of them"
	case all&toolcrib.Runs != 0 && all&toolcrib.Destroys != 0:
		return Critical, "it runs programs that may destroy what cannot be got back"
	case all&^toolcrib.AsksPerson == toolcrib.Runs|toolcrib.Reads:
		return Medium, "it runs programs that only read"
	case all&toolcrib.Runs != 0:
		return High, "it runs programs"
	case all&toolcrib.Destroys != 0:
		return High, "it destroys what cannot be got back"
	case all&toolcrib.UsesSecrets != 0 && all&toolcrib.Network != 0:
		return High, "it has secrets and talks to other machines"
	case all&(toolcrib.Writes|toolcrib.Network|toolcrib.UsesSecrets) != 0:
		return Medium, "it " + effectsPhrase(all)
	}
	return Low, "it changes nothing and runs nothing"
}

func effectsPhrase(e toolcrib.Effects) string {
	var parts []string
	for _, p := range []struct {
		effect toolcrib.Effects
		words  string
	}{{toolcrib.Writes, "writes"}, {toolcrib.Network, "talks to other machines"}, {toolcrib.UsesSecrets, "uses secrets"}} {
		if e&p.effect != 0 {
			parts = append(parts, p.words)
		}
	}
	return strings.Join(parts, " and ")
}

// demand is what a risk asks of a backend.
type demand struct {
	strength Strength
	bounds   toolcrib.Bounds
}

// demands is the table of risks: what is the weakest place for a program of
// this risk, and what must hold there.
func demands(r Risk) demand {
	const isolation = toolcrib.BoundFiles | toolcrib.BoundNetwork | toolcrib.BoundTime
	switch r.rated() {
	case Low:
		return demand{Nothing, 0}
	case Medium:
		return demand{Process, 0}
	case High:
		return demand{Isolated, isolation}
	}
	return demand{Isolated, isolation | toolcrib.BoundMemory | toolcrib.BoundProcesses}
}
