package market

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib/internal/bundle"
	"github.com/toolcrib/toolcrib/internal/settings"
)

// The files of a signed index.
const (
	indexFile     = "index.json"
	signatureFile = "index.json.sig"
	indexFormat   = 1
	// signedAs stands before what is signed, so that a signature is good for nothing else.
	signedAs = "toolcrib index 1\n"
)

// Index is what a signed index says. Any web server can serve it, or a directory hold it.
type Index struct {
	Format int `json:"toolcrib_index"`
	// Serial grows with each edition: one that is older than one that was seen is refused.
	Serial  int64     `json:"serial"`
	Made    time.Time `json:"made"`
	Expires time.Time `json:"expires,omitzero"` // zero: never
	Items   []Item    `json:"items"`
}

// Item is one thing in it.
type Item struct {
	Name        string `json:"name"`
	Version     string `json:"version,omitempty"`
	Description string `json:"description,omitempty"`
	Kind        string `json:"kind"`
	Author      string `json:"author,omitempty"`
	File        string `json:"file,omitempty"`   // an archive, relative to the index
	Digest      string `json:"digest,omitempty"` // of the archive, sha256:HEX
	// Server is the server.json of a server.
	Server json.RawMessage `json:"server,omitempty"`
}

// signature is the file beside an index.
type signature struct {
	Key       string `json:"key"`
	Signature string `json:"signature"`
}

// index is a signed index as a registry.
type index struct {
	id   string // what its key is pinned by
	name string
	dir  string // where it lies on this machine; else
	web  *web
	key  ed25519.PublicKey // that the settings name; nil: the pinned one
	pins *pins
	now  func() time.Time
}

func (m *Market) openIndex(name string, s settings.Registry) (registry, error) {
	x := &index{name: name, pins: m.pins, now: m.needs.Now}
	if s.Key != "" {
		key, err := ParseKey(s.Key)
		if err != nil {
			return nil, fmt.Errorf("key: %w", err)
		}
		x.key = key
	}
	given := strings.TrimSuffix(strings.TrimSpace(s.URL), "/"+indexFile)
	dir, err := m.directory(given)
	if err != nil {
		return nil, err
	}
	if x.dir = dir; dir != "" {
		x.id = dir
		return x, nil
	}
	base, err := address(given)
	if err != nil {
		return nil, err
	}
	x.web, x.id = m.newWeb(base, false), base.String()
	return x, nil
}

func (x *index) get(ctx context.Context, name string, most int64) ([]byte, error) {
	if x.dir != "" {
		return readIn(x.dir, name, most)
	}
	return x.web.get(ctx, x.web.at(nil, name), "application/json", most)
}

// load reads the index and believes it, or says why not. It may be replaced just now, so
// that a signature which does not fit is looked at twice.
func (x *index) load(ctx context.Context) (*Index, error) {
	for try := 1; ; try++ {
		sig, err := x.get(ctx, signatureFile, 4<<10)
		if err != nil {
			return nil, fmt.Errorf("its signature, %s: %w", signatureFile, notNone(err))
		}
		text, err := x.get(ctx, indexFile, mostList)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", indexFile, notNone(err))
		}
		key, err := checkSignature(text, sig)
		if err == nil {
			return x.believe(text, key)
		}
		if try == 2 {
			return nil, err
		}
	}
}

// notNone: a registry that lacks its own files does not say that it lacks a skill.
func notNone(err error) error {
	if errors.Is(err, ErrNotFound) {
		return errors.New("there is no such file")
	}
	return err
}

// checkSignature gives the key that an index is signed with.
func checkSignature(text, sig []byte) (ed25519.PublicKey, error) {
	var s signature
	if err := json.Unmarshal(sig, &s); err != nil {
		return nil, errors.New("its signature cannot be read")
	}
	key, err := ParseKey(s.Key)
	if err != nil {
		return nil, fmt.Errorf("its signature has no key: %w", err)
	}
	raw, err := base64.StdEncoding.DecodeString(s.Signature)
	if err != nil || !ed25519.Verify(key, append([]byte(signedAs), text...), raw) {
		return nil, errors.New("its index is not what was signed: it was changed, or the signature is of another one")
	}
	return key, nil
}

// believe holds a key and an edition against what is known of this index.
func (x *index) believe(text []byte, key ed25519.PublicKey) (*Index, error) {
	have, known, err := x.pins.load(x.id)
	if err != nil {
		return nil, fmt.Errorf("what is kept of its key cannot be believed: %w. 'toolcrib market registry remove %s' and adding it again begins anew", err, x.name)
	}
	switch want := have.Key; {
	case x.key != nil && !x.key.Equal(key):
		return nil, fmt.Errorf("its index is signed with %s, and market.registries.%s.key says %s. Nothing of it is used", KeyText(key), x.name, KeyText(x.key))
	case x.key == nil && known && want != KeyText(key):
		return nil, fmt.Errorf("ITS KEY HAS CHANGED: its index is signed with %s, and it was signed with %s when it was first used (%s). Nothing of it is used. If its owner told you of the new key, remove the registry and add it again with --key", KeyText(key), want, have.At.UTC().Format(time.DateOnly))
	}
	in, err := readIndex(text)
	if err != nil {
		return nil, err
	}
	if known && have.Key != KeyText(key) { // the person named another key meanwhile
		have = pin{}
	}
	switch {
	case !in.Expires.IsZero() && in.Expires.Before(x.now()):
		return nil, fmt.Errorf("its index is out of date since %s; its owner has to sign it again", in.Expires.UTC().Format(time.RFC3339))
	case in.Serial < have.Serial:
		return nil, fmt.Errorf("its index is number %d, and number %d was seen before: somebody gives out an old one. Nothing of it is used", in.Serial, have.Serial)
	case in.Serial == have.Serial && have.Digest != digestOf(text):
		return nil, fmt.Errorf("there are two different indexes with number %d. Nothing of it is used", in.Serial)
	}
	now := pin{URL: x.id, Key: KeyText(key), Serial: in.Serial, Digest: digestOf(text), At: have.At}
	if now.At.IsZero() {
		now.At = x.now()
	}
	if now != have {
		if err := x.pins.save(now); err != nil {
			return nil, fmt.Errorf("its key cannot be kept: %w", err)
		}
	}
	return in, nil
}

func readIndex(text []byte) (*Index, error) {
	var in Index
	if err := decode(text, &in); err != nil {
		return nil, err
	}
	if in.Format != indexFormat || in.Serial <= 0 {
		return nil, fmt.Errorf("its index has a form that this version does not know (%d)", in.Format)
	}
	return &in, nil
}

func (x *index) list(ctx context.Context) (l listing, err error) {
	in, err := x.load(ctx)
	if err != nil {
		return l, err
	}
	for _, item := range in.Items {
		r, err := x.result(item)
		if err != nil {
			l.notes = append(l.notes, fmt.Sprintf("%s is left out: %v", shown(item.Name, 80), err))
			continue
		}
		l.results = append(l.results, *r)
	}
	return l, nil
}

func (x *index) result(item Item) (*Result, error) {
	if item.Kind == Server {
		return resultOf(item.Server)
	}
	if item.Kind != Skill && item.Kind != Bundle {
		return nil, fmt.Errorf("%q is no kind of thing", shown(item.Kind, 40))
	}
	file, err := bundle.CheckPath(item.File)
	if err != nil {
		return nil, err
	}
	if _, err := hashOf(item.Digest); err != nil {
		return nil, err
	}
	if ending(file) == "" {
		return nil, errors.New("its file is no archive")
	}
	r := &Result{Name: item.Name, Version: item.Version, Description: item.Description, Kind: item.Kind, Author: item.Author, Digest: item.Digest, from: file}
	if x.web != nil {
		at := x.web.at(url.Values{}, strings.Split(file, "/")...)
		if r.Source, err = archiveSource(at, item.Digest); err != nil {
			return nil, err
		}
	}
	return r, nil
}

func (x *index) search(ctx context.Context, query string, _ int) (listing, error) {
	l, err := x.list(ctx)
	l.results = only(l.results, query)
	return l, err
}

func (x *index) show(ctx context.Context, name, version string) (*Result, error) {
	l, err := x.list(ctx)
	if err != nil {
		return nil, err
	}
	return named(l.results, name, version)
}

// fetch reads an archive of an index on this machine.
func (x *index) fetch(_ context.Context, r Result) (*Content, error) {
	data, err := readIn(x.dir, r.from, mostContent)
	if err != nil {
		return nil, err
	}
	if err := verify(data, r.Digest); err != nil {
		return nil, err
	}
	return &Content{Name: r.Name + ending(path.Base(r.from)), Archive: data, Digest: r.Digest}, nil
}

// Forget lets the key of a registry be pinned anew.
func (m *Market) Forget(s settings.Registry) error {
	if s.Type != "index" {
		return nil
	}
	r, err := m.openIndex("forgotten", s)
	if err != nil {
		return err
	}
	return m.pins.forget(r.(*index).id)
}

// Pinned tells the key that is pinned for a registry; empty: none is.
func (m *Market) Pinned(s settings.Registry) (string, error) {
	if s.Type != "index" {
		return "", nil
	}
	r, err := m.openIndex("pinned", s)
	if err != nil {
		return "", err
	}
	have, _, err := m.pins.load(r.(*index).id)
	return have.Key, err
}
