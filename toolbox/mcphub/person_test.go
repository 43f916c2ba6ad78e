package mcphub

import (
	"context"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/mcp/client"
)

// personWords are callers and what they are called in paths; empty: by a fingerprint.
func personWords() map[toolcrib.Caller]string {
	return map[toolcrib.Caller]string{
		{Subject: "ann"}: "ann", {Subject: "token:ann"}: "token+ann", {Organisation: "acme", Subject: "token:ann"}: "acme~token+ann",
		{Organisation: "token", Subject: "ann"}: "token~ann", {Subject: "ann@example.com"}: "ann@example.com", {Subject: "a.b-c_d"}: "a.b-c_d",
		{}:               nobody,
		{Subject: "Ann"}: "", {Subject: ".."}: "", {Subject: "."}: "", {Subject: "../../etc/passwd"}: "", {Subject: "a/b"}: "", {Subject: `a\b`}: "", {Subject: "-rf"}: "", {Subject: "a."}: "",
		{Subject: "a\x00b"}: "", {Subject: "oidc:https://issuer.example#1|2"}: "", {Subject: "é"}: "", {Subject: "${secret:X}"}: "", {Subject: "+nobody"}: "", {Subject: "a:b:c"}: "",
		{Organisation: "..", Subject: "x"}: "", {Subject: strings.Repeat("a", 65)}: "", {Organisation: "a"}: "", {Subject: "C:"}: "", {Subject: "a b"}: "",
	}
}

// TestPersonWord: it never leaves its part of a path, and nobody has another's.
func TestPersonWord(t *testing.T) {
	seen := map[string]toolcrib.Caller{}
	for who, want := range personWords() {
		for _, kind := range []Instance{PerPerson, PerSession} {
			b := &Box{server: Server{Instance: kind}}
			got := (&instance{box: b, key: b.keyOf(placeOf(who))}).personWord()
			if want != "" && got != want || want == "" && (len(got) != 33 || got[0] != '+') {
				t.Errorf("%+v is %q, want %q", who, got, want)
			}
			if other, twice := seen[strings.ToLower(got)]; twice && other != who {
				t.Errorf("%+v and %+v are both %q", who, other, got)
			}
			seen[strings.ToLower(got)] = who
			if filepath.Clean("/x/"+got) != "/x/"+got || strings.ContainsAny(got, "/\\:$ \x00") {
				t.Errorf("%q leaves its place", got)
			}
		}
	}
}

func TestWithPerson(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "plain": "plain", "${person}": "ann", "/a/${person}/b.${person}": "/a/ann/b.ann", "$${person}": "$${person}", "$$${person}": "$$ann", "{person}": "{person}", "${persons}": "${persons}",
	} {
		if got := withPerson(text, "ann"); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
		if namesPerson(text) != (text != want) {
			t.Errorf("%q: namesPerson is %t", text, namesPerson(text))
		}
	}
}

// TestPersonInSettings: each running server gets the word of its person, and one for
// everybody may not ask for it.
func TestPersonInSettings(t *testing.T) {
	var mu sync.Mutex
	launched := map[string]Launch{}
	r := &rogue{tools: echo}
	s := Server{Instance: PerPerson, Idle: time.Hour, Args: []string{"--dir", "/srv/${person}"}, Env: map[string]string{"FILE": "/srv/${person}.json", "PLAIN": "x"}, Dir: "/home/${person}"}
	d := house(t, t.TempDir(), r, s, func(n *Needs) {
		n.Start = func(ctx context.Context, l Launch) (client.Process, error) {
			mu.Lock()
			launched[l.Env["FILE"]] = l
			mu.Unlock()
			return r.start(ctx, l)
		}
	})
	d.refresh()
	for _, who := range []string{"token:ann", "token:../bob"} {
		if _, err := d.call(t.Context(), "echo", `{"text":"x"}`, toolcrib.Caller{Subject: who}); err != nil {
			t.Fatal(err)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	l := launched["/srv/token+ann.json"]
	if len(launched) != 3 || l.Args[1] != "/srv/token+ann" || l.Dir != "/home/token+ann" || l.Env["PLAIN"] != "x" || launched["/srv/+nobody.json"].Server == "" {
		t.Errorf("%+v", launched)
	}
	for file := range launched {
		if strings.Contains(file, "..") {
			t.Errorf("a server was started with %s", file)
		}
	}
	for _, bad := range []Server{{Command: "x", Args: s.Args}, {Command: "x", Env: s.Env, Instance: Shared}, {Command: "x", Dir: s.Dir, Instance: PerProject}} {
		if _, err := bad.filled("x"); err == nil || !strings.Contains(err.Error(), "instance: person") {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}
