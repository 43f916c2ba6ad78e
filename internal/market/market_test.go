package market

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib/internal/settings"
)

// serve answers paths with texts, over a real socket; a path may have a query.
func serve(t testing.TB, answers map[string]string) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, key := range []string{r.URL.RequestURI(), r.URL.EscapedPath()} {
			if body, ok := answers[key]; ok {
				_, _ = w.Write([]byte(body))
				return
			}
		}
		http.NotFound(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func newMarket(t testing.TB, registries map[string]settings.Registry, change ...func(*Needs)) *Market {
	t.Helper()
	needs := Needs{State: t.TempDir(), Home: t.TempDir(), Wait: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }}
	for _, f := range change {
		f(&needs)
	}
	m, err := Open(settings.Market{Registries: registries}, needs)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

func one(kind, url string) map[string]settings.Registry {
	return map[string]settings.Registry{"r": {Type: kind, URL: url}}
}

func asJSON(t testing.TB, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func skillText(name string) string {
	return "---\nname: " + name + "\ndescription: Reads PDF files.\n---\nDo it.\n"
}

func zipped(t testing.TB, files map[string]string) string {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for name, text := range files {
		w, err := z.Create(name)
		if err == nil {
			_, err = w.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func sum(text string) string { return strings.TrimPrefix(digestOf([]byte(text)), "sha256:") }

// agxServer answers as AgenticX's registry does.
func agxServer(t testing.TB, name, text, checksum string) *httptest.Server {
	entry := map[string]any{"name": name, "version": "1.1.0", "description": "Reads pdf", "author": "someone", "created_at": "2026-02", "checksum": checksum, "skill_content": text}
	old := map[string]any{"name": name, "version": "1.0.0", "description": "Old pdf", "created_at": "2026-01", "checksum": sum("old"), "skill_content": "old"}
	list := asJSON(t, map[string]any{"ok": true, "items": []any{old, entry, 7}})
	return serve(t, map[string]string{"/skills": list, "/skills/" + name: asJSON(t, map[string]any{"entry": entry})})
}

// clawServer answers as ClawHub does.
func clawServer(t testing.TB, name string, listed, packed map[string]string) *httptest.Server {
	var files []any
	for path, text := range listed {
		files = append(files, map[string]string{"path": path, "sha256": sum(text)})
	}
	return serve(t, map[string]string{
		"/api/v1/search":                               asJSON(t, map[string]any{"results": []any{map[string]any{"slug": name, "displayName": "PDF tools", "summary": "works on pdf", "version": "latest"}}}),
		"/api/v1/packages/" + name + "/versions":       `{"items":[{"version":"2.0.0"},{"version":"1.0.0"}]}`,
		"/api/v1/packages/" + name + "/versions/2.0.0": asJSON(t, map[string]any{"version": map[string]any{"version": "2.0.0", "files": files}}),
		"/api/v1/skills/" + name:                       `{"skill":{"summary":"works on pdf"},"owner":{"handle":"o"}}`,
		"/api/v1/download":                             zipped(t, packed),
	})
}

const pdfServer = `{"name":"io.github.x/pdf","description":"A server for pdf","version":"1.2.3","packages":[{"registryType":"npm","identifier":"pdf-mcp","version":"1.2.3","transport":{"type":"stdio"},"environmentVariables":[{"name":"PDF_KEY","isRequired":true,"isSecret":true}]}]}`

func mcpPageOf(next string, servers ...string) string {
	var list []string
	for _, s := range servers {
		list = append(list, `{"server":`+s+`,"_meta":{"io.modelcontextprotocol.registry/official":{"status":"active"},"other/thing":{"status":{"x":1}}}}`)
	}
	return `{"servers":[` + strings.Join(list, ",") + `],"metadata":{"nextCursor":"` + next + `"}}`
}

func writeTree(t testing.TB, dir string, files map[string]string) string {
	t.Helper()
	for name, text := range files {
		full := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestEveryKind: all kinds of registries are searched together, shown, and fetched from.
func TestEveryKind(t *testing.T) {
	text := skillText("pdf-known")
	known := serve(t, map[string]string{
		"/.well-known/agent-skills/index.json": asJSON(t, map[string]any{"skills": []any{
			map[string]string{"name": "pdf-known", "type": "skill-md", "description": "pdf", "url": "/s/SKILL.md", "digest": "sha256:" + sum(text)},
			map[string]string{"name": "pdf-packed", "type": "archive", "description": "pdf", "url": "pdf.zip", "digest": "sha256:" + sum("z")},
			map[string]string{"name": "elsewhere", "type": "archive", "description": "pdf", "url": "https://other.example/pdf.zip", "digest": "sha256:" + sum("z")},
		}}),
		"/s/SKILL.md": text,
	})
	agx := agxServer(t, "pdf-agx", skillText("pdf-agx"), sum(skillText("pdf-agx")))
	claw := clawServer(t, "pdf-claw", map[string]string{"SKILL.md": "s", "scripts/x.py": "p"}, map[string]string{"SKILL.md": "s", "scripts/x.py": "p", "_meta.json": "{}"})
	mcp := serve(t, map[string]string{
		"/v0.1/servers": mcpPageOf("", pdfServer),
		"/v0.1/servers/io.github.x%2Fpdf/versions/latest": `{"server":` + pdfServer + `}`,
	})
	market := writeTree(t, t.TempDir(), map[string]string{".claude-plugin/marketplace.json": `{"name":"m","plugins":[
		{"name":"pdf-local","source":"./plugins/pdf","description":"pdf"},
		{"name":"pdf-git","source":{"source":"github","repo":"o/r","ref":"v1","sha":"0123456789012345678901234567890123456789"},"keywords":["pdf"]},
		{"name":"pdf-npm","source":{"source":"npm","package":"@o/pdf","version":"1.0.0"}},
		{"name":"pdf-sub","source":{"source":"git-subdir","url":"https://git.example/r.git","path":"a/b"}},
		{"name":"pdf-out","source":"../../etc","description":"pdf"}, 5]}`})
	m := newMarket(t, map[string]settings.Registry{
		"agx": {Type: "agenticx", URL: agx.URL}, "claw": {Type: "clawhub", URL: claw.URL + "/api"}, "known": {Type: "well-known", URL: known.URL},
		"mcp": {Type: "mcp", URL: mcp.URL}, "plugins": {Type: "claude", URL: market}, "off": {Type: "mcp", URL: "https://off.example", Disabled: true},
	})
	ctx := t.Context()
	found, err := m.Search(ctx, Query{Text: "pdf"})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, r := range found.Results {
		names = append(names, r.Registry+"/"+r.Name)
	}
	slices.Sort(names)
	if want := "agx/pdf-agx claw/pdf-claw known/pdf-known known/pdf-packed mcp/io.github.x/pdf plugins/pdf-git plugins/pdf-local plugins/pdf-npm plugins/pdf-out plugins/pdf-sub"; strings.Join(names, " ") != want {
		t.Errorf("%s\nwant %s", strings.Join(names, " "), want)
	}
	if r := found.Results[0]; r.Name != "io.github.x/pdf" { // its last part is the very word
		t.Errorf("first: %+v", r)
	}
	for _, s := range found.Registries {
		if s.Error != "" {
			t.Errorf("%+v", s)
		}
		if s.Registry == "known" && !strings.Contains(strings.Join(s.Notes, " "), "only "+strings.TrimPrefix(known.URL, "http://")+" is asked") {
			t.Errorf("%+v", s)
		}
	}
	sources := map[string]string{
		"pdf-local":  filepath.Join(market, "plugins", "pdf"),
		"pdf-git":    "git+https://github.com/o/r.git#commit=0123456789012345678901234567890123456789&ref=v1",
		"pdf-npm":    "npm:@o/pdf@1.0.0",
		"pdf-sub":    "git+https://git.example/r.git#path=a/b",
		"pdf-packed": known.URL + "/.well-known/agent-skills/pdf.zip#sha256=" + sum("z"),
		"pdf-out":    "",
	}
	for name, want := range sources {
		if r, err := m.Show(ctx, name, "", ""); err != nil || r.Source != want {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
	for name, want := range map[string]string{"pdf-agx": "1.1.0", "pdf-claw": "2.0.0", "pdf-known": ""} {
		r, err := m.Show(ctx, name, "", "")
		if err != nil || r.Version != want || r.Kind != Skill || r.Digest == "" {
			t.Fatalf("%s: %+v, %v", name, r, err)
		}
		content, err := m.Fetch(ctx, *r)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		at, err := content.Write(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Join(at, "SKILL.md")); err != nil {
			t.Error(err)
		}
		if name == "pdf-claw" {
			if _, err := os.Stat(filepath.Join(at, "scripts", "x.py")); err != nil || len(content.Files) != 2 || len(content.Notes) != 1 {
				t.Errorf("%v, %v, %v", err, len(content.Files), content.Notes)
			}
		}
	}
	r, err := m.Show(ctx, "io.github.x/pdf", "", "")
	if err != nil || r.Server == nil || r.Server.Command != "npx" || strings.Join(r.Server.Args, " ") != "-y pdf-mcp@1.2.3" || len(r.Asks) != 1 || !r.Asks[0].Secret {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err := m.Show(ctx, "pdf-agx", "1.0.0", "agx"); err != nil || r.Version != "1.0.0" {
		t.Errorf("%+v, %v", r, err)
	} else if c, err := m.Fetch(ctx, *r); err != nil || string(c.Files["SKILL.md"]) != "old" {
		t.Errorf("%v, %v", c, err)
	}
	if _, err := m.Show(ctx, "nothing", "", ""); !errors.Is(err, ErrNotFound) {
		t.Errorf("%v", err)
	}
}

// TestOneDeadRegistry: it is named, and the others answer.
func TestOneDeadRegistry(t *testing.T) {
	dead := httptest.NewServer(http.NotFoundHandler())
	dead.Close()
	stuck := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	t.Cleanup(stuck.Close)
	mcp := serve(t, map[string]string{"/v0.1/servers": mcpPageOf("", pdfServer), "/v0.1/servers/io.github.x%2Fpdf/versions/latest": `{"server":` + pdfServer + `}`})
	all := map[string]settings.Registry{
		"dead": {Type: "agenticx", URL: dead.URL}, "html": {Type: "well-known", URL: serve(t, map[string]string{"/.well-known/agent-skills/index.json": "<html>"}).URL},
		"mcp": {Type: "mcp", URL: mcp.URL}, "stuck": {Type: "agenticx", URL: stuck.URL}, "wrong": {Type: "mcp", URL: "http://example.com"},
	}
	m := newMarket(t, all, func(n *Needs) { n.Time = 3 * time.Second }) // the good one has to answer in it, on a busy machine
	found, err := m.Search(t.Context(), Query{Text: "pdf"})
	if err != nil || len(found.Results) != 1 {
		t.Fatalf("%+v, %v", found, err)
	}
	for _, s := range found.Registries {
		if (s.Registry == "mcp") != (s.Error == "") {
			t.Errorf("%+v", s)
		}
	}
	if _, err := newMarket(t, one("agenticx", stuck.URL), func(n *Needs) { n.Time = 50 * time.Millisecond }).Show(t.Context(), "x", "", ""); err == nil || !strings.Contains(err.Error(), "r: it did not answer in time") {
		t.Errorf("%v", err)
	}
	delete(all, "stuck")
	r, err := newMarket(t, all).Show(t.Context(), "io.github.x/pdf", "", "")
	if err != nil || !strings.Contains(strings.Join(r.Notes, "\n"), "a registry could not be asked: dead") {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestRateLimit: a short wait is waited, a long one is told, kept, and obeyed by the next run.
func TestRateLimit(t *testing.T) {
	asked, header, value := 0, "Retry-After", "2"
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if asked++; asked < 3 || value != "2" {
			w.Header().Set(header, value)
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		_, _ = w.Write([]byte(mcpPageOf("", pdfServer)))
	}))
	t.Cleanup(s.Close)
	var waited []time.Duration
	now := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	state := t.TempDir()
	needs := func(n *Needs) {
		n.State, n.Now = state, func() time.Time { return now }
		n.Wait = func(_ context.Context, d time.Duration) error { waited = append(waited, d); return nil }
	}
	m := newMarket(t, one("mcp", s.URL), needs)
	if found, err := m.Search(t.Context(), Query{}); err != nil || len(found.Results) != 1 || fmt.Sprint(waited) != "[2s 2s]" {
		t.Fatalf("%+v, %v, %v", found, err, waited)
	}
	for _, long := range []struct{ header, value string }{{"Retry-After", "120"}, {"Retry-After", now.Add(2 * time.Minute).Format(http.TimeFormat)}, {"X-RateLimit-Reset", fmt.Sprint(now.Add(2 * time.Minute).Unix())}} {
		header, value, asked = long.header, long.value, 0
		for range 2 { // the second time nobody is asked
			found, err := newMarket(t, one("mcp", s.URL), needs).Search(t.Context(), Query{})
			if err != nil || !strings.Contains(found.Registries[0].Error, "2026-11-01T12:02:00Z") || asked != 1 {
				t.Errorf("%+v: %+v, %v, asked %d", long, found, err, asked)
			}
		}
		now = now.Add(3 * time.Minute)
		value = "2"
		if found, err := newMarket(t, one("mcp", s.URL), needs).Search(t.Context(), Query{}); err != nil || len(found.Results) != 1 {
			t.Errorf("%+v, %v", found, err)
		}
		now = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
		if err := os.RemoveAll(Dir(state)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestMerged: the same thing of two registries is one result, and what only has the same
// name stays apart.
func TestMerged(t *testing.T) {
	server := func(version string) *httptest.Server {
		text := strings.ReplaceAll(pdfServer, `"identifier":"pdf-mcp","version":"1.2.3"`, `"identifier":"pdf-mcp","version":"`+version+`"`)
		return serve(t, map[string]string{"/v0.1/servers": mcpPageOf("", text), "/v0.1/servers/io.github.x%2Fpdf/versions/latest": `{"server":` + text + `}`})
	}
	a, b, other := server("1.2.3"), server("1.2.3"), server("6.6.6")
	m := newMarket(t, map[string]settings.Registry{"a": {Type: "mcp", URL: a.URL}, "b": {Type: "mcp", URL: b.URL}})
	if found, err := m.Search(t.Context(), Query{Text: "pdf"}); err != nil || len(found.Results) != 1 || fmt.Sprint(found.Results[0].Also) != "[b]" {
		t.Errorf("%+v, %v", found, err)
	}
	m = newMarket(t, map[string]settings.Registry{"a": {Type: "mcp", URL: a.URL}, "evil": {Type: "mcp", URL: other.URL}})
	if found, err := m.Search(t.Context(), Query{Text: "pdf"}); err != nil || len(found.Results) != 2 {
		t.Errorf("%+v, %v", found, err)
	}
	if _, err := m.Show(t.Context(), "io.github.x/pdf", "", ""); err == nil || !strings.Contains(err.Error(), "say which with --registry (a, evil)") {
		t.Errorf("%v", err)
	}
	if r, err := m.Show(t.Context(), "io.github.x/pdf", "", "a"); err != nil || r.Registry != "a" {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestRealAnswers: answers of the registry's own server, version 1.8.6, with its own seed.
func TestRealAnswers(t *testing.T) {
	read := func(name string) string {
		t.Helper()
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	s := serve(t, map[string]string{
		"/v0.1/servers": read("registry-1.8.6.json"),
		"/v0.1/servers/io.github.domdomegg%2Fairtable-mcp-server/versions/1.7.2": read("registry-1.8.6-server.json"),
	})
	m := newMarket(t, one("mcp", s.URL))
	found, err := m.Search(t.Context(), Query{Text: "airtable records"})
	if err != nil || len(found.Results) != 3 || found.Results[0].Name != "io.github.domdomegg/airtable-mcp-server" {
		t.Errorf("%+v, %v", found, err)
	}
	for _, r := range found.Results {
		if nuget := strings.HasSuffix(r.Name, "nuget"); nuget != (r.Server == nil) || nuget != (len(r.Notes) > 0) {
			t.Errorf("%+v", r)
		}
	}
	r, err := m.Show(t.Context(), "io.github.domdomegg/airtable-mcp-server", "1.7.2", "")
	if err != nil || r.Server == nil || r.Server.Fetches != "airtable-mcp-server@1.7.2" || r.Server.Floating || len(r.Asks) != 1 {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestMarketplaceOnGitHub: a repository is asked for its file at GitHub's host for single
// files, and what lies beside it is a folder of the repository.
func TestMarketplaceOnGitHub(t *testing.T) {
	r, err := (&Market{pins: &pins{}}).openClaude("https://github.com/o/r.git")
	if err != nil {
		t.Fatal(err)
	}
	c := r.(*claude)
	if at := c.web.base.String(); at != "https://raw.githubusercontent.com/o/r/HEAD" {
		t.Errorf("%s", at)
	}
	l, err := c.read([]byte(`{"metadata":{"pluginRoot":"./plugins"},"plugins":[
		{"name":"all","source":"./"}, {"name":"sub","source":"./plugins/a"}, {"name":"rooted","source":"b"},
		{"name":"one","source":"./","strict":false,"skills":["./skills/one"]}, {"name":"two","source":"./","strict":false,"skills":["./skills/one","./skills/two"]},
		{"name":"out","source":"./","strict":false,"skills":["../../x"]}, {"name":"hidden","source":"./x","policy":{"installation":"NOT_AVAILABLE"}},
		{"name":"ssh","source":{"source":"url","url":"ssh://git@h/r.git"}}, {"name":"file","source":{"source":"url","url":"file:///etc"}},
		{"name":"opt","source":{"source":"github","repo":"o/r","ref":"--upload-pack=x"}}, {"name":"range","source":{"source":"npm","package":"p","version":"^1"}}]}`), "")
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, r := range l.results {
		got[r.Name] = r.Kind + " " + r.Source
	}
	want := map[string]string{
		"all": "bundle git+https://github.com/o/r.git", "sub": "bundle git+https://github.com/o/r.git#path=plugins/a", "rooted": "bundle git+https://github.com/o/r.git#path=plugins/b",
		"one": "skill git+https://github.com/o/r.git#path=skills/one", "two": "bundle git+https://github.com/o/r.git", "out": "skill ", "ssh": "bundle ", "file": "bundle ", "opt": "bundle ", "range": "bundle ",
	}
	if !maps.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
}
