package adopt

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/toolcrib/toolcrib/internal/durable"
	"github.com/toolcrib/toolcrib/internal/plainfile"
)

// record says what was changed, so that it can be put back. It is on the disk
// before the first change.
type record struct {
	At      time.Time    `json:"at"`
	Files   []recordFile `json:"files"`
	Service bool         `json:"service"` // the service was installed by adopt
}

type recordFile struct {
	File   string      `json:"file"`
	Kind   string      `json:"kind"`
	There  bool        `json:"there"` // it was there before
	Mode   fs.FileMode `json:"mode"`
	Before []byte      `json:"before"`       // as it was
	After  string      `json:"after_sha256"` // as it was made
	Was    string      `json:"was,omitempty"`
	Python string      `json:"python,omitempty"`
	Item   bool        `json:"item,omitempty"`
	Agent  string      `json:"agent,omitempty"`
}

func dirOf(state string) string { return filepath.Join(state, "adopt") }

func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Adopted reports whether there is something to undo, and whether the service was
// installed with it.
func Adopted(state string) (is, service bool, err error) {
	r, err := readRecord(state)
	if err != nil || r == nil {
		return false, false, err
	}
	return true, r.Service, nil
}

func readRecord(state string) (*record, error) {
	file := filepath.Join(dirOf(state), "record.json")
	text, err := plainfile.Begin(file, 8<<20)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var r record
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w", file, err)
	}
	return &r, nil
}

func (r *record) write(state string) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return durable.ReplaceLocked(filepath.Join(dirOf(state), "record.json"), append(text, '\n'), 0o600)
}

// locked does something while no other process does.
func locked(ctx context.Context, state string, do func() error) (err error) {
	if err := os.MkdirAll(dirOf(state), 0o700); err != nil {
		return err
	}
	lock, err := durable.Lock(ctx, filepath.Join(dirOf(state), "lock"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	return do()
}

// Apply makes the changes of a plan. Service says that a service is going to be
// installed with it. At is told of each point of each replacement; nil: nobody is.
func Apply(ctx context.Context, n Needs, p Plan, service bool, at func(file string, point durable.Point)) error {
	return locked(ctx, n.State, func() error {
		r, err := readRecord(n.State)
		if err != nil {
			return err
		}
		if r == nil {
			r = &record{}
		}
		r.At = time.Now().UTC()
		r.Service = r.Service || service
		for _, c := range p.Changes {
			if now, there, err := readNow(c.File); err != nil || there != c.There || string(now) != string(c.Before) {
				return errors.Join(err, fmt.Errorf("%s was changed by somebody else meanwhile, so nothing was done: try again", c.File))
			}
			r.add(c)
		}
		if err := r.write(n.State); err != nil {
			return err
		}
		for _, c := range p.Changes {
			if err := os.MkdirAll(filepath.Dir(c.File), 0o700); err != nil {
				return err
			}
			replace := durable.Replacement{}
			if at != nil {
				replace.At = func(point durable.Point) { at(c.File, point) }
			}
			if _, err := replace.Write(c.File, c.After, c.mode); err != nil {
				return fmt.Errorf("%w ('toolcrib bus adopt --undo' puts back what was changed)", err)
			}
		}
		return nil
	})
}

// add notes a change. A file that was changed before keeps what it was at first.
func (r *record) add(c Change) {
	f := recordFile{File: c.File, Kind: c.Kind, There: c.There, Mode: c.mode, Before: c.Before, After: digest(c.After), Was: c.Was, Python: c.Python, Item: c.Item, Agent: c.Agent}
	i := slices.IndexFunc(r.Files, func(old recordFile) bool { return old.File == c.File })
	if i < 0 {
		r.Files = append(r.Files, f)
		return
	}
	old := r.Files[i]
	switch out, err := old.takenOut(c.Before); {
	case old.After == digest(c.Before): // nobody has changed it since
		f.There, f.Mode, f.Before, f.Was = old.There, old.Mode, old.Before, old.Was
	case err == nil && string(old.Before) != string(c.Before):
		f.Before, f.Was = out, old.Was
	}
	f.Item = f.Item || old.Item
	f.Python, f.Agent = cmp.Or(f.Python, old.Python), cmp.Or(f.Agent, old.Agent)
	r.Files[i] = f
}

func readNow(file string) (text []byte, there bool, err error) {
	text, err = plainfile.Begin(file, 8<<20)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	return text, err == nil, err
}

// Undone is what became of a file.
type Undone struct {
	File string `json:"file"`
	How  string `json:"how"`
}

// Undo puts every file back as it was before Apply: byte for byte, unless somebody
// has changed it since; then only what Apply wrote is taken out. The service is left
// to the caller, who removes it first. With dry, nothing is written.
func Undo(ctx context.Context, state string, dry bool) (list []Undone, err error) {
	err = locked(ctx, state, func() error {
		r, err := readRecord(state)
		if err != nil {
			return err
		}
		if r == nil {
			return nil
		}
		for _, f := range slices.Backward(r.Files) {
			how, err := f.undo(dry)
			if err != nil {
				return fmt.Errorf("%s: %w", f.File, err)
			}
			list = append(list, Undone{File: f.File, How: how})
		}
		if dry {
			return nil
		}
		return os.Remove(filepath.Join(dirOf(state), "record.json"))
	})
	return list, err
}

func (f recordFile) undo(dry bool) (how string, err error) {
	now, there, err := readNow(f.File)
	switch {
	case err != nil:
		return "", err
	case there == f.There && string(now) == string(f.Before):
		return "it is as it was before", nil
	case !there:
		return "you removed it since, so it stays removed", nil
	case digest(now) != f.After:
		out, err := f.takenOut(now)
		if err != nil {
			return "", err
		}
		if string(out) == string(now) {
			return "you changed it since and took out what was written there: it stays as it is", nil
		}
		if !dry {
			info, err := os.Stat(f.File)
			if err != nil {
				return "", err
			}
			if err := durable.Replace(f.File, out, info.Mode().Perm()); err != nil {
				return "", err
			}
		}
		return "you changed it since: only what adopt wrote there was taken out", nil
	case !f.There:
		if !dry {
			if err := os.Remove(f.File); err != nil {
				return "", err
			}
		}
		return "removed: it was not there before", nil
	}
	if !dry {
		if err := durable.Replace(f.File, f.Before, f.Mode); err != nil {
			return "", err
		}
	}
	return "put back, byte for byte", nil
}
