package policy

import (
	"fmt"
	"strings"

	"github.com/toolcrib/toolcrib"
)

// Mode says when a person is asked. The modes are ordered: each lets everything
// pass that the one before it lets pass, so the stricter of two is the smaller.
// The zero value is the strictest.
type Mode uint8

// The modes.
const (
	ModePlan     Mode = iota // nothing but looking; the rest is denied, whatever a rule says
	ModeDefault              // looking is allowed, everything else asks
	ModeAutoEdit             // changing files is allowed too
	ModeYolo                 // everything but the floor
)

func (m Mode) String() string {
	if m > ModeYolo {
		return fmt.Sprintf("mode(%d)", uint8(m))
	}
	return [...]string{"plan", "default", "auto-edit", "yolo"}[m]
}

// MarshalText writes the word.
func (m Mode) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText reads a mode by the words of [ParseMode].
func (m *Mode) UnmarshalText(text []byte) error {
	var err error
	*m, err = ParseMode(string(text))
	return err
}

// ParseMode reads a mode, also by the short words people type: safe for
// default, auto for auto-edit. Anything else is plan, and an error.
func ParseMode(text string) (Mode, error) {
	switch strings.TrimSpace(text) {
	case "plan":
		return ModePlan, nil
	case "default", "safe":
		return ModeDefault, nil
	case "auto-edit", "auto":
		return ModeAutoEdit, nil
	case "yolo":
		return ModeYolo, nil
	}
	return ModePlan, fmt.Errorf("unknown mode %q: want default, auto-edit, plan or yolo", clip(text))
}

// editing is what a tool that changes files does, and nothing else.
const editing = lookOnly | toolcrib.Writes | toolcrib.Destroys

// verdict is what the mode by itself says to a tool with these effects. A tool
// gets no handles beyond what it declares, so the declaration can be gone by.
func (m Mode) verdict(e toolcrib.Effects) (toolcrib.Decision, string) {
	switch {
	case e.Within(lookOnly):
		return toolcrib.Allow, "it only looks"
	case m == ModePlan:
		return toolcrib.Deny, "the mode is plan, in which nothing is done but looking, and this may do more (" + e.String() + "); say what you would do, and let the person change the mode"
	case m == ModeAutoEdit && e.Within(editing):
		return toolcrib.Allow, "the mode is auto-edit, and it changes files only"
	case m == ModeYolo:
		return toolcrib.Allow, "the mode is yolo"
	case m > ModeYolo:
		return toolcrib.Deny, "the mode is not known"
	}
	return toolcrib.Ask, "it can do more than read (" + e.String() + "), and the mode " + m.String() + " asks a person first"
}
