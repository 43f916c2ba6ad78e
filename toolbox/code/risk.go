package code

import (
	"fmt"
	"strings"
)

// Risk is how much harm code could do if it got out of its sandbox. A table of the settings says where code of each risk runs.
// The zero value is that nobody rated it, and counts as the lowest that a call itself has.
type Risk uint8

// The risks, by the names that sandboxes have for them.
const (
	Unrated Risk = iota
	Low
	Medium
	High
	Critical
)

func riskNames() []string { return []string{"", "low", "medium", "high", "critical"} }

// String is the name.
func (r Risk) String() string {
	if int(r) < len(riskNames()) {
		return riskNames()[r]
	}
	return fmt.Sprintf("risk %d", uint8(r))
}

// ParseRisk reads a name.
func ParseRisk(name string) (Risk, error) {
	for i, known := range riskNames() {
		if name == known {
			return Risk(i), nil
		}
	}
	return Critical, fmt.Errorf("unknown risk %q: want one of %s", name, strings.Join(riskNames()[1:], ", "))
}

// riskOf rates a call: code that gets files of the project has something to lose, other code has not. What the person set is the
// least.
func (c Config) riskOf(files int) Risk {
	if files > 0 {
		return max(c.Risk, Medium)
	}
	return max(c.Risk, Low)
}
