//go:build amd64 || arm64

package linux

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/difference"
	"github.com/toolcrib/toolcrib/internal/durable"
	"github.com/toolcrib/toolcrib/internal/plainfile"
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

// keepLed is what is written down of it, with a layer that waits and with one that was
// applied.
func (l *layered) keepLed() ledRecord {
	rec := ledRecord{Unled: l.unled}
	for path, kind := range l.led.All() {
		rec.Led = append(rec.Led, ledPath{[]byte(path), kind})
	}
	return rec
}

func (l *layered) takeLed(rec ledRecord) {
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

// ledName is the file beside the record of an applied layer that has it. There is none
// if there was nothing.
const ledName = "led.json"

func (l *layered) writeLed() error {
	rec := l.keepLed()
	if len(rec.Led) == 0 && rec.Unled == "" {
		return nil
	}
	text, err := json.Marshal(rec)
	if err != nil {
		return err
	}
	return durable.Replace(filepath.Join(l.dir, ledName), text, 0o600)
}

// readLed gives a layer that has nothing but that.
func readLed(dir string) (*layered, error) {
	l, rec := &layered{}, ledRecord{}
	text, err := plainfile.Read(filepath.Join(dir, ledName), maxRecord)
	if err == nil {
		err = json.Unmarshal(text, &rec)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("reading what others obeyed when the command had ended: %w", err)
	}
	l.takeLed(rec)
	return l, nil
}
