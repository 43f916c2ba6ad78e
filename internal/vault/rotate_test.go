package vault

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zalando/go-keyring"
)

func TestRotate(t *testing.T) {
	keyring.MockInit()
	first, second := someKey(t), someKey(t)
	v := fresh(t, said(first))
	_, err := v.Rotate(t.Context(), said(second))
	wantErr(t, err, ErrNotFound) // nothing to rotate
	mustSet(t, v, named("A"), "one")
	mustSet(t, v, Ref{Scope{Organisation: "acme"}, "A"}, "two")

	_, err = v.Rotate(t.Context(), said(first))
	wantErr(t, err, ErrKey, first)
	_, err = v.Rotate(t.Context(), Keys{})
	wantErr(t, err, ErrKey)
	_, err = v.Rotate(t.Context(), said("short"))
	wantErr(t, err, ErrKey)

	old := said(first)
	for _, to := range []Keys{said(second), FromKeyring(), said(goodPhrase), said("another passphrase of this test"), FromKeyring(), FromKeyring(), said(first)} {
		before := v.key.id
		r, err := v.Rotate(t.Context(), to)
		must(t, err)
		if r.Old != before || r.New != v.key.id || r.Old == r.New || len(r.Left) > 0 {
			t.Errorf("rotated %+v", r)
		}
		if _, err := keyring.Get(Service, r.Old); !errors.Is(err, keyring.ErrNotFound) {
			t.Errorf("the old key is still in the keyring: %v", err)
		}
		mustGet(t, v, named("A"), "one")
		now := at(v.store.dir, to)
		mustGet(t, now, Ref{Scope{Organisation: "acme"}, "A"}, "two")
		mustSet(t, v, named("B"), r.New)
		mustGet(t, now, named("B"), r.New)
		if to.place != old.place || to.place == "the test" {
			_, err = at(v.store.dir, old).Get(t.Context(), named("A"))
			wantErr(t, err, ErrKey)
		}
		old = to
	}
}

// A running process follows a rotation in the keyring by itself.
func TestRotateUnderReader(t *testing.T) {
	dir := t.TempDir()
	keys := fromRing(fileRing(dir))
	v := fresh(t, keys)
	mustSet(t, v, named("A"), "one")
	reader := at(v.store.dir, keys)
	mustGet(t, reader, named("A"), "one")
	for range 3 {
		_, err := v.Rotate(t.Context(), keys)
		must(t, err)
		mustGet(t, reader, named("A"), "one")
	}
	// … even if the rotation falls between its reading and its asking.
	must(t, reader.Forget(t.Context()))
	inner := reader.keys.find
	once := false
	reader.keys.find = func(ctx context.Context, h header) (*key, error) {
		if !once {
			once = true
			if _, err := v.Rotate(ctx, keys); err != nil {
				t.Error(err)
			}
		}
		return inner(ctx, h)
	}
	mustGet(t, reader, named("A"), "one")
	if ids := keysIn(t, dir); len(ids) != 1 {
		t.Errorf("the keyring has the keys %v", ids)
	}
}

func TestRotateFails(t *testing.T) {
	dir := t.TempDir()
	r := fileRing(dir)
	stuck := true
	remove := r.remove
	r.remove = func(service, user string) error {
		if stuck {
			return errors.New("locked")
		}
		return remove(service, user)
	}
	keys := fromRing(r)
	v := fresh(t, keys)
	mustSet(t, v, named("A"), "one")

	// A key that cannot be removed is told, and removed by a later rotation.
	one, err := v.Rotate(t.Context(), keys)
	must(t, err)
	two, err := v.Rotate(t.Context(), keys)
	must(t, err)
	if diff := cmp.Diff([]string{one.Old, one.New}, two.Left); diff != "" {
		t.Error(diff)
	}
	stuck = false
	three, err := v.Rotate(t.Context(), keys)
	must(t, err)
	if ids := keysIn(t, dir); !slices.Equal(ids, []string{three.New}) || len(three.Left) > 0 {
		t.Errorf("the keyring has the keys %v, left %v", ids, three.Left)
	}

	// A store that cannot be written keeps its key, and the new one goes:
	// whether it fails before the new key is in its place or after.
	before := state(t, v.store.dir)
	unblock := block(t, v)
	_, err = v.Rotate(t.Context(), keys)
	if err == nil {
		t.Error("it rotated")
	}
	unblock()
	if diff := cmp.Diff(before, state(t, v.store.dir)); diff != "" {
		t.Error(diff)
	}
	late := r
	late.set = func(service, user, text string) error {
		unblock = block(t, v)
		return r.set(service, user, text)
	}
	_, err = v.Rotate(t.Context(), fromRing(late))
	if err == nil {
		t.Error("it rotated")
	}
	unblock()
	if ids := keysIn(t, dir); !slices.Equal(ids, []string{three.New}) {
		t.Errorf("the keyring has the keys %v", ids)
	}
	mustGet(t, at(v.store.dir, keys), named("A"), "one")
	_, err = v.Rotate(t.Context(), keys)
	must(t, err)
	mustGet(t, at(v.store.dir, keys), named("A"), "one")
}

// Where the system cannot say that a change is on the disk, the old key stays
// until the next rotation.
func TestRotateUnsure(t *testing.T) {
	dir := t.TempDir()
	keys := fromRing(fileRing(dir))
	v := fresh(t, keys)
	v.store.replace.SyncDir = func(string) (bool, error) { return false, nil }
	mustSet(t, v, named("A"), "one")
	for range 3 {
		r, err := v.Rotate(t.Context(), keys)
		must(t, err)
		want := []string{r.Old, r.New}
		slices.Sort(want)
		if ids := keysIn(t, dir); !slices.Equal(ids, want) || !slices.Equal(r.Left, []string{r.Old}) {
			t.Errorf("after %+v the keyring has the keys %v", r, ids)
		}
		mustGet(t, at(v.store.dir, keys), named("A"), "one")
	}
}

// TestRotateOnAFullDisk: a write that fails before the store is under the new key is
// told; the last one only tidies up. The secrets are there each time.
func TestRotateOnAFullDisk(t *testing.T) {
	for n := 1; n <= 3; n++ {
		keys := fromRing(fileRing(t.TempDir()))
		v := fresh(t, keys)
		mustSet(t, v, named("A"), "one")
		full := errors.New("the disk is full")
		writes := 0
		v.store.replace.SyncDir = func(string) (bool, error) {
			if writes++; writes == n {
				return false, full
			}
			return true, nil
		}
		if _, err := v.Rotate(t.Context(), keys); errors.Is(err, full) != (n < 3) {
			t.Errorf("write %d fails: %v", n, err)
		}
		mustGet(t, at(v.store.dir, keys), named("A"), "one")
	}
}
