//go:build amd64 || arm64

package linux

import (
	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/difference"
	"github.com/toolcrib/toolcrib/internal/sandbox/layer"
)

// lookForLed finds what others obey because links and settings lead them there. It is
// looked for when the program has ended: nothing of what it did is in the live directories
// yet, and a person may have led others elsewhere meanwhile.
func (l *layered) lookForLed(set *layer.Set) error {
	if set.Empty() || l.look == nil {
		return nil
	}
	found, err := l.look()
	if err != nil {
		return err
	}
	l.led = found.LedTo().Join(found.Missing())
	return nil
}

// judgeLed has a person asked about changes of that, in every mode.
func (l *layered) judgeLed(list []toolcrib.Change) []toolcrib.Change {
	for i := range list {
		if why := l.led.Why(list[i].Path); why != "" {
			list[i].Led = &toolcrib.Verdict{Decision: toolcrib.Ask, Guard: "obeyed", Rule: "floor", Reason: difference.Path(list[i].Path) + ": " + why}
		}
	}
	return list
}
