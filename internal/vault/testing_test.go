package vault

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zalando/go-keyring"
)

// cheap is a scrypt work factor for tests: they test what is done with a
// passphrase, not how long guessing it takes.
const cheap = 4

const goodPhrase = "correct horse battery staple"

// TestMain runs a child process, if this is one.
func TestMain(m *testing.M) {
	if role := os.Getenv("VAULT_TEST_ROLE"); role != "" {
		if err := playRole(role, os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// child starts this binary again in a role.
func child(t *testing.T, role string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), self, args...)
	// The race detector would have each of them wait a second at its end.
	c.Env = append(os.Environ(), "VAULT_TEST_ROLE="+role, "GORACE=atexit_sleep_ms=0")
	c.Stderr = os.Stderr
	return c
}

// fileRing is a keyring that two processes share and that outlasts a crash.
func fileRing(dir string) ring {
	at := func(user string) string { return filepath.Join(dir, user) }
	gone := func(err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return keyring.ErrNotFound
		}
		return err
	}
	return ring{
		get: func(_, user string) (string, error) {
			text, err := os.ReadFile(at(user))
			return string(text), gone(err)
		},
		set: func(_, user, text string) error {
			temp := fmt.Sprintf("%s.%d", at(user), os.Getpid())
			if err := os.WriteFile(temp, []byte(text), 0o600); err != nil {
				return err
			}
			return os.Rename(temp, at(user))
		},
		remove: func(_, user string) error { return gone(os.Remove(at(user))) },
	}
}

// keysIn counts the keys that a fileRing has.
func keysIn(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, e := range entries {
		if isKeyID(e.Name()) {
			ids = append(ids, e.Name())
		}
	}
	return ids
}

// said is a place that says this text whenever it is asked.
func said(text string) Keys {
	return fromText("the test", cheap, func(context.Context, bool) (string, error) { return text, nil })
}

func someKey(t *testing.T) string {
	t.Helper()
	text, err := NewKey()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func at(dir string, keys Keys) *Vault {
	v, err := Open(Config{Dir: dir}, keys)
	if err != nil {
		panic(err)
	}
	v.work = cheap
	return v
}

// fresh gives a vault on a directory that is not there yet.
func fresh(t *testing.T, keys Keys) *Vault {
	t.Helper()
	return at(filepath.Join(t.TempDir(), "state", "vault"), keys)
}

func named(name string) Ref { return Ref{Name: name} }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func mustSet(t *testing.T, v *Vault, ref Ref, value string) {
	t.Helper()
	must(t, v.Set(t.Context(), ref, value))
}

func mustGet(t *testing.T, v *Vault, ref Ref, want string) {
	t.Helper()
	got, err := v.Get(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	if got != want {
		t.Fatalf("the secret %s has %d bytes, not the %d that were set", ref, len(got), len(want))
	}
}

// wantErr wants this error, and none of the private texts in what it says.
func wantErr(t *testing.T, err, want error, private ...string) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("got the error %v, want %v", err, want)
		return
	}
	for _, text := range private {
		if hides(err.Error()+fmt.Sprintf("%#v", err), text) {
			t.Errorf("the error says what is private: %v", err)
		}
	}
}

// hides reports whether a text has another in it, or half of it, plain or in a
// usual encoding. The other must be long enough not to be there by chance.
func hides(text, private string) bool {
	half := private[:(len(private)+1)/2]
	for _, p := range []string{private, half, private[len(private)/2:]} {
		if strings.Contains(text, p) || strings.Contains(strings.ToLower(text), hex.EncodeToString([]byte(p))) {
			return true
		}
	}
	for shift := range 3 { // base64 of a text depends on where in the bytes it stands
		enc := base64.RawStdEncoding.EncodeToString(append(make([]byte, shift), private...))
		if strings.Contains(text, enc[4:len(enc)-4]) {
			return true
		}
	}
	return false
}

// state is every file of a directory with its content, apart from the lock.
func state(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() == lockName {
			return err
		}
		text := d.Type().String()
		if d.Type().IsRegular() {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text += string(data)
		}
		files[path] = text
		return nil
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return files
}

// tempName is what a write is called until it is done.
const tempName = fileName + ".new"

// block makes every write of a store fail, until the function is called.
func block(t *testing.T, v *Vault) func() {
	t.Helper()
	path := v.store.path(tempName)
	must(t, os.Mkdir(path, 0o700))
	must(t, os.WriteFile(filepath.Join(path, "x"), nil, 0o600))
	return func() { must(t, os.RemoveAll(path)) }
}

// firstLine waits for a child's first line of output.
func firstLine(t *testing.T, r *bufio.Reader) string {
	t.Helper()
	line, err := r.ReadString('\n')
	if err != nil {
		t.Fatalf("the child says nothing: %v", err)
	}
	return strings.TrimSpace(line)
}

// flip changes one bit of a copy.
func flip(data []byte, i int) []byte {
	out := bytes.Clone(data)
	out[i] ^= 1
	return out
}
