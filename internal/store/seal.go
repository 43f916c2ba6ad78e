package store

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/pem"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/toolcrib/toolcrib/internal/durable"
)

// A seal shows that an entry was written by somebody who has the journal's
// secret. The chain cannot show that: whoever can write the database can
// compute hashes as well, and append entries that fit.
//
//	seal = the first 16 bytes of HMAC-SHA256(secret, hash of the entry ‖ seq ‖ every other column)
//
// This is the text of the entry's hash with that hash in the place of the one
// before. So a seal is bound to the entry's place in the chain, and one row is
// enough to check it: a replay need not read the whole journal.

// sealSize is as long as a guess must be that nobody makes in a lifetime.
const sealSize = 16

// sealKey is the secret of the seals.
type sealKey struct {
	secret []byte
	// before is the last entry that may be without a seal: it was signed when
	// the journal had none yet. 0: there is no such entry.
	before uint64
}

const (
	sealType    = "TOOLCRIB JOURNAL SEAL KEY"
	sealBefore  = "Unsealed-Before"
	secretBytes = 32
)

// makeSeal makes the secret and writes it.
func makeSeal(dir string, before uint64) (sealKey, error) {
	k := sealKey{make([]byte, secretBytes), before}
	// Read never fails: since Go 1.24 it ends the process instead.
	_, _ = rand.Read(k.secret)
	return k, k.write(dir)
}

func (k sealKey) write(dir string) error {
	b := &pem.Block{Type: sealType, Bytes: k.secret}
	if k.before > 0 {
		b.Headers = map[string]string{sealBefore: strconv.FormatUint(k.before, 10)}
	}
	return durable.ReplaceLocked(filepath.Join(dir, sealFile), pem.EncodeToMemory(b), 0o600)
}

// loadSeal reads the secret; the error is os.ErrNotExist if there is none.
func loadSeal(dir string) (sealKey, error) {
	path := filepath.Join(dir, sealFile)
	b, err := readSecret(path, sealType)
	if err != nil {
		return sealKey{}, err
	}
	k := sealKey{secret: b.Bytes}
	if text, ok := b.Headers[sealBefore]; ok {
		if k.before, err = strconv.ParseUint(text, 10, 64); err != nil {
			return sealKey{}, fmt.Errorf("%s: %w", path, err)
		}
	}
	return k, nil
}

// sealForReading reads the secret for whoever verifies. Without it the reason
// is given, which is a fault only where the rest of the key is.
func sealForReading(dir string) (s *sealer, why string, err error) {
	k, err := loadSeal(dir)
	if err == nil {
		return newSealer(k), "", nil
	}
	if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) {
		return nil, "the key of the seals is spoiled", err
	}
	if _, e := os.Stat(filepath.Join(dir, privateFile)); e == nil {
		return nil, "the key of the seals is missing", err
	}
	return nil, "the key of the seals is not here", nil
}

// sealer makes and checks seals. It is not for several goroutines at once.
type sealer struct {
	before  uint64
	mac     hash.Hash
	sum     [sha256.Size]byte
	scratch []byte
}

func newSealer(k sealKey) *sealer {
	return &sealer{before: k.before, mac: hmac.New(sha256.New, k.secret)}
}

// sealOf gives the seal of a text. It is good until the next one is made.
func (s *sealer) sealOf(text []byte) []byte {
	s.mac.Reset()
	s.mac.Write(text)
	return s.mac.Sum(s.sum[:0])[:sealSize]
}

// proves reports whether an entry has the seal that only the secret gives it.
func (s *sealer) proves(e *entry) bool {
	s.scratch = e.appendHashed(s.scratch[:0], &e.hash)
	return hmac.Equal(s.sealOf(s.scratch), e.seal)
}

// fault says what is wrong with the seal of an entry, if anything is.
func (s *sealer) fault(e *entry) Fault {
	switch {
	case s.old(e):
		return ""
	case len(e.seal) == 0:
		return Unsealed
	case !s.proves(e):
		return Forged
	}
	return ""
}

// old reports whether an entry is from before there were seals.
func (s *sealer) old(e *entry) bool { return len(e.seal) == 0 && e.seq <= s.before }

// spilled gives the seal of an end that waits in a file. That it has no number
// yet keeps it from being taken for the seal of an entry.
func (s *sealer) spilled(e *entry) []byte {
	waiting := *e
	waiting.seq = 0
	s.scratch = waiting.appendHashed(s.scratch[:0], &sum{})
	return s.sealOf(s.scratch)
}
