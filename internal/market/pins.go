package market

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib/internal/pinned"
	"github.com/toolcrib/toolcrib/internal/seal"
)

// pins is what is kept of registries from one run to the next: the keys and the last
// numbers of signed indexes, sealed, and until when a registry wants to be left alone.
type pins struct {
	store *pinned.Store
	mu    sync.Mutex
}

// pin is what is known of a signed index.
type pin struct {
	URL    string    `json:"url"`
	Key    string    `json:"key"`
	Serial int64     `json:"serial"`
	Digest string    `json:"digest"` // of the index with that number
	At     time.Time `json:"at"`     // when the key was seen first
}

// Dir is where it is kept.
func Dir(state string) string { return filepath.Join(state, "market") }

func openPins(state string) (*pins, error) {
	store := &pinned.Store{Most: 64 << 10, What: "a registry", Under: "market/", Sealed: []string{"key-"}}
	if state == "" {
		return &pins{store: store}, nil
	}
	dir := Dir(state)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	box, err := seal.OfState(state, true)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	store.Root, store.Seals = root, box
	return &pins{store: store}, nil
}

func (p *pins) close() error {
	if p.store.Root == nil {
		return nil
	}
	return p.store.Root.Close()
}

// fileOf: a registry is remembered by its address, so that another address under the
// same name is another registry.
func fileOf(url string) string {
	sum := sha256.Sum256([]byte(url))
	return "key-" + hex.EncodeToString(sum[:16])
}

func (p *pins) load(url string) (pin, bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var have pin
	known, err := p.store.Load(fileOf(url), &have)
	if err == nil && known && have.URL != url {
		err = errors.New("what is kept of it is about another address")
	}
	return have, known, err
}

func (p *pins) save(to pin) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.store.Save(fileOf(to.URL), to)
}

func (p *pins) forget(url string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.store.Remove(fileOf(url))
}

// wait is until when a registry wants to be left alone. What cannot be read is no reason
// not to ask.
func (p *pins) wait(registry string) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	var until time.Time
	if known, err := p.store.Load(waitOf(registry), &until); err != nil || !known {
		return time.Time{}
	}
	return until
}

func (p *pins) setWait(registry string, until time.Time) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.store.Save(waitOf(registry), until)
}

func waitOf(registry string) string {
	sum := sha256.Sum256([]byte(registry))
	return "wait-" + hex.EncodeToString(sum[:16])
}
