package setup

import (
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
	"github.com/toolcrib/toolcrib/internal/mcp/clientfiles"
	"github.com/toolcrib/toolcrib/internal/seal"
	"github.com/toolcrib/toolcrib/internal/vault"
)

// record is what a setup did, and what is needed to take it back. It is written
// before each change, so that it never knows less than what was done.
type record struct {
	Began time.Time     `json:"began"`
	Files []*fileRecord `json:"files,omitempty"`
	// Secrets were put into the vault, and Servers into the settings.
	Secrets []recordedSecret `json:"secrets,omitempty"`
	Servers []string         `json:"servers,omitempty"`
	KeyDir  string           `json:"key_dir,omitempty"` // was made for the key of the vault
	Service bool             `json:"service,omitempty"`
}

// recordedSecret is a secret that was put into the vault, with a digest of its value
// that nobody makes without the key of the seals: another value is a person's.
type recordedSecret struct {
	vault.Ref
	Digest string `json:"digest"`
}

// fileRecord is one file that was changed, from the moment when it was as a person
// left it. A file that somebody changed since begins another.
type fileRecord struct {
	Path    string      `json:"path"` // where links lead
	Missing bool        `json:"missing,omitempty"`
	Dirs    []string    `json:"dirs,omitempty"` // that were made for it, the outermost first
	Mode    fs.FileMode `json:"mode,omitempty"`
	Before  []byte      `json:"before,omitempty"`
	States  []string    `json:"states"` // digests of what was made of it, one after the other
	Edits   []edit      `json:"edits"`
}

// The kinds of edits.
const (
	editConnect = "connect" // Toolcrib was put into a client's list
	editTakeOut = "takeout" // a server was taken out of it
	editHooks   = "hooks"
	editServer  = "server" // a server was put into the settings
	editRule    = "rule"
)

// edit is one change, so that it can be taken back alone.
type edit struct {
	Kind   string           `json:"kind"`
	Client string           `json:"client,omitempty"`
	Held   clientfiles.Held `json:"held,omitzero"`
	Path   []string         `json:"path,omitempty"`  // of a list of rules
	Text   string           `json:"text,omitempty"`  // the rule, or the name of a server
	Entry  json.RawMessage  `json:"entry,omitempty"` // of a server, as it was written
	// Was says that Toolcrib stood in the list before, in another form.
	Was bool `json:"was,omitempty"`
}

func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// has reports whether a text is one that this record knows: as it was, or as it was made.
func (f *fileRecord) has(text []byte, there bool) bool {
	if !there {
		return f.Missing
	}
	d := digest(text)
	return !f.Missing && d == digest(f.Before) || slices.Contains(f.States, d)
}

// empty: there is nothing to take back.
func (r *record) empty() bool {
	return len(r.Files) == 0 && len(r.Secrets) == 0 && len(r.Servers) == 0 && r.KeyDir == "" && !r.Service
}

// book keeps the record in the directory of state. Who has it open holds the lock.
type book struct {
	dir  string
	box  *seal.Box
	lock *os.File
	record
	// at is called before each change that is made, for tests that stop there.
	at func(what string)
}

const recordName = "setup"

// ErrBusy: another setup is at work.
var ErrBusy = errors.New("another 'toolcrib setup' is at work: wait for it to end")

// openBook reads the record, or begins one. Nobody else sets up meanwhile.
func openBook(ctx context.Context, state string, write bool) (*book, error) {
	dir := filepath.Join(state, "setup")
	if !write { // it is only looked at, and nothing is made
		box, err := seal.OfState(state, false)
		if err != nil {
			return nil, err
		}
		b := &book{dir: dir, box: box}
		return b, b.read()
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	lock, err := durable.TryLock(filepath.Join(dir, "lock"), true)
	if err != nil {
		return nil, err
	}
	if lock == nil {
		return nil, ErrBusy
	}
	b := &book{dir: dir, lock: lock}
	if b.box, err = seal.OfState(state, true); err == nil {
		err = b.read()
	}
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return b, nil
}

func (b *book) file() string { return filepath.Join(b.dir, "record.json") }

// read takes only what was sealed here: whoever could write the record would write
// a person's files with the next undo.
func (b *book) read() error {
	data, known, err := b.box.Read(recordName, func() ([]byte, error) { return os.ReadFile(b.file()) })
	switch {
	case errors.Is(err, seal.ErrUnknown):
		return nil // there is none, and it is not known whether there was
	case errors.Is(err, seal.ErrBroken):
		return fmt.Errorf("the record of what setup did, %s, is not as it was written (%w): look at it, and move it away to start again", b.file(), err)
	case err != nil || !known:
		return err
	}
	if err := json.Unmarshal(data, &b.record); err != nil {
		return fmt.Errorf("reading %s: %w", b.file(), err)
	}
	return nil
}

// save writes the record. What is done next can be taken back from here on.
func (b *book) save() error {
	if b.Began.IsZero() {
		b.Began = time.Now().UTC()
	}
	data, err := json.Marshal(b.record)
	if err != nil {
		return err
	}
	err = b.box.Write(recordName, data, func(sealed []byte) error { return durable.ReplaceLocked(b.file(), sealed, 0o600) })
	if err != nil {
		return fmt.Errorf("keeping what is needed to take this back: %w", err)
	}
	return nil
}

// drop forgets a record by which everything was taken back.
func (b *book) drop() error {
	return b.box.Forget(recordName, func() error {
		if err := os.Remove(b.file()); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		return nil
	})
}

func (b *book) close() error {
	if b.lock == nil {
		return nil
	}
	return b.lock.Close()
}

func (b *book) reached(what string) {
	if b.at != nil {
		b.at(what)
	}
}
