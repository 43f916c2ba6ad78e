package vault

import (
	"bytes"
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func sampleStore(t testing.TB, keys Keys) ([]byte, *key) {
	t.Helper()
	k, err := keys.fresh(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	data, err := seal(&content{secrets: map[Ref]entry{named("A"): {"one", time.Unix(1, 0).UTC()}}}, k)
	if err != nil {
		t.Fatal(err)
	}
	return data, k
}

// The keys of the stores in testdata.
const (
	classicKey = keyPrefix + "1GHZN8EPW8AWUWQ22K230FYHFUAW5G4XHXPY3ALSKP9PRRFDJXDSQ4W0FWZ"
	hybridKey  = keyPrefix + "PQ-180HG2JCZ60Q0YLKR7AFS6WRGRV3THYFRUJFM0C7UVJPYLGW3MJ3SUX7FZR"
)

// oldStore reads a store of testdata, and its key.
func oldStore(t testing.TB, name string, keys Keys) ([]byte, *key) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "v1-"+name+".b64"))
	if err != nil {
		t.Fatal(err)
	}
	data, err := base64.StdEncoding.DecodeString(string(text))
	if err != nil {
		t.Fatal(err)
	}
	h, _, _, err := parseFile(data)
	if err != nil {
		t.Fatal(err)
	}
	k, err := keys.get(t.Context(), h)
	if err != nil {
		t.Fatal(err)
	}
	return data, k
}

// Stores that this version once wrote must open for ever.
func TestOldStores(t *testing.T) {
	want := &content{
		secrets: map[Ref]entry{
			named("A"):                        {"one", time.Unix(1, 0).UTC()},
			{Scope{"acme", "ann", "gh"}, "A"}: {"two\xff", time.Unix(2, 0).UTC()},
		},
		retired: []string{"0011223344556677"},
	}
	for name, keys := range map[string]Keys{"classic": said(classicKey), "hybrid": said(hybridKey), "passphrase": said(goodPhrase)} {
		data, k := oldStore(t, name, keys)
		_, line, body, err := parseFile(data)
		must(t, err)
		got, err := unseal(line, body, k)
		must(t, err)
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(content{}, entry{})); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// Knowing the public half of the key is not enough to make a store.
func TestForgery(t *testing.T) {
	data, k := sampleStore(t, said(someKey(t)))
	_, line, body, err := parseFile(data)
	must(t, err)
	if _, err := unseal(line, body, k); err != nil {
		t.Fatal(err)
	}
	other, err := newKey()
	must(t, err)
	plain := []byte(`{"secrets":[{"name":"A","value":"eA==","changed":"2026-01-01T00:00:00Z"}]}`)
	tag, err := other.tag(line, plain)
	must(t, err)
	good, err := k.tag(line, plain)
	must(t, err)
	for name, c := range map[string]struct {
		whole []byte
		want  error
	}{
		"none":            {plain, ErrDamaged},
		"too short":       {[]byte("x"), ErrDamaged},
		"zero":            {append(make([]byte, 32), plain...), ErrDamaged},
		"of another key":  {append(tag, plain...), ErrDamaged},
		"of another text": {append(bytes.Clone(good), bytes.Replace(plain, []byte("eA"), []byte("eB"), 1)...), ErrDamaged},
		"right":           {append(good, plain...), nil},
	} {
		t.Run(name, func(t *testing.T) {
			body, err := encrypt(c.whole, k.recipient)
			must(t, err)
			_, err = unseal(line, body, k)
			if !errors.Is(err, c.want) || c.want == nil && err != nil {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
	// The header is bound as well: the body of a store does not fit under
	// another header of the same key.
	h := header{Key: k.id, Wrapped: []byte("x")}
	line2, err := h.line()
	must(t, err)
	_, err = unseal(line2, body, k)
	wantErr(t, err, ErrDamaged)
}

func TestParseContent(t *testing.T) {
	const when = `"changed":"2026-01-01T00:00:00Z"`
	for name, text := range map[string]string{
		"empty":         ``,
		"no object":     `[]`,
		"more behind":   `{"secrets":[]} {}`,
		"unknown field": `{"secrets":[],"more":1}`,
		"no value":      `{"secrets":[{"name":"A",` + when + `}]}`,
		"bad name":      `{"secrets":[{"name":"A B","value":"eA==",` + when + `}]}`,
		"bad scope":     `{"secrets":[{"organisation":"*","subject":"x","name":"A","value":"eA==",` + when + `}]}`,
		"twice":         `{"secrets":[{"name":"A","value":"eA==",` + when + `},{"name":"A","value":"eB==",` + when + `}]}`,
		"bad key":       `{"retired":["x"],"secrets":[]}`,
	} {
		_, err := parseContent([]byte(text))
		if !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestParseFile(t *testing.T) {
	data, k := sampleStore(t, said(someKey(t)))
	rest := strings.TrimPrefix(string(data), magic)
	_, body, _ := strings.Cut(rest, "\n")
	for name, text := range map[string]string{
		"empty":           "",
		"another file":    "hello\n",
		"another version": "toolcrib vault 2\n" + rest,
		"magic only":      magic,
		"no second line":  magic + strings.Repeat("x", maxHeader+1),
		"no JSON":         magic + "x\n" + body,
		"null":            magic + "null\n" + body,
		"spaces":          magic + `{ "key":"` + k.id + `"}` + "\n" + body,
		"twice":           magic + `{"key":"x","key":"` + k.id + `"}` + "\n" + body,
		"more":            magic + `{"key":"` + k.id + `","x":1}` + "\n" + body,
		"capitals":        magic + `{"key":"` + strings.ToUpper("abcdefabcdefabcd") + `"}` + "\n" + body,
		"short key":       magic + `{"key":"00"}` + "\n" + body,
		"empty wrapped":   magic + `{"key":"` + k.id + `","wrapped":""}` + "\n" + body,
		"no body":         magic + `{"key":"` + k.id + `"}` + "\n",
	} {
		_, _, _, err := parseFile([]byte(text))
		if !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// FuzzStore: nothing but what was sealed opens, and a header that is accepted
// is the one that would be written.
func FuzzStore(f *testing.F) {
	// Stores and keys that are the same in every process of the fuzzing.
	data, k := oldStore(f, "hybrid", said(hybridKey))
	classic, ck := oldStore(f, "classic", said(classicKey))
	f.Add(data)
	f.Add(classic)
	f.Add(data[:len(data)/2])
	f.Add(flip(data, len(data)-1))
	f.Add([]byte(magic + "{}\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		h, line, body, err := parseFile(text)
		if err != nil {
			if !errors.Is(err, ErrDamaged) {
				t.Errorf("an error of another kind: %v", err)
			}
			return
		}
		again, err := h.line()
		if err != nil || !bytes.Equal(again, line) || magic+string(line)+string(body) != string(text) {
			t.Errorf("the parts are not the whole: %v", err)
		}
		for _, k := range []*key{k, ck} {
			if _, err := unseal(line, body, k); err == nil && !bytes.Equal(text, data) && !bytes.Equal(text, classic) {
				t.Error("an edited store was opened")
			}
		}
	})
}

func FuzzContent(f *testing.F) {
	for _, s := range []string{
		`{"secrets":[]}`,
		`{"retired":["0011223344556677"],"secrets":[{"organisation":"acme","tool":"t","name":"A","value":"eA==","changed":"2026-01-01T00:00:00Z"}]}`,
		`{"secrets":null}`, `{"secrets":[{}]}`, `{`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := parseContent(text)
		if err != nil {
			if !errors.Is(err, ErrDamaged) || len(err.Error()) > 200 {
				t.Errorf("an error of another kind: %v", err)
			}
			return
		}
		out, err := c.encode()
		if err != nil {
			return // a year that JSON cannot write is found before it is sealed
		}
		again, err := parseContent(out)
		if err != nil {
			t.Fatalf("what was written cannot be read: %v", err)
		}
		twice, err := again.encode()
		if err != nil || !bytes.Equal(out, twice) || len(again.secrets) != len(c.secrets) {
			t.Errorf("%s became %s, %v", out, twice, err)
		}
	})
}
