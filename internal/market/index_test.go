package market

import (
	"crypto/ed25519"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib/internal/settings"
)

func signer(t testing.TB) ed25519.PrivateKey {
	t.Helper()
	text, err := NewKey()
	if err != nil {
		t.Fatal(err)
	}
	key, err := ReadKey(text)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func shop(t testing.TB) string {
	return writeTree(t, t.TempDir(), map[string]string{
		"pdf/SKILL.md":            skillText("pdf"),
		"pdf/scripts/x.sh":        "echo",
		"tools/plugin.json":       `{"$schema":"https://agent-plugins.org/schema/1.0.0/plugin.schema.json","name":"tools","version":"2.0.0","description":"pdf tools"}`,
		"tools/skills/a/SKILL.md": skillText("a"),
		"server/server.json":      pdfServer,
		"ready.zip":               zipped(t, map[string]string{"SKILL.md": skillText("ready")}),
		"README.md":               "hello",
		"broken/x.txt":            "x",
	})
}

func make1(t testing.TB, dir string, key ed25519.PrivateKey, now time.Time) *Made {
	t.Helper()
	made, err := Make(dir, key, 0, now)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// TestIndex: a directory becomes a signed index that any web server serves, or that is read
// where it lies; what it names is fetched with its checksum.
func TestIndex(t *testing.T) {
	dir, key, now := shop(t), signer(t), time.Now()
	made := make1(t, dir, key, now)
	var names []string
	for _, i := range made.Index.Items {
		names = append(names, i.Kind+":"+i.Name)
	}
	if got := strings.Join(names, " "); got != "server:io.github.x/pdf skill:pdf skill:ready bundle:tools" || len(made.Skipped) != 2 {
		t.Fatalf("%s, skipped %q", got, made.Skipped)
	}
	if again := make1(t, dir, key, now); again.Index.Serial != made.Index.Serial+1 || again.Index.Items[1].Digest != made.Index.Items[1].Digest {
		t.Errorf("%+v", again.Index)
	}
	s := httptest.NewServer(http.FileServer(http.Dir(dir)))
	t.Cleanup(s.Close)
	m := newMarket(t, map[string]settings.Registry{"web": {Type: "index", URL: s.URL}})
	r, err := m.Show(t.Context(), "pdf", "", "")
	if err != nil || !strings.HasPrefix(r.Source, s.URL+"/packages/pdf-") || !strings.HasSuffix(r.Source, "#sha256="+strings.TrimPrefix(r.Digest, "sha256:")) {
		t.Fatalf("%+v, %v", r, err)
	}
	if r, err := m.Show(t.Context(), "io.github.x/pdf", "", ""); err != nil || r.Server == nil || r.Server.Command != "npx" {
		t.Errorf("%+v, %v", r, err)
	}
	m = newMarket(t, map[string]settings.Registry{"dir": {Type: "index", URL: dir}})
	if r, err = m.Show(t.Context(), "pdf", "", ""); err != nil || r.Source != "" {
		t.Fatalf("%+v, %v", r, err)
	}
	c, err := m.Fetch(t.Context(), *r)
	if err != nil || c.Name != "pdf.zip" {
		t.Fatalf("%+v, %v", c, err)
	}
	if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(r.from)), []byte("evil"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Fetch(t.Context(), *r); err == nil || !strings.Contains(err.Error(), "not what the registry announced") {
		t.Errorf("%v", err)
	}
}

// TestIndexIsPinned: the key of the first use counts from then on, an old edition is not
// taken again, and whatever is changed is noticed.
func TestIndexIsPinned(t *testing.T) {
	dir, key, other, now := shop(t), signer(t), signer(t), time.Now()
	make1(t, dir, key, now)
	old := map[string][]byte{}
	for _, name := range []string{indexFile, signatureFile} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		old[name] = data
	}
	s := httptest.NewServer(http.FileServer(http.Dir(dir)))
	t.Cleanup(s.Close)
	state := t.TempDir()
	cfg := settings.Registry{Type: "index", URL: s.URL}
	look := func(cfg settings.Registry) string {
		t.Helper()
		m := newMarket(t, map[string]settings.Registry{"r": cfg}, func(n *Needs) { n.State = state })
		found, err := m.Search(t.Context(), Query{})
		if err != nil {
			t.Fatal(err)
		}
		if (found.Registries[0].Error == "") != (len(found.Results) > 0) {
			t.Errorf("%+v", found)
		}
		return found.Registries[0].Error
	}
	expect := func(cfg settings.Registry, want string) {
		t.Helper()
		if got := look(cfg); want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	expect(cfg, "")
	make1(t, dir, key, now.Add(time.Hour))
	expect(cfg, "")

	for name, data := range old {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	expect(cfg, "somebody gives out an old one")

	make1(t, dir, other, now.Add(2*time.Hour))
	expect(cfg, "ITS KEY HAS CHANGED")
	public := func(key ed25519.PrivateKey) string { return KeyText(key.Public().(ed25519.PublicKey)) }
	expect(settings.Registry{Type: "index", URL: s.URL, Key: public(key)}, "market.registries.r.key says")
	expect(settings.Registry{Type: "index", URL: s.URL, Key: public(other)}, "") // the person says that it is the new one
	expect(cfg, "")

	text, err := os.ReadFile(filepath.Join(dir, indexFile))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, indexFile), []byte(strings.Replace(string(text), "pdf", "pwn", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	expect(cfg, "not what was signed")
	for _, sig := range []string{"", "{}", `{"key":"ed25519:AAAA","signature":""}`, `{"key":"` + public(other) + `","signature":"AAAA"}`} {
		if err := os.WriteFile(filepath.Join(dir, signatureFile), []byte(sig), 0o600); err != nil {
			t.Fatal(err)
		}
		expect(cfg, "signature")
	}
	if err := os.Remove(filepath.Join(dir, signatureFile)); err != nil {
		t.Fatal(err)
	}
	expect(cfg, "there is no such file")

	if _, err := Make(dir, other, time.Minute, now.Add(-time.Hour)); err != nil { // its number still grows
		t.Fatal(err)
	}
	expect(cfg, "out of date")

	// The pin itself is sealed: who changes it has not changed what counts.
	make1(t, dir, other, now.Add(3*time.Hour))
	expect(cfg, "")
	files, err := filepath.Glob(filepath.Join(Dir(state), "key-*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%q, %v", files, err)
	}
	if err := os.Remove(files[0]); err != nil {
		t.Fatal(err)
	}
	expect(cfg, "cannot be believed")
	m := newMarket(t, nil, func(n *Needs) { n.State = state })
	if err := m.Forget(cfg); err != nil {
		t.Fatal(err)
	}
	expect(cfg, "")
	if got, err := m.Pinned(cfg); err != nil || got != public(other) {
		t.Errorf("%q, %v", got, err)
	}
}

// TestIndexNamesNothingOutside: what a signed index says is checked all the same.
func TestIndexNamesNothingOutside(t *testing.T) {
	dir, key := t.TempDir(), signer(t)
	digest := "sha256:" + sum("x")
	m := &Made{Key: KeyText(key.Public().(ed25519.PublicKey)), Index: Index{Format: 1, Serial: 1, Items: []Item{
		{Name: "a", Kind: Skill, File: "../../x.zip", Digest: digest}, {Name: "b", Kind: Skill, File: "/etc/x.zip", Digest: digest},
		{Name: "c", Kind: Skill, File: "x.zip"}, {Name: "d", Kind: "program", File: "x.zip", Digest: digest}, {Name: "e", Kind: Skill, File: "x.exe", Digest: digest},
		{Name: "../f", Kind: Skill, File: "x.zip", Digest: digest}, {Name: "g", Kind: Server}, {Name: "good", Kind: Skill, File: "x.zip", Digest: digest},
	}}}
	if err := m.sign(dir, key); err != nil {
		t.Fatal(err)
	}
	found, err := newMarket(t, one("index", dir)).Search(t.Context(), Query{})
	if err != nil || len(found.Results) != 1 || found.Results[0].Name != "good" {
		t.Errorf("%+v, %v", found, err)
	}
	if len(found.Registries[0].Notes) == 0 {
		t.Error("nothing is said of the others")
	}
}
