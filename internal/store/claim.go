package store

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/toolcrib/toolcrib/internal/seal"
)

// openKey loads the keys, or makes them for a journal that is new.
func (j *Journal) openKey(ctx context.Context) error {
	err := underLock(ctx, filepath.Join(j.cfg.Keys, keysLockFile), func() (err error) {
		j.key, err = loadKey(j.cfg.Keys)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return j.firstKey()
		case err != nil:
			return err
		}
		return j.openSeal()
	})
	if err != nil {
		return fmt.Errorf("the journal's key: %w", err)
	}
	j.w.seal = newSealer(j.seal)
	j.names = seal.NewDigest(seal.Key(j.seal.secret).For("journal texts"), "hmac")
	want, err := j.chainKey()
	if err != nil {
		return err
	}
	public := j.key.Public().(ed25519.PublicKey)
	own := keyName(public)
	switch want {
	case own:
		if _, err := loadPublic(j.cfg.Keys); errors.Is(err, fs.ErrNotExist) {
			return writePublic(j.cfg.Keys, public)
		}
		return nil
	case "":
		return j.nameKey(ctx, own)
	}
	return fmt.Errorf("%w: the journal in %s was begun with the key %s; bring it back to %s, or move the journal away to begin a new one",
		ErrKey, j.cfg.Dir, want, j.cfg.Keys)
}

// firstKey makes a key, unless something was already signed by one.
func (j *Journal) firstKey() error {
	cp, err := readCheckpoint(filepath.Join(j.cfg.Keys, checkpointFile))
	// One of an empty journal is from a process that died while it made the key.
	if j.w.head.seq > 0 || err == nil && cp.Seq > 0 || err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: there is no %s in %s, and there is a journal that it signed; bring it back, or move both directories away to begin a new one",
			ErrKey, privateFile, j.cfg.Keys)
	}
	j.key, j.seal, err = makeKey(j.cfg.Keys, j.cfg.Now())
	return err
}

// openSeal loads the secret of the seals. A journal from before there were
// any gets one: what was signed until then may be without, and nothing else.
func (j *Journal) openSeal() (err error) {
	j.seal, err = loadSeal(j.cfg.Keys)
	if err == nil {
		return narrow(filepath.Join(j.cfg.Keys, sealFile), 0o600)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	sealed, err := j.oneNumber(`SELECT seq FROM entry WHERE length(seal) > 0 ORDER BY seq LIMIT 1`)
	if err != nil {
		return err
	}
	if sealed > 0 {
		return fmt.Errorf("%w: there is no %s in %s, and entry %d of the journal has a seal; bring it back, or move both directories away to begin a new one",
			ErrKey, sealFile, j.cfg.Keys, sealed)
	}
	cp, why, err := j.checkpointFits()
	if err != nil {
		return err
	}
	before := uint64(0)
	if why == nil {
		before = cp.Seq
	}
	j.seal, err = makeSeal(j.cfg.Keys, before)
	return err
}

// mark is the part of key and prune entries that names the key.
type mark struct {
	Key string `json:"key"`
}

// chainKey is the key that the journal itself names; empty if it is new.
func (j *Journal) chainKey() (string, error) {
	if j.w.head.seq == 0 {
		return "", nil
	}
	text, wrong, err := j.w.lastMark()
	if err != nil {
		return "", err
	}
	if wrong == Forged {
		return "", fmt.Errorf("%w: %s in %s is not the one that sealed the journal in %s; bring that back", ErrKey, sealFile, j.cfg.Keys, j.cfg.Dir)
	}
	var m mark
	if err := json.Unmarshal(text, &m); err != nil || m.Key == "" {
		return "", fmt.Errorf("%w: the journal names none; verify it", ErrKey)
	}
	return m.Key, nil
}

// nameKey begins the chain of a new journal with its key. There is a checkpoint of
// the empty journal since the key was made: if it is gone, so is the journal that
// the key was for. That a journal before it had entries without seals is over.
func (j *Journal) nameKey(ctx context.Context, own string) error {
	if _, err := readCheckpoint(filepath.Join(j.cfg.Keys, checkpointFile)); errors.Is(err, fs.ErrNotExist) {
		why := errors.New("the journal is empty and has no checkpoint, and its key is from before: whatever was recorded with it is gone")
		if err := j.replaceCheckpoint(ctx, head{}, why); err != nil {
			return err
		}
	}
	if j.seal.before > 0 {
		j.seal.before, j.w.seal.before = 0, 0
		if err := j.seal.write(j.cfg.Keys); err != nil {
			return err
		}
	}
	return j.w.within(func() error { return j.appendNote(kindKey, mark{own}) })
}
