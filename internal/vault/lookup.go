package vault

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"iter"
	"slices"
)

// Get gives the value of exactly this secret: no wider scope stands in.
func (v *Vault) Get(ctx context.Context, ref Ref) (string, error) {
	if err := ref.check(); err != nil {
		return "", fmt.Errorf("getting a secret: %w", err)
	}
	c, _, err := v.current(ctx)
	e, ok := c.get(ref)
	if err == nil && !ok {
		err = ErrNotFound
	}
	if err != nil {
		return "", fmt.Errorf("getting the secret %s: %w", ref, err)
	}
	return e.value, nil
}

// Lookup gives the value that a caller in this scope has under a name, and
// which secret it is: the narrowest, in the order that Scope tells.
func (v *Vault) Lookup(ctx context.Context, from Scope, name string) (string, Ref, error) {
	err := CheckName(name)
	if err == nil {
		err = from.checkLookup()
	}
	if err != nil {
		return "", Ref{}, fmt.Errorf("looking up a secret: %w", err)
	}
	c, _, err := v.current(ctx)
	if err != nil {
		return "", Ref{}, fmt.Errorf("looking up the secret %s: %w", name, err)
	}
	e, ref, ok := c.lookup(from, name)
	if !ok {
		// The name may be redacted on its way: that of a bundle's secret looks like a key.
		return "", Ref{}, fmt.Errorf("looking up the secret %s: %w; 'toolcrib secret set NAME' keeps one, and 'toolcrib bundle show BUNDLE' names those that a bundle needs", name, ErrNotFound)
	}
	return e.value, ref, nil
}

// lookup finds the narrowest secret of a name.
func (c *content) lookup(from Scope, name string) (entry, Ref, bool) {
	for _, scope := range from.order() {
		ref := Ref{scope, name}
		if e, ok := c.get(ref); ok {
			return e, ref, true
		}
	}
	return entry{}, Ref{}, false
}

// Granted makes the handle of a tool: it looks up for the given scope, and only
// the given names. A * among them stands for every name.
func (v *Vault) Granted(from Scope, names []string) func(ctx context.Context, name string) (string, error) {
	names = slices.Clone(names)
	return func(ctx context.Context, name string) (string, error) {
		if err := CheckName(name); err != nil {
			return "", fmt.Errorf("looking up a secret: %w", err)
		}
		if !slices.Contains(names, name) && !slices.Contains(names, "*") {
			return "", fmt.Errorf("looking up the secret %s: %w", name, ErrNotGranted)
		}
		value, _, err := v.Lookup(ctx, from, name)
		return value, err
	}
}

// List tells which secrets there are, of all scopes, in order. It is for the
// holder of the key.
func (v *Vault) List(ctx context.Context) ([]Info, error) {
	c, _, err := v.current(ctx)
	if err != nil {
		return nil, fmt.Errorf("listing secrets: %w", err)
	}
	list := make([]Info, 0, len(c.secrets))
	for ref, e := range c.refs() {
		list = append(list, Info{ref, e.changed})
	}
	return list, nil
}

// Visible tells which secrets lookups from a scope would find, one for each
// name, by name. It is for callers: what is another's is not there.
func (v *Vault) Visible(ctx context.Context, from Scope) ([]Info, error) {
	if err := from.checkLookup(); err != nil {
		return nil, fmt.Errorf("listing secrets: %w", err)
	}
	c, _, err := v.current(ctx)
	if err != nil {
		return nil, fmt.Errorf("listing secrets: %w", err)
	}
	names := map[string]bool{}
	for ref := range c.secrets {
		names[ref.Name] = true
	}
	list := []Info{}
	for name := range names {
		if e, ref, ok := c.lookup(from, name); ok {
			list = append(list, Info{ref, e.changed})
		}
	}
	slices.SortFunc(list, func(a, b Info) int { return cmp.Compare(a.Name, b.Name) })
	return list, nil
}

// Values goes through all values as they are now, and gives the stamp of this
// state. A redactor keeps what it made of them until Stamp says another.
func (v *Vault) Values(ctx context.Context) (iter.Seq2[Ref, string], Stamp, error) {
	c, sum, err := v.current(ctx)
	if err != nil {
		return nil, Stamp{}, fmt.Errorf("reading the values: %w", err)
	}
	return c.values(), sum, nil
}

func (c *content) values() iter.Seq2[Ref, string] {
	return func(yield func(Ref, string) bool) {
		for ref, e := range c.secrets {
			if !yield(ref, e.value) {
				return
			}
		}
	}
}

// Known is Values for who must not make a person answer: a vault whose
// passphrase nobody has said yet is an ErrKey and not a question.
func (v *Vault) Known(ctx context.Context) (iter.Seq2[Ref, string], Stamp, error) {
	if err := v.take(ctx); err != nil {
		return nil, Stamp{}, err
	}
	defer v.release()
	if keys := v.keys; keys.asks {
		v.keys = Keys{find: func(context.Context, header) (*key, error) {
			return nil, wrongKey("%w", ErrUnsaid)
		}}
		defer func() { v.keys = keys }()
	}
	c, _, err := v.load(ctx)
	if errors.Is(err, ErrKey) {
		// Without its key a store still tells that nothing is in it: there is
		// nothing to keep from anybody then.
		if data, e := v.store.read(); e == nil && bare(data) {
			return (&content{}).values(), Stamp(sha256.Sum256(data)), nil
		}
	}
	if err != nil {
		return nil, Stamp{}, fmt.Errorf("reading the values: %w", err)
	}
	return c.values(), v.sum, nil
}

// Stamp tells whether anything changed. It reads the file, without decrypting
// what it has seen before; no store at all has the zero stamp.
func (v *Vault) Stamp(ctx context.Context) (Stamp, error) {
	_, sum, err := v.current(ctx)
	if err != nil {
		return Stamp{}, fmt.Errorf("looking at the vault: %w", err)
	}
	return sum, nil
}
