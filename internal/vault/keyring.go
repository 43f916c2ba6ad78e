package vault

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/zalando/go-keyring"
)

// Service is under which name keys stand in a keyring; the user there is the
// key's own identifier, so that no key ever takes the place of another.
const Service = "toolcrib-vault"

// ring is what a keyring does.
type ring struct {
	get    func(service, user string) (string, error)
	set    func(service, user, text string) error
	remove func(service, user string) error
}

// FromKeyring keeps keys in the keyring of the operating system: Secret Service
// on Linux, Keychain on macOS, Credential Manager on Windows. It makes the key
// of a new store itself.
func FromKeyring() Keys {
	return fromRing(ring{keyring.Get, keyring.Set, keyring.Delete})
}

func fromRing(r ring) Keys {
	const headless = "; a machine without a desktop often has no keyring: 'toolcrib setup' keeps the key in a file there, or take it from a variable, a passphrase or a command"
	return keptIn("the keyring of this system", headless, r)
}

// keptIn makes Keys of what keeps them under their identifiers. Headless is what to
// do where that does not work.
func keptIn(place, headless string, r ring) Keys {
	read := func(ctx context.Context, id string) (*key, error) {
		text, err := within(ctx, func() (string, error) { return r.get(Service, id) })
		if errors.Is(err, keyring.ErrNotFound) {
			return nil, wrongKey("%s has no key %s", place, id)
		}
		if err != nil {
			return nil, wrongKey("reading %s: %w%s", place, unread{err}, headless)
		}
		k, err := parseKey(text)
		return k, keyError(place, err)
	}
	forget := func(ctx context.Context, id string) error {
		_, err := within(ctx, func() (string, error) { return "", r.remove(Service, id) })
		if err != nil && !errors.Is(err, keyring.ErrNotFound) && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("removing the key %s from %s: %w", id, place, err)
		}
		return nil
	}
	return Keys{
		place: place,
		find: func(ctx context.Context, h header) (*key, error) {
			if h.Wrapped != nil {
				return nil, wrongKey("the store is closed with a passphrase, and %s holds keys", place)
			}
			return read(ctx, h.Key)
		},
		fresh: func(context.Context) (*key, error) { return newKey() },
		keep: func(ctx context.Context, k *key) error {
			_, err := within(ctx, func() (string, error) { return "", r.set(Service, k.id, k.text) })
			if err != nil {
				return wrongKey("writing to %s: %w%s", place, err, headless)
			}
			// A store closed with a key that cannot be had again is lost.
			again, err := read(ctx, k.id)
			if err == nil && again.text != k.text {
				err = wrongKey("%s gives back another key than it was given", place)
			}
			return err
		},
		forget: forget,
	}
}

// within waits for a keyring no longer than the context says. The call itself
// cannot be ended: it may stand at a dialogue that nobody answers.
func within(ctx context.Context, f func() (string, error)) (string, error) {
	type answer struct {
		text string
		err  error
	}
	done := make(chan answer, 1)
	go func() {
		text, err := f()
		done <- answer{text, err}
	}()
	select {
	case a := <-done:
		return a.text, a.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}
