package store

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"encoding/binary"
	"encoding/pem"
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/toolcrib/toolcrib/internal/durable"
)

const (
	deskKeyFile = "desk.pem"
	deskKeyType = "TOOLCRIB DESK SEAL KEY"
)

// deskKey reads the secret of the desk's seals, or makes it. It is not the
// journal's: neither can be used to write for the other. If it was lost, all
// that was sealed with it no longer counts, and people are asked again.
func deskKey(dir string) (sealKey, error) {
	path := filepath.Join(dir, deskKeyFile)
	b, err := readSecret(path, deskKeyType)
	switch {
	case err == nil:
		return sealKey{secret: b.Bytes}, narrow(path, 0o600)
	case !errors.Is(err, fs.ErrNotExist):
		return sealKey{}, err
	}
	k := sealKey{secret: make([]byte, secretBytes)}
	// Read never fails: since Go 1.24 it ends the process instead.
	_, _ = rand.Read(k.secret)
	return k, durable.ReplaceLocked(path, pem.EncodeToMemory(&pem.Block{Type: deskKeyType, Bytes: k.secret}), 0o600)
}

// sealed gives the seal of a row: of which table it is, its name, its number
// and its body.
func (d *Desk) sealed(table, id string, rev int64, body []byte) []byte {
	var text []byte
	for _, part := range [][]byte{[]byte(table), []byte(id), binary.LittleEndian.AppendUint64(nil, uint64(rev)), body} {
		text = binary.LittleEndian.AppendUint64(text, uint64(len(part)))
		text = append(text, part...)
	}
	d.seals.Lock()
	defer d.seals.Unlock()
	return bytes.Clone(d.seal.sealOf(text))
}

// proven reports whether a row is ours, and says so loudly if it is not.
func (d *Desk) proven(table, id string, rev int64, body, seal []byte) bool {
	if hmac.Equal(d.sealed(table, id, rev, body), seal) {
		return true
	}
	d.cfg.Log.Error("the desk did not write this row; it does not count", "table", table, "id", id)
	return false
}
