package upgrade

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/toolcrib/toolcrib/internal/release"
)

// The most that is read of each file of a release.
const (
	maxSums    = 64 << 10
	maxSig     = 4 << 10
	maxArchive = 256 << 20
)

// longest is how long one upgrade may take.
const longest = 15 * time.Minute

// Config says what is upgraded, from where, and by whose word.
type Config struct {
	Key          release.Key
	From         string // a directory or an address; empty: DefaultFrom
	File         string // the program's own file, without links
	Running      string // its version
	GOOS, GOARCH string
	AllowOlder   bool

	// Try starts the new program once and gives the version that it says. Nil
	// means to run it.
	Try func(ctx context.Context, file string) (string, error)
}

// An Offer is a release whose signature was good.
type Offer struct {
	Version release.Version
	Archive string // the file for this system
	Newer   bool   // than the one that runs; false also where that one has no version
	Same    bool

	sum    string
	source *source
}

// Look reads what there is, and checks its signature.
func Look(ctx context.Context, cfg Config) (*Offer, error) {
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	from := cfg.From
	if from == "" {
		from = DefaultFrom
	}
	src, err := openSource(from)
	if err != nil {
		return nil, err
	}
	text, err := src.read(ctx, release.SumsFile, maxSums)
	if err != nil {
		return nil, err
	}
	signature, err := src.read(ctx, release.SignatureFile, maxSig)
	if err != nil {
		return nil, fmt.Errorf("a release without its signature is not installed: %w", err)
	}
	if _, err := release.Verify(cfg.Key, text, signature); err != nil {
		return nil, fmt.Errorf("the release at %s is not to be trusted, and nothing was installed: %w", from, err)
	}
	sums, err := release.ParseSums(text)
	if err != nil {
		return nil, err
	}
	o := &Offer{source: src}
	if o.Archive, o.Version, err = sums.Archive(cfg.GOOS, cfg.GOARCH); err != nil {
		return nil, err
	}
	o.sum = sums[o.Archive]
	if running, err := release.ParseVersion(cfg.Running); err == nil {
		o.Newer, o.Same = o.Version.Compare(running) > 0, o.Version.String() == running.String()
	}
	return o, nil
}

// Install gets the archive, checks it, tries the program in it, and puts it in
// the place of the old one, which stays beside it. It gives where that is.
func (o *Offer) Install(ctx context.Context, cfg Config) (old string, err error) {
	if !o.Newer && !cfg.AllowOlder {
		return "", fmt.Errorf("%s is not newer than the program that runs (%s): say --allow-older to install it all the same", o.Version, cfg.Running)
	}
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	place, err := openPlace(cfg.File)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, place.close()) }()
	fresh, err := o.unpack(ctx, place.dir, cfg.GOOS)
	if err != nil {
		return "", err
	}
	try := cfg.Try
	if try == nil {
		try = RunVersion
	}
	said, err := try(ctx, fresh)
	if err != nil {
		return "", fmt.Errorf("the new program does not start here, and nothing was changed: %w", err)
	}
	if said != o.Version.String() {
		return "", fmt.Errorf("the new program says that it is %.80q, and the signed list says %s: nothing was changed", said, o.Version)
	}
	return place.swap(fresh)
}

// unpack gets the archive into dir, and the program out of it. The archive is
// checked and unpacked through one open file: nobody can put another in between.
func (o *Offer) unpack(ctx context.Context, dir, goos string) (fresh string, err error) {
	archive, err := os.OpenFile(filepath.Join(dir, "archive"), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, archive.Close()) }()
	content, err := o.source.open(ctx, o.Archive, maxArchive)
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	size, err := io.Copy(io.MultiWriter(archive, sum), content)
	if err = errors.Join(err, content.Close()); err != nil {
		return "", fmt.Errorf("getting %s: %w", o.Archive, err)
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != o.sum {
		return "", fmt.Errorf("%s has the checksum %s and should have %s: it was cut short or changed, and nothing was installed", o.Archive, got, o.sum)
	}
	fresh = filepath.Join(dir, release.BinaryName(goos))
	return fresh, release.Unpack(archive, size, o.Archive, func(r io.Reader) error { return writeProgram(fresh, r) })
}

func writeProgram(file string, content io.Reader) (err error) {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o700)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if _, err := io.Copy(f, content); err != nil {
		return err
	}
	return f.Sync()
}
