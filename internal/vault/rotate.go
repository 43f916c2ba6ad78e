package vault

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// Rotation tells what became of the keys.
type Rotation struct {
	Old, New string // identifiers, not keys
	// Left has the keys that are out of use and still in their keyring: removing
	// them failed, or the system cannot say that the new store is on the disk.
	// The next rotation removes them.
	Left []string
}

// Rotate closes the whole store with a new key, which comes from the given
// place: a keyring makes one, a variable or a command must already have it, a
// person is asked for a new passphrase. From then on this vault takes its key
// from there. The old key is removed from its keyring; copies of the store that
// were made before then stay closed for good.
//
// The store is under the old key or under the new one at every moment, and that
// key is to be had: the new one is in its place before the store changes, and
// the old one is removed after the change is on the disk. What a crash between
// leaves in the keyring opens nothing, and goes with the next rotation: before a
// key is put there the store, still under the old one, has it on its list.
func (v *Vault) Rotate(ctx context.Context, to Keys) (Rotation, error) {
	if to.fresh == nil {
		return Rotation{}, fmt.Errorf("rotating the key: %w", wrongKey("no place is set to take the new one from"))
	}
	if err := v.take(ctx); err != nil {
		return Rotation{}, fmt.Errorf("rotating the key: %w", err)
	}
	defer v.release()
	r, err := v.rotate(ctx, to)
	if err != nil {
		return Rotation{}, fmt.Errorf("rotating the key: %w", err)
	}
	return r, nil
}

func (v *Vault) rotate(ctx context.Context, to Keys) (Rotation, error) {
	// The old key must work before anybody is asked for a new one.
	_, old, err := v.load(ctx)
	if err != nil {
		return Rotation{}, err
	}
	if old == nil {
		return Rotation{}, fmt.Errorf("%w: there is no store yet", ErrNotFound)
	}
	k, err := to.fresh(ctx)
	if err != nil {
		return Rotation{}, err
	}
	if k.id == old.id {
		return Rotation{}, wrongKey("%s gives the key %s, which is the one in use", to.place, k.id)
	}
	r := Rotation{New: k.id}
	err = v.locked(ctx, func(c *content, now *key) error {
		if now == nil {
			return fmt.Errorf("%w: the store is gone", ErrNotFound)
		}
		r.Old = now.id
		return v.change(ctx, c, now, k, to, &r)
	})
	if err != nil && v.key == k {
		// The change is made. What failed after it is tidying: the next rotation
		// removes again what is removed already, and takes it off the list.
		return r, nil
	}
	if err != nil {
		return Rotation{}, errors.Join(err, v.unmake(ctx, to, k))
	}
	return r, nil
}

// change is the part of a rotation that is done under the lock.
func (v *Vault) change(ctx context.Context, c *content, old, k *key, to Keys, r *Rotation) error {
	calm := context.WithoutCancel(ctx) // removing a key is not undone, so it is not cut short either
	forget := v.keys.forget
	if forget == nil {
		forget = to.forget
	}
	retired := forgetAll(calm, forget, c.retired, k.id)
	if to.keep != nil {
		if _, err := v.save(&content{secrets: c.secrets, retired: append(slices.Clone(retired), k.id)}, old); err != nil {
			return err
		}
		if err := to.keep(ctx, k); err != nil {
			return err
		}
	}
	if v.keys.forget != nil {
		retired = append(retired, old.id)
	}
	durable, err := v.save(&content{secrets: c.secrets, retired: retired}, k)
	if err != nil {
		return err
	}
	v.keys, r.Left = to, retired
	if !durable {
		return nil
	}
	r.Left = forgetAll(calm, forget, retired, k.id)
	if len(r.Left) < len(retired) {
		_, err = v.save(&content{secrets: c.secrets, retired: r.Left}, k)
	}
	return err
}

// forgetAll removes keys and gives those that are still there. The key that is
// going to be used is none of them, even if it was retired once.
func forgetAll(ctx context.Context, forget func(context.Context, string) error, ids []string, but string) []string {
	var left []string
	for _, id := range ids {
		if id == but {
			continue
		}
		if forget == nil || forget(ctx, id) != nil {
			left = append(left, id)
		}
	}
	return left
}
