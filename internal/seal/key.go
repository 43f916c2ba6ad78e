// Package seal makes what only the owner of a secret can make: digests of texts
// that nobody finds by trying, and files that nobody else can write.
//
// It stands under everything and knows no other package. Its one invariant: what
// it calls sealed was written with the key, under the name it is asked for, and
// not before what was sealed last under that name.
package seal

import (
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"sync"
)

// Key is a secret. Its purposes have keys of their own, so that what was made
// for one can be used for no other.
type Key []byte

// Size is the length of a key.
const Size = 32

// NewKey makes a key.
func NewKey() Key {
	k := make(Key, Size)
	_, _ = rand.Read(k) // since Go 1.24 it ends the process instead of failing
	return k
}

// For gives the key of a purpose.
func (k Key) For(purpose string) Key {
	out, err := hkdf.Expand(sha256.New, k, "toolcrib "+purpose, Size)
	if err != nil { // only of a length that no hash has
		panic("seal: " + err.Error())
	}
	return out
}

// Digest gives fingerprints of texts: equal for equal texts, and of no use to
// who has a fingerprint, a list of likely texts and no key. Many goroutines may
// use it at once.
type Digest struct {
	name string
	macs sync.Pool
}

// NewDigest makes one; name stands before every fingerprint, to tell under which
// key it was made.
func NewDigest(k Key, name string) *Digest {
	return &Digest{name: name + ":", macs: sync.Pool{New: func() any { return hmac.New(sha256.New, k) }}}
}

// Sum gives the fingerprint of a text.
func (d *Digest) Sum(text []byte) string {
	mac := d.macs.Get().(hash.Hash)
	mac.Reset()
	mac.Write(text)
	return d.end(mac)
}

// Join gives the fingerprint of several texts, each behind its length so that
// none can trade bytes with its neighbour.
func (d *Digest) Join(parts ...string) string {
	mac := d.macs.Get().(hash.Hash)
	mac.Reset()
	var n [8]byte
	for _, p := range parts {
		binary.LittleEndian.PutUint64(n[:], uint64(len(p)))
		mac.Write(n[:])
		mac.Write([]byte(p))
	}
	return d.end(mac)
}

func (d *Digest) end(mac hash.Hash) string {
	var sum [sha256.Size]byte
	out := make([]byte, len(d.name)+2*sha256.Size)
	copy(out, d.name)
	hex.Encode(out[len(d.name):], mac.Sum(sum[:0]))
	d.macs.Put(mac)
	return string(out)
}
