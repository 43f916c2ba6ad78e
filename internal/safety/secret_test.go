package safety

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/safety/secrets"
)

// Made up, and put together so that no scanner takes this file for a leak.
func githubToken() string { return "ghp_" + "R7mQ2vN9xK4pT8cW1zL6gH3sD5fJ0aB7nM2q" }

var scannerForTests = sync.OnceValues(secrets.New)

func testSecrets() Secrets {
	known := secrets.NewKnown([]string{"correct horse battery"})
	return Secrets{Scanner: scannerForTests, Known: func() *secrets.Known { return known }}
}

func TestSecretMode(t *testing.T) {
	for _, m := range []SecretMode{SecretRedact, SecretBlock, SecretWarn} {
		var got SecretMode
		if err := got.UnmarshalText([]byte(m.String())); err != nil || got != m {
			t.Errorf("%s: got %s, %v", m, got, err)
		}
	}
	got := SecretWarn
	if err := got.UnmarshalText([]byte("off")); err == nil || got != SecretBlock {
		t.Errorf("an unknown word gives %s, %v", got, err)
	}
}

func TestSecretGuard(t *testing.T) {
	for _, tt := range []struct {
		name, input string
		says        []string // nil: nothing
	}{
		{"nothing", `{"path":"a.txt","n":3}`, nil},
		{"no input", ``, nil},
		{"a token", `{"headers":{"Authorization":"Bearer ` + githubToken() + `"}}`, []string{"args.headers.Authorization", "github"}},
		{"an escaped token", `{"rows":[1,"\u0067` + githubToken()[1:] + `"]}`, []string{"args.rows[1]"}},
		{"a token as a key", `{"m":{"` + githubToken() + `":1}}`, []string{"args.m"}},
		{"known", `{"text":"say correct horse battery"}`, []string{"args.text", secrets.RuleKnown}},
		{"by its name", `{"db":{"password":"x"}}`, []string{"args.db.password", "by its name"}},
		{"a list by its name", `{"tokens":["x","y"]}`, []string{"args.tokens[0]", "args.tokens[1]"}},
		{"a reference", `{"password":"${secret:DB}"}`, nil},
		{"a switch", `{"token":true,"secret":null,"cookie":""}`, nil},
	} {
		for _, mode := range []SecretMode{SecretRedact, SecretWarn, SecretBlock, 77} {
			v, err := SecretGuard{testSecrets(), mode}.Judge(context.Background(), toolcrib.Review{Input: json.RawMessage(tt.input)})
			if err != nil {
				t.Fatalf("%s: %v", tt.name, err)
			}
			if tt.says == nil {
				if v != nil {
					t.Errorf("%s: %+v", tt.name, v)
				}
				continue
			}
			if v == nil {
				t.Errorf("%s: it says nothing", tt.name)
				continue
			}
			if deny := mode != SecretRedact && mode != SecretWarn; deny != (v.Decision == toolcrib.Deny) || deny == v.Note {
				t.Errorf("%s, %s: %+v", tt.name, mode, v)
			}
			for _, want := range tt.says {
				if !strings.Contains(v.Reason, want) {
					t.Errorf("%s: the reason %q does not say %q", tt.name, v.Reason, want)
				}
			}
			if strings.Contains(v.Reason, "ghp_") || strings.Contains(v.Reason, "horse") {
				t.Errorf("%s: the reason tells the secret: %s", tt.name, v.Reason)
			}
		}
	}
}

func TestSecretsWithoutScanner(t *testing.T) {
	broken := Secrets{Scanner: func() (*secrets.Scanner, error) { return nil, errors.New("broken") }}
	for _, s := range []Secrets{{}, broken} {
		if _, err := (SecretGuard{Secrets: s}).Judge(context.Background(), toolcrib.Review{Input: json.RawMessage(`{}`)}); err == nil {
			t.Error("the guard lets a call through unseen")
		}
		if r, err := (SecretVetter{Secrets: s}).Vet(context.Background(), toolcrib.Review{}, toolcrib.Text("x")); err == nil {
			t.Errorf("the vetter gives %+v unseen", r)
		}
		if got := string(s.RedactJSON(json.RawMessage(`{"a":"b"}`))); got != `"[redacted]"` {
			t.Errorf("got %s", got)
		}
		if got := s.RedactText("abc"); got != secrets.Mark {
			t.Errorf("got %s", got)
		}
	}
}

func TestSecretVetterRedacts(t *testing.T) {
	tok := githubToken()
	given := &toolcrib.Result{
		Value: json.RawMessage(`{"n":1,"rows":["a","` + tok + `"],"next_page_token":"p2"}`),
		Content: []toolcrib.Content{
			{Type: "text", Text: "it is " + tok + ", or correct horse battery"},
			{Type: "resource", URI: "https://example.org/?t=" + tok, MIME: "text/plain", Data: []byte("x " + tok + " y")},
			{Type: "image", MIME: "image/png", Data: []byte("\x89PNG\x00" + tok)},
			{Type: "resource", MIME: "application/octet-stream", Data: []byte("\xff\x00" + tok)},
			{Type: "text", Text: `{"a":"\u0067` + tok[1:] + `"}`},
			{Type: "image", MIME: "image/gif", Data: []byte("GIF89a " + tok)}, // a text, whatever it is called
		},
		Failed: true,
	}
	before, err := json.Marshal(given)
	if err != nil {
		t.Fatal(err)
	}
	got, err := SecretVetter{Secrets: testSecrets()}.Vet(context.Background(), toolcrib.Review{}, given)
	if err != nil {
		t.Fatal(err)
	}
	want := &toolcrib.Result{
		Value: json.RawMessage(`{"n":1,"rows":["a","[redacted]"],"next_page_token":"p2"}`),
		Content: []toolcrib.Content{
			{Type: "text", Text: "it is [redacted], or [redacted]"},
			{Type: "resource", URI: "https://example.org/?t=[redacted]", MIME: "text/plain", Data: []byte("x [redacted] y")},
			given.Content[2], given.Content[3],
			{Type: "text", Text: `{"a":"[redacted]"}`},
			{Type: "image", MIME: "image/gif", Data: []byte("GIF89a [redacted]")},
		},
		Failed: true,
	}
	if d := cmp.Diff(want, got, cmpopts.IgnoreUnexported(toolcrib.Result{})); d != "" {
		t.Error(d)
	}
	if after, err := json.Marshal(given); err != nil || string(after) != string(before) {
		t.Errorf("the result it was given is changed: %v", err)
	}
}

// TestSecretVetterSeams: what begins in one content and ends in the next is
// taken out of both.
func TestSecretVetterSeams(t *testing.T) {
	tok := githubToken()
	key := "-----BEGIN " + "PRIVATE KEY-----\n" + strings.Repeat(base64.StdEncoding.EncodeToString([]byte("0123456789abcdefghijkl0123456789abcdefghijkl0123"))+"\n", 6) + "-----END " + "PRIVATE KEY-----\n"
	for _, whole := range []string{"see " + tok + " there", "k: correct horse battery!", "a\n" + key + "b"} {
		for cut := 8; cut < len(whole)-3; cut += 5 {
			given := &toolcrib.Result{Content: []toolcrib.Content{{Type: "text", Text: whole[:cut]}, {Type: "image"}, {Type: "text", Text: whole[cut:]}}}
			got, err := SecretVetter{Secrets: testSecrets()}.Vet(context.Background(), toolcrib.Review{}, given)
			if err != nil {
				t.Fatal(err)
			}
			joined := got.Content[0].Text + got.Content[2].Text
			if strings.Contains(joined, tok[8:]) || strings.Contains(joined, "MDEyMzQ1") || strings.Contains(joined, "horse") {
				t.Errorf("cut at %d: %q", cut, joined)
			}
		}
	}
}

func TestSecretVetterModes(t *testing.T) {
	tok := githubToken()
	plain := toolcrib.Text("nothing to see")
	for _, mode := range []SecretMode{SecretRedact, SecretBlock, SecretWarn} {
		if got, err := (SecretVetter{testSecrets(), mode}).Vet(context.Background(), toolcrib.Review{}, plain); err != nil || got != plain {
			t.Errorf("%s: %+v, %v", mode, got, err)
		}
	}
	_, err := SecretVetter{testSecrets(), SecretBlock}.Vet(context.Background(), toolcrib.Review{}, toolcrib.Text(tok))
	if toolcrib.CodeOf(err) != toolcrib.CodeDenied || strings.Contains(err.Error(), tok) || !strings.Contains(err.Error(), "github") {
		t.Errorf("got %v", err)
	}
	got, err := SecretVetter{testSecrets(), SecretWarn}.Vet(context.Background(), toolcrib.Review{}, &toolcrib.Result{Value: json.RawMessage(`["` + tok + `"]`)})
	if err != nil || len(got.Content) != 2 || !strings.Contains(got.String(), tok) || !strings.Contains(got.Content[1].Text, "github") {
		t.Errorf("got %+v, %v", got, err)
	}
	// That a value is JSON is the crib's to check, before and after the vetters;
	// one that is not is looked through all the same.
	got, err = (SecretVetter{Secrets: testSecrets()}).Vet(context.Background(), toolcrib.Review{}, &toolcrib.Result{Value: json.RawMessage(`{"a":"` + tok)})
	if err != nil || strings.Contains(string(got.Value), tok) {
		t.Errorf("of a broken value: %s, %v", got.Value, err)
	}
}

func TestSecretsRedact(t *testing.T) {
	s := testSecrets()
	for in, want := range map[string]string{
		`{"password":"x","a":"b"}`:                 `{"password":"[redacted]","a":"b"}`,
		`{"a":"` + githubToken() + ` and more"}`:   `{"a":"[redacted] and more"}`,
		`{"a":["correct horse battery",{"b":1}]}`:  `{"a":["[redacted]",{"b":1}]}`,
		`{"correct horse battery":{"secret":[1]}}`: `{"[redacted]":{"secret":["[redacted]"]}}`,
		`not JSON`: `"[redacted]"`,
	} {
		if got := string(s.RedactJSON(json.RawMessage(in))); got != want {
			t.Errorf("%s\n got %s\nwant %s", in, got, want)
		}
	}
	for in, want := range map[string]string{
		"API_KEY=hunter2 make":                "API_KEY=[redacted] make",
		"use " + githubToken() + " now":       "use [redacted] now",
		`{"a":"\u0063orrect horse battery"}`:  `{"a":"[redacted]"}`,
		"curl -u me:correct+horse+battery x":  "curl -u me:[redacted] x",
		"nothing of that kind is in this one": "nothing of that kind is in this one",
	} {
		if got := s.RedactText(in); got != want {
			t.Errorf("%s\n got %s\nwant %s", in, got, want)
		}
	}
}
