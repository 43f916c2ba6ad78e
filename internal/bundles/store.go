package bundles

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/toolcrib/toolcrib/internal/durable"
	"github.com/toolcrib/toolcrib/internal/plainfile"
)

// A tree lies in the store below its digest: the list of its files, whose digest that is,
// and the files.
const (
	listName    = "files.jsonl"
	packageName = "package"
	maxListing  = 4 << 20
)

func (b *Bundles) tree(sum string) string { return filepath.Join(b.Store, "store", sum) }

// Root is the folder of a package.
func (b *Bundles) root(sum string) string { return filepath.Join(b.tree(sum), packageName) }

// stage is a place for a package that nobody has said yes to yet.
type stage struct {
	dir  string
	lock *os.File
}

// stage makes a place for what comes. Its lock says that somebody still works at it.
func (b *Bundles) stage() (*stage, error) {
	incoming := filepath.Join(b.Store, "incoming")
	s := &stage{}
	for try := 1; ; try++ {
		var random [8]byte
		if _, err := rand.Read(random[:]); err != nil {
			return nil, err
		}
		s.dir = filepath.Join(incoming, hex.EncodeToString(random[:]))
		err := os.MkdirAll(incoming, 0o700)
		if err == nil {
			s.lock, err = durable.TryLock(s.dir+".lock", true)
		}
		switch {
		case errors.Is(err, fs.ErrNotExist) && try < 10: // somebody removed it meanwhile, since it was empty
		case err == nil && s.lock == nil && try < 10: // somebody who tidies up looks at it just now, and removes it
		case err != nil:
			return nil, fmt.Errorf("keeping bundles: there is no place for a new one: %w", err)
		case s.lock == nil:
			return nil, errors.New("keeping bundles: there is no place for a new one: others hold every one of them; try again")
		default:
			return s, os.Mkdir(s.dir, 0o700)
		}
	}
}

func (s *stage) close() error {
	if s.lock == nil {
		return nil
	}
	err := errors.Join(removeTree(s.dir), s.lock.Close(), os.Remove(s.lock.Name()))
	s.lock = nil
	for _, dir := range above(s.dir) {
		if os.Remove(dir) != nil { // others are at work there, or something is installed
			break
		}
	}
	return err
}

// above are the directories that a stage lies in: that of all stages, the store, and the
// one for stores.
func above(stage string) []string {
	incoming := filepath.Dir(stage)
	return []string{incoming, filepath.Dir(incoming), filepath.Dir(filepath.Dir(incoming))}
}

// keep puts a staged package into the store. There is either all of it or nothing.
func (b *Bundles) keep(s *stage, files listing) (sum string, err error) {
	sum = files.sum()
	if err := durable.Replace(filepath.Join(s.dir, listName), files.text(), 0o444); err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(b.tree(sum)), 0o700); err != nil {
		return "", err
	}
	b.at("staged")
	if _, err := os.Lstat(b.tree(sum)); err == nil {
		if changed, err := b.check(sum); err == nil && len(changed) == 0 {
			return sum, nil // the same is there
		}
		// What was damaged makes way. Nothing of it counts, so nothing is lost.
		if err := os.Rename(b.tree(sum), filepath.Join(s.dir, "damaged")); err != nil {
			return "", err
		}
		b.at("damaged")
	}
	// Only what belongs there: the archive it came in does not.
	whole := filepath.Join(s.dir, "whole")
	if err := os.Mkdir(whole, 0o700); err != nil {
		return "", err
	}
	for _, name := range []string{listName, packageName} {
		if err := os.Rename(filepath.Join(s.dir, name), filepath.Join(whole, name)); err != nil {
			return "", err
		}
	}
	b.at("whole")
	if err := os.Rename(whole, b.tree(sum)); err != nil {
		return "", err
	}
	b.at("kept")
	return sum, nil
}

// listing reads the list of the files of a tree.
func (b *Bundles) listing(sum string) (listing, error) {
	if !sumForm.MatchString(sum) {
		return nil, errors.New("its digest is none")
	}
	data, err := plainfile.Read(filepath.Join(b.tree(sum), listName), maxListing)
	if err != nil {
		return nil, err
	}
	l, err := parseListing(data)
	if err != nil || l.sum() != sum {
		return nil, errors.New("the list of its files was changed")
	}
	return l, nil
}

// check says which files of a tree are not what was installed.
func (b *Bundles) check(sum string) (changed []string, err error) {
	l, err := b.listing(sum)
	if err != nil {
		return nil, err
	}
	return l.changed(b.root(sum))
}

// sweep removes what nobody needs any more: trees that no record names, and what those
// left who were killed.
func (b *Bundles) sweep(r *record) error {
	needed := r.trees()
	var errs []error
	trees, err := os.ReadDir(filepath.Join(b.Store, "store"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		errs = append(errs, err)
	}
	for _, e := range trees {
		if !needed[e.Name()] {
			errs = append(errs, removeTree(b.tree(e.Name())))
			b.at("swept")
		}
	}
	incoming := filepath.Join(b.Store, "incoming")
	left, err := os.ReadDir(incoming)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		errs = append(errs, err)
	}
	for _, e := range left {
		name, isLock := strings.CutSuffix(e.Name(), ".lock")
		if !isLock {
			continue // it goes with its lock
		}
		lock, err := durable.TryLock(filepath.Join(incoming, e.Name()), false)
		if err != nil || lock == nil {
			continue // somebody is at work
		}
		errs = append(errs, removeTree(filepath.Join(incoming, name)), lock.Close(), os.Remove(filepath.Join(incoming, e.Name())))
	}
	for _, dir := range append([]string{filepath.Join(b.Store, "store")}, above(filepath.Join(incoming, "x"))...) {
		_ = os.Remove(dir) // only where it is empty
	}
	return errors.Join(errs...)
}

// removeTree removes a folder whose files may only be read. Links in it are not followed.
func removeTree(dir string) error {
	err := os.RemoveAll(dir)
	if err == nil {
		return nil
	}
	root, openErr := os.OpenRoot(dir)
	if openErr != nil {
		return err
	}
	_ = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && (d.IsDir() || d.Type().IsRegular()) {
			_ = root.Chmod(filepath.FromSlash(name), 0o700) // what cannot be made writable stays, and is told below
		}
		return nil
	})
	return errors.Join(root.Close(), os.RemoveAll(dir))
}
