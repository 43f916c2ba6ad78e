package vault

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Keys is a place where the key of a store is to be had. The zero value has
// none, and a vault with it opens nothing.
type Keys struct {
	place string // for messages: "the keyring of this system"
	asks  bool   // a person is asked each time
	// find gives the key that a store asks for.
	find func(ctx context.Context, h header) (*key, error)
	// fresh gives the key for a store that is made, or closed anew.
	fresh func(ctx context.Context) (*key, error)
	// keep puts a fresh key in its place, from where find gets it. Nil: it came
	// from there.
	keep func(ctx context.Context, k *key) error
	// forget removes a key that no store needs any more. Nil: keys of this
	// place are the user's to remove.
	forget func(ctx context.Context, id string) error
}

// FromEnv takes the key, or a passphrase, from an environment variable. Whoever
// starts programs must not pass that variable on.
func FromEnv(name string, lookup func(string) (string, bool)) Keys {
	return fromText("the environment variable "+name, scryptWork, func(context.Context, bool) (string, error) {
		text, ok := lookup(name)
		if !ok || text == "" {
			return "", wrongKey("the environment variable %s is not set", name)
		}
		return text, nil
	})
}

// FromPassphrase asks a person. The question is for a new passphrase, to be
// typed twice, or for the one of the store.
func FromPassphrase(ask func(ctx context.Context, fresh bool) (string, error)) Keys {
	keys := fromText("the passphrase", scryptWork, ask)
	keys.asks = true
	return keys
}

// commandTime bounds a command that nobody else bounds: it may wait for a
// person at a prompt of its own.
const commandTime = 2 * time.Minute

// FromCommand runs a program without a shell and takes the key, or a
// passphrase, from its output. What it says on its standard error is dropped:
// the vault does not know whether that may be shown. It gets the variables of
// this process but the default one for a key and those named: one key is not
// handed to whoever has another.
func FromCommand(argv []string, without ...string) Keys {
	name := ""
	if len(argv) > 0 {
		name = argv[0]
	}
	return fromText("the command "+name, scryptWork, func(ctx context.Context, _ bool) (string, error) {
		if name == "" {
			return "", wrongKey("no command is set to ask for it")
		}
		ctx, cancel := context.WithTimeout(ctx, commandTime)
		defer cancel()
		out := &bounded{}
		cmd := exec.CommandContext(ctx, name, argv[1:]...)
		cmd.Stdout, cmd.Env = out, environWithout(without)
		if filepath.IsAbs(name) {
			cmd.Dir = filepath.VolumeName(name) + string(filepath.Separator) // not the project, whose files it might obey
		}
		cmd.WaitDelay = time.Second // a child that keeps the pipe open must not keep us
		err := cmd.Run()
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		if err != nil {
			return "", wrongKey("running %s: %w", name, err)
		}
		if out.over {
			return "", wrongKey("the command %s wrote more than a key has", name)
		}
		return out.kept.String(), nil
	})
}

// environWithout is the environment of this process less the variables for
// keys. It is never nil, which would mean all of it.
func environWithout(names []string) []string {
	left := []string{}
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		isKey := func(key string) bool { return strings.EqualFold(name, key) } // Windows knows no case
		if !isKey(DefaultEnv) && !isKey(KeyConfig{}.Next()) && !slices.ContainsFunc(names, isKey) {
			left = append(left, v)
		}
	}
	return left
}

// bounded keeps the beginning of what is written to it. The buffer is a field
// and not embedded: it has a way around Write.
type bounded struct {
	kept bytes.Buffer
	over bool
}

func (b *bounded) Write(p []byte) (int, error) {
	if b.kept.Len()+len(p) > maxKeyText {
		b.over = true
		return len(p), nil
	}
	return b.kept.Write(p)
}

// fromText makes Keys of something that says a key or a passphrase.
func fromText(place string, work int, say func(ctx context.Context, fresh bool) (string, error)) Keys {
	listen := func(ctx context.Context, fresh bool) (spoken, error) {
		text, err := say(ctx, fresh)
		if err != nil {
			return spoken{}, keyError(place, err)
		}
		said, err := parseSpoken(text)
		return said, keyError(place, err)
	}
	return Keys{
		place: place,
		find: func(ctx context.Context, h header) (*key, error) {
			said, err := listen(ctx, false)
			if err != nil {
				return nil, err
			}
			switch {
			case h.Wrapped != nil && said.key != nil:
				return nil, wrongKey("the store is closed with a passphrase, and %s gives a key", place)
			case h.Wrapped == nil && said.key == nil:
				return nil, wrongKey("the store is closed with the key %s, and %s gives no age key", h.Key, place)
			case h.Wrapped != nil:
				k, err := unwrap(h.Wrapped, said.passphrase)
				return k, keyError(place, err)
			}
			return said.key, nil
		},
		fresh: func(ctx context.Context) (*key, error) {
			said, err := listen(ctx, true)
			if err != nil || said.key != nil {
				return said.key, err
			}
			k, err := wrap(said.passphrase, work)
			return k, keyError(place, err)
		},
	}
}

// keyError says where a key was to come from; whatever went wrong there, the
// key is missing.
func keyError(place string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrKey), errors.Is(err, ErrDamaged):
		return fmt.Errorf("taking the key from %s: %w", place, err)
	}
	return fmt.Errorf("%w: taking it from %s: %w", ErrKey, place, err)
}

// get finds the key a store asks for, and makes sure that it is that one.
func (s Keys) get(ctx context.Context, h header) (*key, error) {
	if s.find == nil {
		return nil, wrongKey("no place is set to take it from")
	}
	k, err := s.find(ctx, h)
	if err != nil {
		return nil, err
	}
	if k.id != h.Key {
		return nil, wrongKey("the store is closed with the key %s, and %s gives the key %s", h.Key, s.place, k.id)
	}
	return k, nil
}
