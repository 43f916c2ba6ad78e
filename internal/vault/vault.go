package vault

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/toolcrib/toolcrib/internal/durable"
)

// Vault is one store of secrets. It may be used by several goroutines, and the
// store by several processes.
type Vault struct {
	store store
	wait  time.Duration
	now   func() time.Time
	work  int // of scrypt, for exports

	turn chan struct{} // holds one token; whoever has it may touch what is below
	keys Keys
	key  *key     // of the store as last read
	seen *content // never changed, only replaced
	sum  Stamp    // of the bytes that seen was read from
}

// Stamp tells two states of a store apart.
type Stamp [sha256.Size]byte

// Open makes a vault. It touches no file and asks for no key: the first use
// does, and the first Set makes the store.
func Open(cfg Config, keys Keys) (*Vault, error) {
	if err := cfg.check(); err != nil {
		return nil, fmt.Errorf("opening the vault: %w", err)
	}
	v := &Vault{
		store: store{dir: cfg.Dir, replace: durable.Replacement{Locked: true}}, wait: cmp.Or(cfg.Wait, 10*time.Second), now: cfg.Now,
		work: scryptWork, turn: make(chan struct{}, 1), keys: keys,
	}
	if v.now == nil {
		v.now = time.Now
	}
	return v, nil
}

// Format keeps secrets out of a print of the vault, whatever the verb.
func (v *Vault) Format(s fmt.State, _ rune) { fmt.Fprint(s, "vault") }

// take waits for the turn.
func (v *Vault) take(ctx context.Context) error {
	select {
	case v.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("waiting for the vault: %w", ctx.Err())
	}
}

func (v *Vault) release() { <-v.turn }

// load reads the store, which may not be there: then the key is nil. The turn
// must be held.
func (v *Vault) load(ctx context.Context) (*content, *key, error) {
	for tries := 0; ; tries++ {
		data, err := v.store.read()
		if err != nil {
			return nil, nil, err
		}
		if data == nil {
			v.key, v.seen, v.sum = nil, nil, Stamp{}
			return &content{}, nil, nil
		}
		sum := Stamp(sha256.Sum256(data))
		if v.seen != nil && sum == v.sum {
			return v.seen, v.key, nil
		}
		c, k, err := v.open(ctx, data)
		if errors.Is(err, ErrKey) && tries < 3 {
			// Another process may have closed the store with a new key, and
			// removed the old one, between our reading and our asking.
			if now, e := v.store.read(); e == nil && !bytes.Equal(now, data) {
				continue
			}
		}
		if err != nil {
			return nil, nil, err
		}
		v.key, v.seen, v.sum = k, c, sum
		return c, k, nil
	}
}

func (v *Vault) open(ctx context.Context, data []byte) (*content, *key, error) {
	h, line, body, err := parseFile(data)
	if err != nil {
		return nil, nil, err
	}
	k := v.key
	if k == nil || k.id != h.Key || !bytes.Equal(k.wrapped, h.Wrapped) {
		if k, err = v.keys.get(ctx, h); err != nil {
			return nil, nil, err
		}
	}
	c, err := unseal(line, body, k)
	return c, k, err
}

// current is load for those who only read.
func (v *Vault) current(ctx context.Context) (*content, Stamp, error) {
	if err := v.take(ctx); err != nil {
		return nil, Stamp{}, err
	}
	defer v.release()
	c, _, err := v.load(ctx)
	return c, v.sum, err
}

// save closes the content with a key and puts it in place. The turn and the
// lock must be held. What would not open again is not written.
func (v *Vault) save(c *content, k *key) (durable bool, err error) {
	data, err := seal(c, k)
	if err != nil {
		return false, err
	}
	_, line, body, err := parseFile(data)
	if err == nil {
		_, err = unseal(line, body, k)
	}
	if err != nil {
		return false, fmt.Errorf("the new store would not open again: %w", err)
	}
	durable, err = v.store.write(data)
	if err != nil {
		return false, err
	}
	v.key, v.seen, v.sum = k, c, sha256.Sum256(data)
	return durable, nil
}

// locked runs f with the turn and the lock, on the store as it is then. A first
// look without the lock asks for the key, so that nobody waits for a person.
func (v *Vault) locked(ctx context.Context, f func(c *content, k *key) error) (err error) {
	if _, _, err := v.load(ctx); err != nil {
		return err
	}
	held, err := v.store.lock(ctx, v.wait)
	if err != nil {
		return err
	}
	defer func() {
		if e := held.Close(); err == nil && e != nil {
			err = fmt.Errorf("unlocking the vault: %w", e)
		}
	}()
	c, k, err := v.load(ctx)
	if err != nil {
		return err
	}
	return f(c, k)
}

// Set keeps a value under a name. There may be one already; it is replaced.
func (v *Vault) Set(ctx context.Context, ref Ref, value string) error {
	err := cmp.Or(ref.check(), checkValue(value))
	if err == nil {
		err = v.take(ctx)
	}
	if err != nil {
		return fmt.Errorf("setting a secret: %w", err)
	}
	defer v.release()
	if err := v.store.makeDir(); err != nil {
		return fmt.Errorf("setting the secret %s: %w", ref, err)
	}
	err = v.locked(ctx, func(c *content, k *key) error {
		next := &content{secrets: maps.Clone(c.secrets), retired: c.retired}
		if next.secrets == nil {
			next.secrets = map[Ref]entry{}
		}
		next.secrets[ref] = entry{value, v.now().UTC().Round(0)}
		if k != nil {
			_, err := v.save(next, k)
			return err
		}
		return v.begin(ctx, next)
	})
	if err != nil {
		return fmt.Errorf("setting the secret %s: %w", ref, err)
	}
	return nil
}

// begin makes a store where there is none.
func (v *Vault) begin(ctx context.Context, c *content) error {
	if v.keys.fresh == nil {
		return wrongKey("no place is set to take it from")
	}
	k, err := v.keys.fresh(ctx)
	if err != nil {
		return err
	}
	if v.keys.keep != nil {
		if err := v.keys.keep(ctx, k); err != nil {
			// A keyring that takes no key often removes none either. What may be
			// left there opens nothing, so that is not worth a word.
			_ = v.unmake(ctx, v.keys, k)
			return err
		}
	}
	if _, err = v.save(c, k); err != nil {
		return errors.Join(err, v.unmake(ctx, v.keys, k))
	}
	return nil
}

// unmake removes a key that was made for a store and then closed none. It first
// makes sure that the store did not get that far after all.
func (v *Vault) unmake(ctx context.Context, keys Keys, k *key) error {
	if keys.forget == nil {
		return nil
	}
	data, err := v.store.read()
	var h header
	if err == nil && data != nil {
		h, _, _, err = parseFile(data)
	}
	if err != nil {
		return fmt.Errorf("the new key %s stays in its place: %w", k.id, err)
	}
	if h.Key == k.id {
		return nil
	}
	return keys.forget(context.WithoutCancel(ctx), k.id)
}

// Remove forgets a secret.
func (v *Vault) Remove(ctx context.Context, ref Ref) error {
	err := ref.check()
	if err == nil {
		err = v.take(ctx)
	}
	if err != nil {
		return fmt.Errorf("removing a secret: %w", err)
	}
	defer v.release()
	c, _, err := v.load(ctx)
	if _, ok := c.get(ref); err == nil && !ok {
		err = ErrNotFound
	}
	if err == nil {
		err = v.locked(ctx, func(c *content, k *key) error {
			if _, ok := c.get(ref); !ok {
				return ErrNotFound
			}
			next := &content{secrets: maps.Clone(c.secrets), retired: c.retired}
			delete(next.secrets, ref)
			_, err := v.save(next, k)
			return err
		})
	}
	if err != nil {
		return fmt.Errorf("removing the secret %s: %w", ref, err)
	}
	return nil
}

// Forget drops the key and the values from memory. The next use asks again.
func (v *Vault) Forget(ctx context.Context) error {
	if err := v.take(ctx); err != nil {
		return err
	}
	defer v.release()
	v.key, v.seen, v.sum = nil, nil, Stamp{}
	return nil
}

func (c *content) get(ref Ref) (entry, bool) {
	if c == nil {
		return entry{}, false
	}
	e, ok := c.secrets[ref]
	return e, ok
}

// refs goes through the secrets in order.
func (c *content) refs() iter.Seq2[Ref, entry] {
	return func(yield func(Ref, entry) bool) {
		for _, ref := range slices.SortedFunc(maps.Keys(c.secrets), compareRefs) {
			if !yield(ref, c.secrets[ref]) {
				return
			}
		}
	}
}

// Exists reports whether there is a store. It needs no key.
func (v *Vault) Exists() (bool, error) {
	data, err := v.store.read()
	return data != nil, err
}
