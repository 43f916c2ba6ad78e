//go:build amd64 || arm64

package linux

import (
	"cmp"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/difference"
	"github.com/toolcrib/toolcrib/internal/sandbox"
	"github.com/toolcrib/toolcrib/internal/sandbox/layer"
)

// lookForLed finds what others obey because links and settings lead them there. It is
// looked for when the program has ended: nothing of what it did is in the live directories
// yet, and a person may have led others elsewhere meanwhile.
//
// If it cannot be known, a person is asked about every change.
func (l *layered) lookForLed(set *layer.Set) {
	if set.Empty() || l.look == nil {
		return
	}
	found, err := l.look()
	if err != nil {
		l.unled = "it is not known whether links or settings lead other programs there: " + err.Error()
		return
	}
	l.led = found.LedTo().Join(found.Missing())
}

// keepLed writes it down with a layer that waits.
func (l *layered) keepLed(rec *keptRecord) {
	rec.Unled = l.unled
	for path, kind := range l.led.All() {
		rec.Led = append(rec.Led, ledPath{[]byte(path), kind})
	}
}

func (l *layered) takeLed(rec *keptRecord) {
	at := map[string]sandbox.CoverKind{}
	for _, p := range rec.Led {
		at[string(p.Path)] = p.Kind
	}
	l.led, l.unled = sandbox.LedToAll(at), rec.Unled
}

// judgeLed has a person asked about changes of that, in every mode.
func (l *layered) judgeLed(list []toolcrib.Change) []toolcrib.Change {
	for i := range list {
		if why := cmp.Or(l.unled, l.led.Why(list[i].Path)); why != "" {
			list[i].Led = &toolcrib.Verdict{Decision: toolcrib.Ask, Guard: "obeyed", Rule: "floor", Reason: difference.Path(list[i].Path) + ": " + why}
		}
	}
	return list
}
