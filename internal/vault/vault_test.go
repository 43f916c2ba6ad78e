package vault

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"filippo.io/age"
	"filippo.io/age/armor"
	"github.com/google/go-cmp/cmp"
)

func TestSetGetRemove(t *testing.T) {
	v := fresh(t, said(someKey(t)))
	v.now = func() time.Time { return time.Date(2026, 5, 1, 12, 0, 0, 0, time.FixedZone("x", 3600)) }
	ctx := t.Context()

	// Before there is a store, reading makes none and asks for no key.
	_, err := v.Get(ctx, named("A"))
	wantErr(t, err, ErrNotFound)
	wantErr(t, v.Remove(ctx, named("A")), ErrNotFound)
	if list, err := v.List(ctx); err != nil || len(list) != 0 {
		t.Errorf("an empty vault lists %v, %v", list, err)
	}
	if stamp, err := v.Stamp(ctx); err != nil || stamp != (Stamp{}) {
		t.Errorf("an empty vault has the stamp %x, %v", stamp, err)
	}
	if there, err := v.Exists(); err != nil || there {
		t.Errorf("an empty vault exists: %v, %v", there, err)
	}
	if files := state(t, v.store.dir); len(files) != 0 {
		t.Errorf("reading made files: %v", files)
	}

	values := map[Ref]string{
		named("A"): "first",
		named("B"): "line one\nline two\n",
		{Scope{Organisation: "acme", Subject: "ann", Tool: "mcp__x"}, "A"}: "\x00\xff binary \xfe",
	}
	for ref, value := range values {
		mustSet(t, v, ref, "before "+ref.Name)
		mustSet(t, v, ref, value)
	}
	if there, err := v.Exists(); err != nil || !there {
		t.Errorf("a vault with secrets exists: %v, %v", there, err)
	}
	for _, open := range []*Vault{v, at(v.store.dir, v.keys)} {
		for ref, value := range values {
			mustGet(t, open, ref, value)
		}
		_, err = open.Get(ctx, Ref{Scope{Organisation: "acme"}, "A"}) // exactly, not by lookup
		wantErr(t, err, ErrNotFound)
	}

	// The largest value that is taken.
	mustSet(t, v, named("big"), strings.Repeat("0123456789abcdef", maxValue/16))
	mustGet(t, at(v.store.dir, v.keys), named("big"), strings.Repeat("0123456789abcdef", maxValue/16))
	list, err := v.List(ctx)
	must(t, err)
	must(t, v.Remove(ctx, named("big")))
	when := time.Date(2026, 5, 1, 11, 0, 0, 0, time.UTC)
	want := []Info{
		{named("A"), when}, {named("B"), when}, {named("big"), when},
		{Ref{Scope{"acme", "ann", "mcp__x"}, "A"}, when},
	}
	if diff := cmp.Diff(want, list); diff != "" {
		t.Error(diff)
	}

	must(t, v.Remove(ctx, named("A")))
	wantErr(t, v.Remove(ctx, named("A")), ErrNotFound)
	again := at(v.store.dir, v.keys)
	_, err = again.Get(ctx, named("A"))
	wantErr(t, err, ErrNotFound)
	mustGet(t, again, named("B"), values[named("B")])
	must(t, v.Forget(ctx))
	mustGet(t, v, named("B"), values[named("B")])
}

func TestRefused(t *testing.T) {
	const value = "hunter2-hunter2-hunter2"
	v := fresh(t, said(someKey(t)))
	for name, err := range map[string]error{
		"empty value":      v.Set(t.Context(), named("A"), ""),
		"long value":       v.Set(t.Context(), named("A"), strings.Repeat("x", maxValue+1)),
		"no name":          v.Set(t.Context(), named(""), value),
		"value as name":    v.Set(t.Context(), named("pass: "+value), value),
		"long name":        v.Set(t.Context(), named(strings.Repeat("a", maxName+1)), value),
		"dash":             v.Set(t.Context(), named("-rf"), value),
		"control":          v.Set(t.Context(), Ref{Scope{Subject: "a\nb"}, "A"}, value),
		"not UTF-8":        v.Set(t.Context(), Ref{Scope{Tool: "a\xff"}, "A"}, value),
		"long word":        v.Set(t.Context(), Ref{Scope{Tool: strings.Repeat("a", maxWord+1)}, "A"}, value),
		"everyone's ann":   v.Set(t.Context(), Ref{Scope{Organisation: Everyone, Subject: "ann"}, "A"}, value),
		"star as subject":  v.Set(t.Context(), Ref{Scope{Subject: "*"}, "A"}, value),
		"star as tool":     v.Set(t.Context(), Ref{Scope{Tool: "*"}, "A"}, value),
		"remove of no ref": v.Remove(t.Context(), named("")),
	} {
		t.Run(name, func(t *testing.T) { wantErr(t, err, ErrInvalid, value) })
	}
	if files := state(t, v.store.dir); len(files) != 0 {
		t.Errorf("refused calls made files: %v", files)
	}
	for _, dir := range []string{"", "vault", "/", "./x"} {
		_, err := Open(Config{Dir: dir}, Keys{})
		wantErr(t, err, ErrInvalid)
	}
}

func TestPrintsNoSecret(t *testing.T) {
	const value = "hunter2-hunter2-hunter2"
	key := someKey(t)
	v := fresh(t, said(key))
	mustSet(t, v, named("A"), value)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%d", "%x", "%q"} {
		for _, text := range []string{fmt.Sprintf(verb, v), fmt.Sprintf(verb, struct{ V *Vault }{v}), fmt.Sprintf(verb, v.keys)} {
			if hides(text, value) || hides(text, key) {
				t.Errorf("%s prints %s", verb, text)
			}
		}
	}
	text, err := json.Marshal(struct{ V *Vault }{v})
	if must(t, err); string(text) != `{"V":{}}` {
		t.Errorf("as JSON: %s", text)
	}
}

// A vault sees what another one, in another process, did to the store.
func TestSeesChanges(t *testing.T) {
	a := fresh(t, said(someKey(t)))
	b := at(a.store.dir, a.keys)
	mustSet(t, a, named("A"), "one")
	mustGet(t, b, named("A"), "one")
	before, err := b.Stamp(t.Context())
	must(t, err)
	mustSet(t, a, named("A"), "two")
	mustGet(t, b, named("A"), "two")

	all, stamp, err := b.Values(t.Context())
	must(t, err)
	if stamp == before {
		t.Error("the stamp did not change")
	}
	if now, err := b.Stamp(t.Context()); err != nil || now != stamp {
		t.Errorf("the stamp changed by itself: %v", err)
	}
	mustSet(t, a, Ref{Scope{Organisation: "acme"}, "A"}, "three")
	// as it was when it was asked for
	if diff := cmp.Diff(map[Ref]string{named("A"): "two"}, maps.Collect(all)); diff != "" {
		t.Error(diff)
	}
	all, _, err = b.Values(t.Context())
	must(t, err)
	for range all {
		break // an early end is allowed
	}
	must(t, os.RemoveAll(a.store.dir))
	_, err = b.Get(t.Context(), named("A"))
	wantErr(t, err, ErrNotFound)
	if stamp, err := b.Stamp(t.Context()); err != nil || stamp != (Stamp{}) {
		t.Errorf("a store that is gone has the stamp %x, %v", stamp, err)
	}
}

// A change that fails is not there, and one that succeeds does not reach back
// into what was handed out before.
func TestFailedChange(t *testing.T) {
	v := fresh(t, said(someKey(t)))
	mustSet(t, v, named("A"), "one")
	all, stamp, err := v.Values(t.Context())
	must(t, err)
	unblock := block(t, v)
	if v.Set(t.Context(), named("A"), "two") == nil || v.Remove(t.Context(), named("A")) == nil {
		t.Fatal("the change was made")
	}
	mustGet(t, v, named("A"), "one")
	if now, err := v.Stamp(t.Context()); err != nil || now != stamp {
		t.Errorf("the stamp changed, or %v", err)
	}
	unblock()
	mustSet(t, v, named("A"), "two")
	must(t, v.Remove(t.Context(), named("A")))
	if diff := cmp.Diff(map[Ref]string{named("A"): "one"}, maps.Collect(all)); diff != "" {
		t.Error(diff)
	}
}

func TestManyGoroutines(t *testing.T) {
	keys := said(someKey(t))
	a := fresh(t, keys)
	b := at(a.store.dir, keys)
	var all sync.WaitGroup
	for i := range 8 {
		v := []*Vault{a, b}[i%2]
		all.Go(func() {
			for j := range 4 {
				ref := named(fmt.Sprintf("n%d-%d", i, j))
				if err := v.Set(t.Context(), ref, ref.Name); err != nil {
					t.Error(err)
				}
				if got, err := v.Get(t.Context(), ref); err != nil || got != ref.Name {
					t.Errorf("%s is %q, %v", ref, got, err)
				}
			}
		})
	}
	all.Wait()
	list, err := a.List(t.Context())
	if must(t, err); len(list) != 32 {
		t.Errorf("%d of 32 secrets are there", len(list))
	}
}

func TestGranted(t *testing.T) {
	v := fresh(t, said(someKey(t)))
	acme := Scope{Organisation: "acme", Subject: "ann", Tool: "t"}
	mustSet(t, v, Ref{Scope{Organisation: "acme"}, "A"}, "a")
	mustSet(t, v, Ref{Scope{Organisation: "acme"}, "B"}, "b")
	mustSet(t, v, Ref{Scope{Organisation: "other"}, "C"}, "c")

	names := []string{"A", "C", "D"}
	secret := v.Granted(acme, names)
	names[0] = "B" // the list was copied
	if got, err := secret(t.Context(), "A"); err != nil || got != "a" {
		t.Errorf("A: %q, %v", got, err)
	}
	_, err := secret(t.Context(), "B")
	wantErr(t, err, ErrNotGranted)
	_, errMissing := v.Granted(acme, nil)(t.Context(), "nothing")
	wantErr(t, errMissing, ErrNotGranted) // there or not, it is not told
	for _, name := range []string{"C", "D"} {
		_, err = secret(t.Context(), name)
		wantErr(t, err, ErrNotFound)
	}
	_, err = secret(t.Context(), "*")
	wantErr(t, err, ErrInvalid)
	every := v.Granted(acme, []string{"*"})
	if got, err := every(t.Context(), "B"); err != nil || got != "b" {
		t.Errorf("B: %q, %v", got, err)
	}
	_, err = v.Granted(Scope{Organisation: Everyone}, []string{"*"})(t.Context(), "A")
	wantErr(t, err, ErrInvalid)
	text, err := Expand(t.Context(), "x ${secret:A} y ${secret:A}${VAR} $(id)", secret)
	if must(t, err); text != "x a y a${VAR} $(id)" {
		t.Errorf("expanded to %q", text)
	}
	_, err = Expand(t.Context(), "${secret:A}${secret:B}", secret)
	wantErr(t, err, ErrNotGranted)
}

func TestExport(t *testing.T) {
	v := fresh(t, said(someKey(t)))
	mustSet(t, v, named("A"), "text <&> value-of-a-secret")
	mustSet(t, v, Ref{Scope{Organisation: "acme", Tool: "t"}, "B"}, "\xff\x00binary-value-of-a-secret")
	id, err := age.GenerateX25519Identity()
	must(t, err)
	phrase, err := age.NewScryptIdentity(goodPhrase)
	must(t, err)

	for name, c := range map[string]struct {
		to   ExportTo
		with age.Identity
		want []string
	}{
		"public key": {ExportTo{Recipients: []string{id.Recipient().String()}}, id, []string{"A", "B"}},
		"passphrase": {ExportTo{Passphrase: goodPhrase}, phrase, []string{"A", "B"}},
		"one organisation": {ExportTo{Passphrase: goodPhrase, Only: func(r Ref) bool { return r.Organisation == "acme" }},
			phrase, []string{"B"}},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			n, err := v.Export(t.Context(), &out, c.to)
			must(t, err)
			if hides(out.String(), "value-of-a-secret") {
				t.Error("the export has values in the clear")
			}
			r, err := age.Decrypt(armor.NewReader(&out), c.with)
			must(t, err)
			text, err := io.ReadAll(r)
			must(t, err)
			var got struct{ Secrets []exported }
			must(t, json.Unmarshal(text, &got))
			var names []string
			for _, s := range got.Secrets {
				names = append(names, s.Name)
				mustGet(t, v, s.Ref, s.Value+string(s.Bytes))
			}
			if diff := cmp.Diff(c.want, names); diff != "" || n != len(names) {
				t.Errorf("%d exported: %s", n, diff)
			}
		})
	}

	secret := someKey(t)
	for name, to := range map[string]ExportTo{
		"nobody":           {},
		"both":             {Recipients: []string{id.Recipient().String()}, Passphrase: goodPhrase},
		"short passphrase": {Passphrase: "hunter2"},
		"private key":      {Recipients: []string{secret}},
		"small letters":    {Recipients: []string{strings.ToLower(secret)}},
		"not a key":        {Recipients: []string{"age1xyz"}},
		"two in one":       {Recipients: []string{id.Recipient().String() + "\n" + id.Recipient().String()}},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			_, err := v.Export(t.Context(), &out, to)
			wantErr(t, err, ErrInvalid, secret)
			if out.Len() > 0 {
				t.Error("something was written")
			}
		})
	}
}

func TestBusyAndCancelled(t *testing.T) {
	v := fresh(t, said(someKey(t)))
	mustSet(t, v, named("A"), "one")
	held, err := v.store.lock(t.Context(), time.Second)
	must(t, err)
	v.wait = 20 * time.Millisecond
	before := state(t, v.store.dir)
	wantErr(t, v.Set(t.Context(), named("A"), "two-two-two-two"), ErrBusy, "two-two-two-two")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	v.wait = time.Hour
	err = v.Set(ctx, named("A"), "two-two-two-two")
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	mustGet(t, v, named("A"), "one") // readers wait for nobody
	if diff := cmp.Diff(before, state(t, v.store.dir)); diff != "" {
		t.Error(diff)
	}
	must(t, held.Close())
	mustSet(t, v, named("A"), "two")
}
