package seal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/toolcrib/toolcrib/internal/durable"
)

// Box seals the files of one installation. In its directory lie the key and a
// sealed list of what was sealed, by which a file that was removed, or put back
// as it was before, is noticed. Several processes may use one.
//
// Who can write this directory as well can do what its owner can. Who removes
// key, list and files together leaves a blank one; where there are traces of
// earlier use it begins strict: nothing is taken for new.
type Box struct {
	dir    string
	key    Key
	digest *Digest
}

const (
	keyFile   = "key"
	knownFile = "known.json"
	lockName  = "lock"
	listName  = "list of what is sealed"
	mostKnown = 16 << 20
	patience  = 10 * time.Second
)

// known is the list.
type known struct {
	// Lost is when it was found that the key, or the list, was gone. From then
	// on nothing is taken for new that is not on it.
	Lost  time.Time       `json:"lost,omitzero"`
	Files map[string]mark `json:"files"`
}

// mark is what is known of one file.
type mark struct {
	N    uint64 `json:"n"`
	Gone bool   `json:"gone,omitempty"` // it was removed by us, and may begin anew
}

// ErrBroken: a file is not what was sealed last under its name.
var ErrBroken = errors.New("it cannot be believed")

// ErrUnknown: there is no file, and it is not known whether there should be one.
var ErrUnknown = errors.New("it is not known")

var errLooking = errors.New("seals are only looked at here")

func broken(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrBroken, fmt.Errorf(format, args...))
}

// Open opens a box, and makes it if there is none. used says that the
// installation has been in use, so that a box that is missing was removed.
func Open(dir string, used bool) (*Box, error) {
	if b, err := Look(dir); err != nil || b.key != nil {
		return b, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("keeping seals: %w", err)
	}
	b := &Box{dir: dir}
	err := b.locked(func() error {
		there, err := Look(dir)
		if err != nil || there.key != nil {
			b = there // another process was quicker
			return err
		}
		_, err = os.Stat(filepath.Join(dir, knownFile))
		list := known{}
		if used || err == nil {
			list.Lost = time.Now().UTC()
		}
		b.take(NewKey())
		// The key is written last: where it is, the list is as well.
		if err := b.writeList(list); err != nil {
			return err
		}
		return durable.ReplaceLocked(filepath.Join(dir, keyFile), b.key, 0o600)
	})
	if err != nil {
		return nil, fmt.Errorf("making the key of seals: %w", err)
	}
	return b, nil
}

// Look opens a box to read what is sealed, and makes nothing. In one that is not
// there nothing was sealed: a file that says so is not believed.
func Look(dir string) (*Box, error) {
	path := filepath.Join(dir, keyFile)
	key, err := readFile(path, Size)
	if errors.Is(err, fs.ErrNotExist) {
		return &Box{dir: dir, digest: NewDigest(NewKey(), "run")}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the key of seals: %w", err)
	}
	if len(key) != Size {
		return nil, fmt.Errorf("%s is not as it was written: it has %d bytes; remove it, and what was sealed with it has to be approved again", path, len(key))
	}
	b := &Box{dir: dir}
	b.take(key)
	return b, nil
}

func (b *Box) take(key Key) {
	b.key = key
	b.digest = NewDigest(key.For("names"), "hmac")
}

// Key gives the key of a purpose.
func (b *Box) Key(purpose string) Key { return b.key.For(purpose) }

// Digest gives a fingerprint that nobody makes without the key.
func (b *Box) Digest(parts ...string) string { return b.digest.Join(parts...) }

// Lost says since when nothing is taken for new, because the key or the list was
// gone; zero: it is not so.
func (b *Box) Lost() time.Time {
	if b.key == nil {
		return time.Time{}
	}
	list, err := b.list()
	if err != nil {
		return time.Now().UTC()
	}
	return list.Lost
}

// Write seals a body, which is JSON, as name. Put writes the file, so that it is
// there whole or not at all.
func (b *Box) Write(name string, body []byte, put func(sealed []byte) error) error {
	if b.key == nil {
		return errLooking
	}
	return b.locked(func() error {
		list := b.listOrLost()
		n := list.Files[name].N + 1
		file, err := sealed(b.key.For("files"), name, n, body)
		if err != nil {
			return fmt.Errorf("sealing %s: %w", name, err)
		}
		// The file comes first: a newer one than the list says was being written
		// when the process died, and an older one was put back.
		if err := put(file); err != nil {
			return err
		}
		list.Files[name] = mark{N: n}
		return b.writeList(list)
	})
}

// Read gives what was sealed last as name; get reads the file, and gives an
// os.ErrNotExist if there is none. It reports false if nothing was ever sealed
// as this, or it was forgotten since. An ErrBroken says that what is there, or
// is not, is not what was sealed.
func (b *Box) Read(name string, get func() ([]byte, error)) (body []byte, known bool, err error) {
	body, known, err = b.read(name, get)
	if b.key == nil || !errors.Is(err, ErrBroken) {
		return body, known, err
	}
	// It may just be changing: look again while nobody does.
	// A directory that cannot be locked cannot be written, and does not change.
	_ = b.locked(func() error {
		body, known, err = b.read(name, get)
		return nil
	})
	return body, known, err
}

func (b *Box) read(name string, get func() ([]byte, error)) ([]byte, bool, error) {
	if b.key == nil {
		_, err := get()
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, false, nil
		case err == nil:
			err = broken("%s is there, and the key of the seals is not", name)
		}
		return nil, false, err
	}
	// The list comes first, because a file is written before it: see Write.
	list, err := b.list()
	if err != nil {
		return nil, false, err
	}
	mark, listed := list.Files[name]
	file, err := get()
	if errors.Is(err, fs.ErrNotExist) {
		switch {
		case listed && !mark.Gone:
			return nil, false, broken("%s was sealed, and its file is gone", name)
		case !listed && !list.Lost.IsZero():
			return nil, false, fmt.Errorf("%w: %w: whether %s was there before is not known: the key of the seals was gone at %s", ErrBroken, ErrUnknown, name, list.Lost.Format(time.RFC3339))
		}
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	t, err := parse(b.key.For("files"), name, file)
	if err != nil {
		return nil, false, broken("%s: %w", name, err)
	}
	switch {
	case mark.Gone && t.N <= mark.N: // its removal was cut short, or it was put back
		return nil, false, nil
	case t.N < mark.N:
		return nil, false, broken("%s is an older one that was put back", name)
	}
	return t.Body, true, nil
}

// Forget removes what was sealed as name: it may begin anew. Drop removes the
// file.
func (b *Box) Forget(name string, drop func() error) error {
	if b.key == nil {
		return errLooking
	}
	return b.locked(func() error {
		list := b.listOrLost()
		if m, ok := list.Files[name]; ok && !m.Gone || !list.Lost.IsZero() {
			list.Files[name] = mark{N: m.N + 1, Gone: true}
			if err := b.writeList(list); err != nil {
				return err
			}
		}
		return drop()
	})
}

// list reads the list.
func (b *Box) list() (known, error) {
	file, err := readFile(filepath.Join(b.dir, knownFile), mostKnown)
	if errors.Is(err, fs.ErrNotExist) {
		return known{}, broken("the %s is gone", listName)
	}
	if err != nil {
		return known{}, fmt.Errorf("reading the %s: %w", listName, err)
	}
	t, err := parse(b.key.For("files"), listName, file)
	if err != nil {
		return known{}, broken("the %s: %w", listName, err)
	}
	var list known
	if err := json.Unmarshal(t.Body, &list); err != nil {
		return known{}, broken("the %s: %w", listName, err)
	}
	return list, nil
}

// listOrLost gives the list to be changed. In place of one that cannot be
// believed comes a strict one.
func (b *Box) listOrLost() known {
	list, err := b.list()
	if err != nil {
		list = known{Lost: time.Now().UTC()}
	}
	if list.Files == nil {
		list.Files = map[string]mark{}
	}
	return list
}

func (b *Box) writeList(list known) error {
	body, err := json.Marshal(list)
	if err != nil {
		return err
	}
	file, err := sealed(b.key.For("files"), listName, 0, body)
	if err != nil {
		return err
	}
	return durable.ReplaceLocked(filepath.Join(b.dir, knownFile), file, 0o600)
}

// locked does something while no other process does.
func (b *Box) locked(do func() error) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	lock, err := durable.Lock(ctx, filepath.Join(b.dir, lockName))
	if err != nil {
		return err
	}
	return errors.Join(do(), lock.Close())
}

func readFile(path string, most int) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(f, int64(most)+1))
	return data, errors.Join(err, f.Close())
}
