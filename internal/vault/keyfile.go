package vault

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/zalando/go-keyring"

	"github.com/toolcrib/toolcrib/internal/durable"
)

// FromFiles keeps keys in a directory, each in a file that only this account reads.
// It is for machines without a keyring: whoever reads all files of this account
// reads the key as well, so it guards copies of the store, and not the account.
// Whether the directory is there says whether it is used: see HasFiles.
func FromFiles(dir string) Keys {
	return keptIn("the directory "+dir, "", ring{
		get: func(_, id string) (string, error) { return readKeyFile(dir, id) },
		set: func(_, id, text string) error { return writeKeyFile(dir, id, text) },
		remove: func(_, id string) error {
			err := os.Remove(filepath.Join(dir, id))
			_ = os.Remove(dir) // with the last key it goes, and only then it can
			return err
		},
	})
}

// KeyDir is the directory of FromFiles that is taken where none is set.
func KeyDir(state string) string { return filepath.Join(state, "vault-key") }

// HasFiles reports whether a directory of keys is there.
func HasFiles(dir string) bool {
	info, err := os.Lstat(dir)
	return dir != "" && err == nil && info.IsDir()
}

// MakeFiles makes the directory that FromFiles keeps keys in.
func MakeFiles(dir string) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return store{dir: dir}.checkDir()
}

func readKeyFile(dir, id string) (string, error) {
	if err := (store{dir: dir}).checkDir(); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return "", keyring.ErrNotFound
		}
		return "", err
	}
	path := filepath.Join(dir, id)
	f, err := os.OpenFile(path, os.O_RDONLY|noFollow, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return "", keyring.ErrNotFound
	}
	if err != nil {
		return "", err
	}
	defer f.Close() //nolint:errcheck // it was only read
	info, err := f.Stat()
	if err == nil {
		err = checkFile(path, info)
	}
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(io.LimitReader(f, maxKeyText))
	return string(text), err
}

func writeKeyFile(dir, id, text string) error {
	if err := MakeFiles(dir); err != nil {
		return err
	}
	return durable.Replace(filepath.Join(dir, id), []byte(text), 0o600)
}

// TryKeyring finds out whether this system has a keyring that keeps what it is given,
// with a text that opens nothing.
func TryKeyring(ctx context.Context) error {
	return tryRing(ctx, ring{keyring.Get, keyring.Set, keyring.Delete})
}

func tryRing(ctx context.Context, r ring) error {
	k, err := newKey()
	if err != nil {
		return err
	}
	name := "trial-" + k.id
	text, err := within(ctx, func() (string, error) {
		if err := r.set(Service, name, name); err != nil {
			return "", err
		}
		got, err := r.get(Service, name)
		return got, errors.Join(err, r.remove(Service, name))
	})
	if err == nil && text != name {
		err = errors.New("it gives back something else than it was given")
	}
	if err != nil {
		return fmt.Errorf("the keyring of this system does not work: %w", err)
	}
	return nil
}
