package vault

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"filippo.io/age"
	"github.com/google/go-cmp/cmp"
	"github.com/zalando/go-keyring"
)

// env is a lookup in a map.
func env(values map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		text, ok := values[name]
		return text, ok
	}
}

func TestEveryPlaceOpensAgain(t *testing.T) {
	keyring.MockInit()
	pq := someKey(t)
	classic, err := age.GenerateX25519Identity()
	must(t, err)
	for name, keys := range map[string]Keys{
		"keyring":            FromKeyring(),
		"variable":           FromEnv("K", env(map[string]string{"K": pq})),
		"classic key":        FromEnv("K", env(map[string]string{"K": classic.String() + "\n"})),
		"as age-keygen says": said("# created: today\n# public key: age1x\n" + classic.String() + "\n"),
		"passphrase":         said(goodPhrase),
	} {
		t.Run(name, func(t *testing.T) {
			v := fresh(t, keys)
			mustSet(t, v, named("A"), "one")
			mustSet(t, v, named("B"), "two")
			again := at(v.store.dir, keys)
			mustGet(t, again, named("A"), "one")
			mustSet(t, again, named("A"), "three")
			mustGet(t, v, named("A"), "three")
			mustGet(t, v, named("B"), "two")
		})
	}
}

// With anything but the right key nothing is read, and nothing is written.
func TestWrongKey(t *testing.T) {
	const value = "the value that nobody may see"
	key, other := someKey(t), someKey(t)
	keyring.MockInit()
	broken := errors.New("no bus")
	places := map[string]Keys{
		"another key":        said(other),
		"a passphrase":       said(goodPhrase),
		"another passphrase": said("wrong horse battery staple"),
		"nothing":            said(""),
		"only a newline":     said("\n"),
		"a cut key":          said(key[:len(key)-3]),
		"a key mistyped":     said(strings.Replace(key, key[30:32], "BB", 1)),
		"two keys":           said(key + "\n" + other),
		"a page":             said("<html>\n<body>\n"),
		"unset variable":     FromEnv("K", env(nil)),
		"an empty keyring":   FromKeyring(),
		"a broken keyring": fromRing(ring{
			func(string, string) (string, error) { return "", broken },
			func(string, string, string) error { return broken },
			func(string, string) error { return broken },
		}),
		"a keyring of lies": fromRing(ring{
			func(string, string) (string, error) { return other, nil },
			func(string, string, string) error { return nil },
			func(string, string) error { return nil },
		}),
		"a keyring of rubbish": fromRing(ring{
			func(string, string) (string, error) { return "rubbish " + key, nil },
			func(string, string, string) error { return nil },
			func(string, string) error { return nil },
		}),
		"a person who refuses": FromPassphrase(func(context.Context, bool) (string, error) { return "", errors.New("no") }),
		"a missing program":    FromCommand([]string{"/nonexistent/keeper"}),
		"no program":           FromCommand(nil),
		"no place":             {},
	}
	for closed, right := range map[string]Keys{"key": said(key), "passphrase": said(goodPhrase)} {
		for name, wrong := range places {
			if closed == "passphrase" && name == "a passphrase" {
				continue
			}
			t.Run(closed+" and "+name, func(t *testing.T) {
				v := fresh(t, right)
				mustSet(t, v, named("A"), value)
				before := state(t, v.store.dir)
				w := at(v.store.dir, wrong)
				private := []string{value, key, other, goodPhrase}
				ctx := t.Context()
				_, err := w.Get(ctx, named("A"))
				wantErr(t, err, ErrKey, private...)
				_, _, err = w.Lookup(ctx, Scope{}, "A")
				wantErr(t, err, ErrKey, private...)
				_, err = w.List(ctx)
				wantErr(t, err, ErrKey, private...)
				_, _, err = w.Values(ctx)
				wantErr(t, err, ErrKey, private...)
				_, err = w.Stamp(ctx)
				wantErr(t, err, ErrKey, private...)
				var out strings.Builder
				_, err = w.Export(ctx, &out, ExportTo{Passphrase: goodPhrase})
				wantErr(t, err, ErrKey, private...)
				wantErr(t, w.Set(ctx, named("A"), "overwritten-overwritten"), ErrKey, append(private, "overwritten-overwritten")...)
				wantErr(t, w.Set(ctx, named("new"), "overwritten"), ErrKey, private...)
				wantErr(t, w.Remove(ctx, named("A")), ErrKey, private...)
				_, err = w.Rotate(ctx, said(other))
				wantErr(t, err, ErrKey, private...)
				if diff := cmp.Diff(before, state(t, v.store.dir)); diff != "" || out.Len() > 0 {
					t.Errorf("something was written: %s", diff)
				}
				mustGet(t, at(v.store.dir, right), named("A"), value)
			})
		}
	}
}

// A key that cannot be kept, or was not given, makes no store.
func TestNoKeyNoStore(t *testing.T) {
	keyring.MockInitWithError(errors.New("no keyring here"))
	t.Cleanup(keyring.MockInit)
	for name, keys := range map[string]Keys{
		"a keyring that fails": FromKeyring(),
		"one that forgets": fromRing(ring{
			func(string, string) (string, error) { return "", keyring.ErrNotFound },
			func(string, string, string) error { return nil },
			func(string, string) error { return keyring.ErrNotFound },
		}),
		"one that mixes up": func() Keys {
			other := someKey(t)
			return fromRing(ring{
				func(string, string) (string, error) { return other, nil },
				func(string, string, string) error { return nil },
				func(string, string) error { return nil },
			})
		}(),
		"a short passphrase": said("hunter2"),
		"no place":           {},
	} {
		t.Run(name, func(t *testing.T) {
			v := fresh(t, keys)
			wantErr(t, v.Set(t.Context(), named("A"), "a-value-a-value"), ErrKey, "a-value-a-value", "hunter2")
			if _, err := os.Stat(v.store.path(fileName)); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("a store was made: %v", err)
			}
		})
	}
}

func TestKeyringHangs(t *testing.T) {
	stop := make(chan struct{})
	defer close(stop)
	ctx, cancel := context.WithCancel(t.Context())
	v := fresh(t, fromRing(ring{
		get:    func(string, string) (string, error) { return "", keyring.ErrNotFound },
		set:    func(string, string, string) error { cancel(); <-stop; return nil },
		remove: func(string, string) error { return keyring.ErrNotFound },
	}))
	err := v.Set(ctx, named("A"), "one")
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestFromCommand(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the programs of this test are those of Unix")
	}
	key := someKey(t)
	path := t.TempDir() + "/key"
	must(t, os.WriteFile(path, []byte("# mine\n"+key+"\n"), 0o600))
	v := fresh(t, FromCommand([]string{"cat", path}))
	mustSet(t, v, named("A"), "one")
	mustGet(t, at(v.store.dir, said(key)), named("A"), "one")

	for name, argv := range map[string][]string{
		"fails":            {"sh", "-c", "cat \"$0\" >&2; exit 3", path},
		"fails after":      {"sh", "-c", "cat \"$0\"; exit 3", path},
		"too much":         {"sh", "-c", "head -c 100000 /dev/zero"},
		"is not expanded":  {"cat " + path},
		"nor its argument": {"cat", "$(echo " + path + ")"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := at(v.store.dir, FromCommand(argv)).Get(t.Context(), named("A"))
			wantErr(t, err, ErrKey, key)
		})
	}
	// Half of what it says is no passphrase.
	_, err := FromCommand([]string{"sh", "-c", "head -c 100000 /dev/zero | tr '\\0' a"}).fresh(t.Context())
	wantErr(t, err, ErrKey)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = FromCommand([]string{"sleep", "60"}).fresh(ctx)
	if !errors.Is(err, context.Canceled) || !errors.Is(err, ErrKey) {
		t.Errorf("got %v", err)
	}
}

func TestKeyConfig(t *testing.T) {
	lookup := env(map[string]string{DefaultEnv: someKey(t), "MINE": goodPhrase})
	ask := func(context.Context, bool) (string, error) { return goodPhrase, nil }
	for _, c := range []struct {
		cfg   KeyConfig
		place string
	}{
		{KeyConfig{}, "the environment variable " + DefaultEnv},
		{KeyConfig{From: "auto", Env: "UNSET"}, "the keyring of this system"},
		{KeyConfig{From: "keyring"}, "the keyring of this system"},
		{KeyConfig{From: "env", Env: "UNSET"}, "the environment variable UNSET"}, // named: no second choice
		{KeyConfig{From: "env", Env: "MINE"}, "the environment variable MINE"},
		{KeyConfig{From: "passphrase"}, "the passphrase"},
		{KeyConfig{From: "command", Command: []string{"op", "read"}}, "the command op"},
	} {
		keys, err := c.cfg.Keys(lookup, ask)
		if err != nil || keys.place != c.place {
			t.Errorf("%+v: got %q, %v", c.cfg, keys.place, err)
		}
	}
	_, err := KeyConfig{From: "passphrase"}.Keys(lookup, nil)
	wantErr(t, err, ErrKey)
	for _, cfg := range []KeyConfig{{From: "command"}, {From: "disk"}, {From: goodPhrase}} {
		_, err := cfg.Keys(lookup, ask)
		wantErr(t, err, ErrInvalid, goodPhrase)
	}
}

func TestPassphraseIsAskedOnce(t *testing.T) {
	var asked []bool
	keys := fromText("a person", cheap, func(_ context.Context, fresh bool) (string, error) {
		asked = append(asked, fresh)
		return goodPhrase, nil
	})
	v := fresh(t, keys)
	for range 3 {
		mustSet(t, v, named("A"), "one")
		mustGet(t, v, named("A"), "one")
	}
	w := at(v.store.dir, keys)
	for range 3 {
		mustGet(t, w, named("A"), "one")
		mustSet(t, v, named("A"), "one")
	}
	if diff := cmp.Diff([]bool{true, false}, asked); diff != "" {
		t.Error(diff)
	}
}

func FuzzParseSpoken(f *testing.F) {
	key, err := NewKey()
	if err != nil {
		f.Fatal(err)
	}
	for _, s := range []string{key, "# c\n" + key + "\r\n", goodPhrase, "", "\n", keyPrefix, keyPrefix + "1X", "a\nb"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		said, err := parseSpoken(text)
		switch {
		case err != nil && !errors.Is(err, ErrKey):
			t.Errorf("an error of another kind: %v", err)
		case err == nil && (said.key == nil) == (said.passphrase == ""):
			t.Errorf("it is both or neither: %+v", said)
		case err == nil && said.key != nil && !strings.Contains(text, keyPrefix):
			t.Error("a key from nowhere")
		}
	})
}

// A command that has one key does not get another.
func TestCommandSeesNoKey(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("there is no shell to look with")
	}
	t.Setenv(DefaultEnv, treasure)
	t.Setenv("MY_KEY", treasure)
	t.Setenv("MY_KEY_NEW", treasure)
	plain := someKey(t)
	t.Setenv("PLAIN", plain)
	cfg := KeyConfig{From: "command", Env: "MY_KEY", Command: []string{"sh", "-c", `echo "$PLAIN$TOOLCRIB_VAULT_KEY$MY_KEY$MY_KEY_NEW"`}}
	said, err := exec.Command("sh", "-c", cfg.Command[2]).Output()
	if must(t, err); !strings.Contains(string(said), treasure) {
		t.Error("the test cannot fail: the variables are not there anyway")
	}
	keys, err := cfg.Keys(os.LookupEnv, nil)
	must(t, err)
	k, err := keys.fresh(t.Context())
	if must(t, err); k.text != plain {
		t.Error("the command got more than its own")
	}
}

// Who redacts is no reason to ask a person, and goes by what was said already.
func TestKnownAsksNobody(t *testing.T) {
	asked := 0
	keys := said("correct horse battery")
	keys.asks = true
	first := fresh(t, keys)
	if _, sum, err := first.Known(t.Context()); err != nil || sum != (Stamp{}) {
		t.Errorf("without a store: %v", err)
	}
	mustSet(t, first, named("A"), "one")

	keys = fromText("the test", cheap, func(context.Context, bool) (string, error) { asked++; return "correct horse battery", nil })
	keys.asks = true
	v := at(first.store.dir, keys)
	_, _, err := v.Known(t.Context())
	if wantErr(t, err, ErrKey); asked != 0 {
		t.Error("a person was asked")
	}
	mustGet(t, v, named("A"), "one")
	mustSet(t, first, named("B"), "two")
	got := map[string]string{}
	values, sum, err := v.Known(t.Context())
	must(t, err)
	for ref, value := range values {
		got[ref.Name] = value
	}
	if asked != 1 || got["A"] != "one" || got["B"] != "two" {
		t.Errorf("asked %d times, got %v", asked, got)
	}
	if now, err := v.Stamp(t.Context()); err != nil || now != sum {
		t.Errorf("another stamp: %v", err)
	}
}
