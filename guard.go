package toolcrib

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/toolcrib/toolcrib/files"
)

// Decision is what a guard or a person says to a call. The zero value denies.
type Decision uint8

// The decisions, strictest first: of several the smallest wins.
const (
	Deny Decision = iota
	Ask
	Allow
)

func (d Decision) String() string {
	switch d {
	case Deny:
		return "deny"
	case Ask:
		return "ask"
	case Allow:
		return "allow"
	}
	return fmt.Sprintf("decision(%d)", uint8(d))
}

// MarshalText writes the word.
func (d Decision) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads the word; anything else denies and is an error.
func (d *Decision) UnmarshalText(text []byte) error {
	for _, known := range []Decision{Deny, Ask, Allow} {
		if string(text) == known.String() {
			*d = known
			return nil
		}
	}
	*d = Deny
	return fmt.Errorf("unknown decision %q: want deny, ask or allow", text)
}

// Guard judges a call that fits its contract, or is somebody else's to check. It says nothing (nil), or gives
// a verdict; an error denies. Guards are asked in no particular order and all
// of them are asked, so a guard must not depend on another.
type Guard interface {
	Judge(ctx context.Context, r Review) (*Verdict, error)
}

// Review is what a guard gets to see: the call, the native contract and the
// native input, whatever name or dialect the caller used.
type Review struct {
	Call  Call
	Spec  Entry
	Input json.RawMessage
	// Unfit: what of the input does not fit the schema of a foreign tool, which gets
	// it all the same and may read it otherwise than the guard. No value is in it.
	Unfit []FieldError
	// Replay: the call was made before, and is answered from its record if it
	// may be. Nothing runs.
	Replay bool

	// ProgramAllowed: a program made this change on its layer, and a rule or a person has
	// allowed the program. The mode has then no further question about the change.
	ProgramAllowed bool
	// Change: the call stands for this, which a program did on its layer; nil for any other.
	Change *Change

	ways *files.Judged // shared by all who judge the call; see Where
}

// Verdict is a guard's word on a call.
type Verdict struct {
	Decision Decision `json:"decision"`
	Guard    string   `json:"guard"`            // which guard
	Rule     string   `json:"rule,omitempty"`   // which of its rules
	Reason   string   `json:"reason,omitempty"` // several stand one to a line
	// Note: it decides nothing. It is recorded, and shown to a person who is asked for other reasons.
	Note bool `json:"note,omitempty"`
	// Unseen: what the call names may not be looked at unasked, so that a person is asked also if the call would fail: why tells of it.
	Unseen bool `json:"-"`
	// Grant narrows what the call may touch; nil leaves it as it is. Unasked does
	// so if the call is made without a person being asked.
	Grant   *Grant `json:"-"`
	Unasked *Grant `json:"-"`
	// ChangesUnjudged allows a program to run on a layer, and says nothing about what it
	// changes there. Otherwise the guard that allows a program by its name also allows
	// what such a program ordinarily changes.
	ChangesUnjudged bool `json:"-"`
	// Effects is what this call can do as far as the guard understood its
	// input, such as a command line that only reads. It picks the sandbox. Zero:
	// whatever the tool declares.
	Effects Effects `json:"effects,omitempty"`
}

// AllowEffects is the smallest useful guard: it allows a tool whose declared effects are all among
// the given ones and has no opinion on any other, so that a crib with this guard alone refuses the rest.
func AllowEffects(allowed Effects) Guard { return effectsGuard(allowed) }

type effectsGuard Effects

func (g effectsGuard) Judge(_ context.Context, r Review) (*Verdict, error) {
	if !r.Spec.Effects.Within(Effects(g)) {
		return nil, nil
	}
	return &Verdict{Decision: Allow, Guard: "effects", Reason: "all its declared effects are allowed"}, nil
}

// Where gives the place that a path of the input leads to. The first guard that
// wants to know has it found; everyone who judges this call later gets the same
// answer, and the call's files open nothing else under this name. So a link
// that is changed meanwhile leads nobody past what was judged. A place that
// could not be found is not opened at all.
func (r Review) Where(path string, find func() (files.Place, error)) (files.Place, error) {
	return r.ways.Where(path, find)
}
