//go:build amd64 || arm64

package linux

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

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
		l.apart = set.Linked()
	} else {
		l.led = found.LedTo().Join(found.Missing())
		l.apart = fixedOf(found.Covers, set.Linked())
	}
	set.KeepApart(l.apart)
}

// fixedOf are the files that programs on the live files cannot write. Those that run already
// could write them by a further name, which was not there to be covered when they began.
func fixedOf(covers []sandbox.Cover, paths []string) []string {
	fixed := map[string]bool{}
	for _, c := range covers {
		fixed[c.Path] = fixed[c.Path] || c.Kind != sandbox.Pin
	}
	return slices.DeleteFunc(paths, func(path string) bool {
		for at := path; at != "/" && at != "."; at = filepath.Dir(at) {
			if fixed[at] {
				return false
			}
		}
		return true
	})
}

// keepLed is what is written down of it, with a layer that waits and with one that was
// applied.
func (l *layered) keepLed() ledRecord {
	rec := ledRecord{Unled: l.unled}
	for path, kind := range l.led.All() {
		rec.Led = append(rec.Led, ledPath{[]byte(path), kind})
	}
	for _, path := range l.apart {
		rec.Apart = append(rec.Apart, []byte(path))
	}
	return rec
}

func (l *layered) takeLed(rec ledRecord) {
	at := map[string]sandbox.CoverKind{}
	for _, p := range rec.Led {
		at[string(p.Path)] = p.Kind
	}
	l.led, l.unled = sandbox.LedToAll(at), rec.Unled
	for _, path := range rec.Apart {
		l.apart = append(l.apart, string(path))
	}
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
