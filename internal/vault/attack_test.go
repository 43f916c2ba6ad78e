package vault

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolcrib/toolcrib/internal/durable"
)

const treasure = "the treasure that nobody may see"

// refusesAll wants that every use is refused with this error, and that nothing
// on the disk changed by it.
func refusesAll(t *testing.T, v *Vault, want error) {
	t.Helper()
	ctx := t.Context()
	before := state(t, v.store.dir)
	private := []string{treasure, "other treasure"}
	_, err := v.Get(ctx, named("A"))
	wantErr(t, err, want, private...)
	_, err = v.List(ctx)
	wantErr(t, err, want, private...)
	_, _, err = v.Values(ctx)
	wantErr(t, err, want, private...)
	wantErr(t, v.Set(ctx, named("A"), "other treasure"), want, private...)
	wantErr(t, v.Remove(ctx, named("A")), want, private...)
	_, err = v.Rotate(ctx, v.keys)
	wantErr(t, err, want, private...)
	if diff := cmp.Diff(before, state(t, v.store.dir)); diff != "" {
		t.Errorf("something was written: %s", diff)
	}
}

func TestDamagedFile(t *testing.T) {
	keys := fromRing(fileRing(t.TempDir()))
	v := fresh(t, keys)
	mustSet(t, v, named("A"), treasure)
	path := v.store.path(fileName)
	good, err := os.ReadFile(path)
	must(t, err)
	headerEnd := len(magic) + bytes.IndexByte(good[len(magic):], '\n')

	cases := map[string][]byte{
		"empty":           {},
		"another file":    []byte("PASSWORD=" + treasure + "\n"),
		"another version": bytes.Replace(good, []byte("vault 1"), []byte("vault 2"), 1),
		"more behind":     append(bytes.Clone(good), 0),
		"twice":           append(bytes.Clone(good), good...),
		"plain body":      append(bytes.Clone(good[:headerEnd+1]), treasure...),
	}
	for name, data := range cases {
		t.Run(name, func(t *testing.T) {
			must(t, os.WriteFile(path, data, 0o600))
			refusesAll(t, at(v.store.dir, keys), ErrDamaged)
			refusesAll(t, v, ErrDamaged) // one that read it before
		})
	}

	// Wherever it is cut or changed by a bit, it does not open. In the line that
	// names the key, the key is found wrong; elsewhere, the file.
	attempt := func(what string, i int, data []byte) {
		must(t, os.WriteFile(path, data, 0o600))
		got, err := at(v.store.dir, keys).Get(t.Context(), named("A"))
		if !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrKey) || hides(got, treasure) {
			t.Fatalf("%s at %d: %q, %v", what, i, got, err)
		}
		if e := at(v.store.dir, keys).Set(t.Context(), named("A"), "x"); e == nil {
			t.Fatalf("%s at %d: it was overwritten", what, i)
		}
	}
	for i := 0; i < len(good); i += 61 {
		attempt("cut", i, good[:i])
		attempt("changed", i, flip(good, i))
	}
	attempt("cut", len(good)-1, good[:len(good)-1])
	attempt("changed", len(good)-1, flip(good, len(good)-1))

	must(t, os.WriteFile(path, good, 0o600))
	mustGet(t, at(v.store.dir, keys), named("A"), treasure)
}

func TestAnothersStore(t *testing.T) {
	keys := said(someKey(t))
	v, w := fresh(t, keys), fresh(t, said(someKey(t)))
	mustSet(t, v, named("A"), treasure)
	mustSet(t, w, named("A"), "planted")
	planted, err := os.ReadFile(w.store.path(fileName))
	must(t, err)
	must(t, os.WriteFile(v.store.path(fileName), planted, 0o600))
	refusesAll(t, at(v.store.dir, keys), ErrKey)
}

func TestUnsafePlace(t *testing.T) {
	if !hasRights {
		t.Skip("this system has other rights than modes and owners")
	}
	cases := map[string]func(t *testing.T, dir, file string){
		"readable by all":    func(t *testing.T, _, file string) { must(t, os.Chmod(file, 0o604)) },
		"readable by group":  func(t *testing.T, _, file string) { must(t, os.Chmod(file, 0o640)) },
		"writable by all":    func(t *testing.T, _, file string) { must(t, os.Chmod(file, 0o602)) },
		"open directory":     func(t *testing.T, dir, _ string) { must(t, os.Chmod(dir, 0o755)) },
		"writable directory": func(t *testing.T, dir, _ string) { must(t, os.Chmod(dir, 0o770)) },
		"a link": func(t *testing.T, dir, file string) {
			must(t, os.Rename(file, filepath.Dir(dir)+"/elsewhere"))
			must(t, os.Symlink(filepath.Dir(dir)+"/elsewhere", file))
		},
		"a link to nothing": func(t *testing.T, _, file string) {
			must(t, os.Remove(file))
			must(t, os.Symlink("nowhere", file))
		},
		"a hard link": func(t *testing.T, dir, file string) { must(t, os.Link(file, filepath.Dir(dir)+"/copy")) },
		"a directory": func(t *testing.T, _, file string) {
			must(t, os.Remove(file))
			must(t, os.Mkdir(file, 0o700))
		},
		"a linked directory": func(t *testing.T, dir, _ string) {
			must(t, os.Rename(dir, dir+".real"))
			must(t, os.Symlink(dir+".real", dir))
		},
		"a file as directory": func(t *testing.T, dir, _ string) {
			must(t, os.RemoveAll(dir))
			must(t, os.WriteFile(dir, nil, 0o600))
		},
		"a pipe": func(t *testing.T, _, file string) {
			must(t, os.Remove(file))
			must(t, makePipe(file))
		},
		"another's file": func(t *testing.T, _, file string) {
			if os.Geteuid() != 0 {
				t.Skip("only root can give a file away")
			}
			must(t, os.Chown(file, 12345, -1))
		},
		"another's directory": func(t *testing.T, dir, _ string) {
			if os.Geteuid() != 0 {
				t.Skip("only root can give a directory away")
			}
			must(t, os.Chown(dir, 12345, -1))
		},
	}
	for name, spoil := range cases {
		t.Run(name, func(t *testing.T) {
			keys := fromRing(fileRing(t.TempDir()))
			v := fresh(t, keys)
			mustSet(t, v, named("A"), treasure)
			spoil(t, v.store.dir, v.store.path(fileName))
			refusesAll(t, at(v.store.dir, keys), ErrUnsafe)
			refusesAll(t, v, ErrUnsafe)
		})
	}

	t.Run("a linked lock", func(t *testing.T) {
		v := fresh(t, said(someKey(t)))
		mustSet(t, v, named("A"), treasure)
		must(t, os.Remove(v.store.path(lockName)))
		target := filepath.Join(filepath.Dir(v.store.dir), "target")
		must(t, os.Symlink(target, v.store.path(lockName)))
		wantErr(t, v.Set(t.Context(), named("A"), "x"), ErrUnsafe)
		if _, err := os.Lstat(target); !errors.Is(err, fs.ErrNotExist) {
			t.Error("the link was followed")
		}
	})
	t.Run("a linked temporary file", func(t *testing.T) {
		v := fresh(t, said(someKey(t)))
		mustSet(t, v, named("A"), treasure)
		target := filepath.Join(filepath.Dir(v.store.dir), "target")
		must(t, os.WriteFile(target, []byte("mine"), 0o600))
		must(t, os.Symlink(target, v.store.path(tempName)))
		mustSet(t, v, named("A"), "new")
		mustGet(t, v, named("A"), "new")
		if text, err := os.ReadFile(target); err != nil || string(text) != "mine" {
			t.Errorf("the link was followed: %q, %v", text, err)
		}
	})
}

// noPlain looks for private texts in all files below a directory, by content
// and by name.
func noPlain(t *testing.T, dir string, private ...string) {
	t.Helper()
	files := state(t, dir)
	if len(files) < 2 {
		t.Errorf("there is nothing to look at in %v", files)
	}
	for path, data := range files {
		for _, text := range private {
			if hides(data, text) || strings.Contains(filepath.Base(path), text) {
				t.Errorf("%s has %q in the clear", path, text)
			}
		}
	}
}

func TestNothingInTheClear(t *testing.T) {
	ringDir := t.TempDir()
	keys := fromRing(fileRing(ringDir))
	key := someKey(t)
	v := fresh(t, said(key))
	dir := v.store.dir
	private := []string{treasure, "NAME_OF_TREASURE", "organisation-of-treasure", key, goodPhrase}
	look := func() {
		t.Helper()
		noPlain(t, dir, private...)
	}
	ref := Ref{Scope{Organisation: "organisation-of-treasure"}, "NAME_OF_TREASURE"}
	v.store.replace.At = func(durable.Point) { look() } // at every point of every write
	mustSet(t, v, ref, "first "+treasure)
	mustSet(t, v, ref, treasure)
	for _, to := range []Keys{keys, said(goodPhrase), keys} {
		_, err := v.Rotate(t.Context(), to)
		must(t, err)
		private = append(private, v.key.text)
		look()
	}
	must(t, v.Remove(t.Context(), ref))
	mustSet(t, v, ref, treasure)
	if err := child(t, "die at set", dir, ringDir, "2").Run(); err == nil {
		t.Fatal("the child did not die")
	}
	look()
	if _, err := os.Stat(v.store.path(tempName)); err != nil {
		t.Errorf("the crash left nothing to look at: %v", err)
	}
	if !hides(treasure, treasure) || !hides("dGhlIHRyZWFzdXJlIHRoYXQgbm9ib2R5IG1heSBzZWU", treasure) {
		t.Error("this test finds nothing")
	}
}
