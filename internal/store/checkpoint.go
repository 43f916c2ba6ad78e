package store

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/hex"
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

// Checkpoint is a signed statement of the newest entry at some time. A
// journal that has no such entry any more has lost its end.
type Checkpoint struct {
	Seq  uint64 `json:"seq"`
	Hash string `json:"hash"` // hex
	Time string `json:"time"` // RFC 3339
	Key  string `json:"key"`  // the public key, base64
	Sig  string `json:"sig"`  // of the text of statement, base64
}

// statement is the text that is signed.
func (c *Checkpoint) statement() []byte {
	return fmt.Appendf(nil, "toolcrib journal checkpoint 1\n%d\n%s\n%s\n", c.Seq, c.Hash, c.Time)
}

// head gives the point of the chain that a parsed checkpoint speaks of.
func (c *Checkpoint) head() head {
	h := head{seq: c.Seq}
	raw, err := hex.DecodeString(c.Hash)
	if err != nil || len(raw) != len(h.hash) {
		panic("store: a checkpoint that was never parsed: " + c.Hash)
	}
	copy(h.hash[:], raw)
	return h
}

func newCheckpoint(key ed25519.PrivateKey, h head, now time.Time) *Checkpoint {
	c := &Checkpoint{
		Seq: h.seq, Hash: hex.EncodeToString(h.hash[:]), Time: now.UTC().Format(time.RFC3339Nano),
		Key: keyName(key.Public().(ed25519.PublicKey)),
	}
	c.Sig = sign(key, c.statement())
	return c
}

// encode gives the one line of a checkpoint file.
func (c *Checkpoint) encode() ([]byte, error) {
	text, err := json.Marshal(c)
	if err != nil {
		return nil, fmt.Errorf("writing a checkpoint: %w", err)
	}
	return append(text, '\n'), nil
}

// maxCheckpoint is far more than a checkpoint file ever has.
const maxCheckpoint = 4096

// parseCheckpoint reads a checkpoint file. It does not check the signature.
func parseCheckpoint(text []byte) (*Checkpoint, error) {
	if len(text) > maxCheckpoint {
		return nil, errors.New("a checkpoint is not that long")
	}
	var c Checkpoint
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&c); err != nil {
		return nil, fmt.Errorf("not a checkpoint: %w", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("not a checkpoint: there is more behind it")
	}
	if raw, err := hex.DecodeString(c.Hash); err != nil || len(raw) != len(sum{}) || hex.EncodeToString(raw) != c.Hash {
		return nil, errors.New("not a checkpoint: the hash is none")
	}
	if _, err := time.Parse(time.RFC3339Nano, c.Time); err != nil {
		return nil, fmt.Errorf("not a checkpoint: %w", err)
	}
	return &c, nil
}

// check says what is wrong with a checkpoint that should be signed by key.
func (c *Checkpoint) check(key ed25519.PublicKey) error {
	if c.Key != keyName(key) {
		return errors.New("it is signed by another key, " + c.Key)
	}
	if !signed(key, c.statement(), c.Sig) {
		return errors.New("its signature is wrong")
	}
	return nil
}

// readCheckpoint reads a checkpoint; the error is os.ErrNotExist if there is
// no such file.
func readCheckpoint(path string) (*Checkpoint, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(f, maxCheckpoint+1))
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return nil, err
	}
	return parseCheckpoint(text)
}

// advance writes a checkpoint for h unless there is one that is further on.
// Several processes may do so at once.
func advance(ctx context.Context, dir string, key ed25519.PrivateKey, h head, now time.Time) error {
	return underLock(ctx, filepath.Join(dir, keysLockFile), func() error { return advanceLocked(dir, key, h, now, false) })
}

// advanceLocked is advance under the lock. first says that there may be none yet.
func advanceLocked(dir string, key ed25519.PrivateKey, h head, now time.Time, first bool) error {
	path := filepath.Join(dir, checkpointFile)
	old, err := readCheckpoint(path)
	if err == nil {
		err = old.check(key.Public().(ed25519.PublicKey))
	}
	switch {
	case err == nil && old.Seq >= h.seq && !first:
		return nil
	case err == nil, first && errors.Is(err, fs.ErrNotExist):
	default:
		// Whatever stood there was not written by this journal.
		if err := setAside(dir, h.seq, err); err != nil {
			return err
		}
	}
	text, err := newCheckpoint(key, h, now).encode()
	if err != nil {
		return err
	}
	return durable.ReplaceLocked(path, text, 0o600)
}

// setAside puts the checkpoint aside under a name by which verifying finds it:
// going on must not wipe out the evidence. Of a checkpoint that is not there
// the reason is kept.
func setAside(dir string, seq uint64, why error) error {
	aside := ""
	for n := 0; ; n++ {
		aside = filepath.Join(dir, fmt.Sprintf("suspect-%d-%d.json", seq, n))
		if _, err := os.Lstat(aside); errors.Is(err, fs.ErrNotExist) {
			break
		} else if err != nil {
			return fmt.Errorf("keeping evidence: %w", err)
		}
	}
	err := os.Rename(filepath.Join(dir, checkpointFile), aside)
	if errors.Is(err, fs.ErrNotExist) {
		err = durable.ReplaceLocked(aside, fmt.Appendf(nil, "{\"reason\":%q}\n", why.Error()), 0o600)
	}
	if err != nil {
		return fmt.Errorf("keeping evidence: %w", err)
	}
	return nil
}
