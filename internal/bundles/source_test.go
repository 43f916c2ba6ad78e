package bundles

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestSources(t *testing.T) {
	sum, commit := strings.Repeat("a", 64), strings.Repeat("b", 40)
	for _, text := range []string{
		"git+https://host.example/a/b.git", "git+https://host.example/a/b.git#ref=v1.2&path=plugins/x", "git+ssh://git@host.example/a.git#commit=" + commit, "git+file:///srv/a.git#ref=main",
		"npm:@scope/name@1.2.3", "npm:name@latest", "npm:name@1.0.0#registry=https%3A//r.example", "https://host.example/x.zip#sha256=" + sum, "http://127.0.0.1:8080/x#path=a/b&sha256=" + sum,
	} {
		s, err := ParseSource(text, "/")
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		again, err := ParseSource(s.String(), "/")
		if err != nil || again != s {
			t.Errorf("%s is written as %s: %+v, %v", text, s, again, err)
		}
	}
	for text, why := range map[string]string{
		"https://host.example/x.zip": "without a digest", "https://host.example/x.zip#sha256=abc": "without a digest", "http://host.example/x.zip#sha256=" + sum: "fetched by http",
		"https://user:pw@host.example/x#sha256=" + sum: "a password", "git+http://host.example/a.git": "fetched by http", "git+ext::sh -c id": "", "git+https://-oProxyCommand=x/a": "an option",
		"git+https://host.example/a#ref=--upload-pack=x": "a ref", "git+https://host.example/a#ref=a..b": "a ref", "git+https://host.example/a#commit=main": "a commit", "git+https://host.example/a#path=../up": "leads out",
		"git+https://host.example/a#sha256=" + sum: "means nothing", "git+https://host.example/a#ref=a&ref=b": "twice", "npm:name": "no version", "npm:../x@1": "names no package", "npm:Name@1.0.0": "names no package",
		"npm:name@1 || 2": "no version", "npm:a@1.0.0#registry=http://x.example": "fetched by http", "npm:a@1.0.0#integrity=sha1-x": "an integrity", "ftp://host.example/x": "not fetched", "file:///etc": "not fetched", "a\u200bb": "cannot be seen", "": "cannot be seen",
		"git+file://host.example/a#path=/etc": "leads out",
	} {
		if s, err := ParseSource(text, t.TempDir()); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %+v, %v; want %q", text, s, err, why)
		}
	}
}

func FuzzParseSource(f *testing.F) {
	for _, s := range []string{"git+https://a.example/b#ref=x&path=y", "npm:a@1", "https://a.example/x#sha256=" + strings.Repeat("0", 64), "./x", "git+ssh://g@h/x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseSource(text, "/nowhere")
		if err != nil || s.Kind == FromDir || s.Kind == FromArchive {
			return
		}
		if again, err := ParseSource(s.String(), "/nowhere"); err != nil || again != s {
			t.Errorf("%q is %+v and written %q: %+v, %v", text, s, s.String(), again, err)
		}
	})
}

// TestArchives: the same package comes from every kind of archive, with and without a
// folder around it.
func TestArchives(t *testing.T) {
	t.Parallel()
	files := examples()["claude-plugin"].using("x")
	want := ""
	for name, data := range map[string][]byte{
		"a.zip": files.zip(t, ""), "b.mcpb": files.zip(t, ""), "c.zip": files.zip(t, "kit-1.0/"), "d.tgz": files.tgz(t, ""), "e.tar.gz": files.tgz(t, "kit-1.0/"),
	} {
		b := person(t)
		at := filepath.Join(b.Dir, name)
		if err := os.WriteFile(at, data, 0o600); err != nil {
			t.Fatal(err)
		}
		r := install(t, b, name, Want{})
		if want == "" {
			want = r.Tree
		}
		if r.Tree != want || len(b.Load().Faults) > 0 {
			t.Errorf("%s: %+v, %v", name, r, b.Load().Faults)
		}
	}
}

// TestGit: a package comes from a repository, at a ref or a commit, and only from a folder
// of it if one is named. What the repository wants to have run is not run.
func TestGit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Fatal("git is needed for this test: ", err)
	}
	b := person(t)
	repo := filepath.Join(t.TempDir(), "repo")
	mark := filepath.Join(t.TempDir(), "ran")
	files := texts{"plugins/kit/.claude-plugin/plugin.json": `{"name":"kit","version":"1"}`, "plugins/kit/skills/one/SKILL.md": skillText("one"), "README.md": "x", ".gitattributes": "* filter=evil\n*.md export-ignore\n", "plugins/kit/run.sh": "#!/bin/sh\n"}
	files.write(t, repo)
	if err := os.Symlink("/etc/passwd", filepath.Join(repo, "plugins", "kit", "link")); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@t.example", "-c", "init.defaultBranch=main", "-C", repo}, args...)...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	run("init", "-q")
	run("add", "-A")
	run("commit", "-qm", "one")
	first := run("rev-parse", "HEAD")
	run("tag", "v1")
	// Settings of the person that would run something, as would those of the repository.
	global := filepath.Join(t.TempDir(), "gitconfig")
	evil := "[filter \"evil\"]\n\tsmudge = touch " + mark + "\n[core]\n\tfsmonitor = touch " + mark + "\n\thooksPath = " + t.TempDir() + "\n[uploadpack]\n\tpackObjectsHook = touch " + mark + "\n"
	if err := os.WriteFile(global, []byte(evil), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GIT_CONFIG_GLOBAL", global)
	at := "git+file://" + filepath.ToSlash(repo)
	r := install(t, b, at+"#path=plugins/kit&ref=v1", Want{})
	own, _, err := b.List()
	if err != nil || !strings.Contains(own["kit"].Source, "commit="+first) || len(r.Skills) != 1 {
		t.Errorf("%+v, %v", own["kit"].Source, err)
	}
	if notes := own["kit"].Package.Notes; len(notes) != 1 || !strings.Contains(notes[0].Text, "link") {
		t.Errorf("%+v", notes)
	}
	if l, err := b.listing(r.Tree); err != nil || len(l) != 3 || !l["run.sh"].Program {
		t.Errorf("%v, %v", l, err)
	}
	texts{"plugins/kit/.claude-plugin/plugin.json": `{"name":"kit","version":"2"}`}.write(t, filepath.Join(repo, "more"))
	if err := os.Rename(filepath.Join(repo, "more", "plugins", "kit", ".claude-plugin", "plugin.json"), filepath.Join(repo, "plugins", "kit", ".claude-plugin", "plugin.json")); err != nil {
		t.Fatal(err)
	}
	run("add", "-A")
	run("-c", "core.fsmonitor=false", "commit", "-qm", "two")
	if err := os.RemoveAll(mark); err != nil {
		t.Fatal(err)
	}
	c, err := b.Update(t.Context(), "kit", at+"#path=plugins/kit", Want{})
	if err != nil || c.Package.Version != "2" {
		t.Fatalf("%+v, %v", c, err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	c, err = b.Fetch(t.Context(), at+"#path=plugins/kit&commit="+first, Want{Tree: r.Tree})
	if err != nil || c.Tree != r.Tree {
		t.Fatalf("%+v, %v", c, err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(mark); err == nil {
		t.Error("something of the repository or of the settings was run")
	}
	if _, err := b.Fetch(t.Context(), at+"#ref=none", Want{}); err == nil || !strings.Contains(err.Error(), "none") {
		t.Errorf("a ref that is not there: %v", err)
	}
}

// TestNPMAndHTTP: packages of npm and archives elsewhere come with the digest that they
// should have, or not at all.
func TestNPMAndHTTP(t *testing.T) {
	t.Parallel()
	files := examples()["claude-plugin"].using("x")
	tarball, archive := files.tgz(t, "package/"), files.zip(t, "kit/")
	sum := newSHA512()
	sum.Write(tarball)
	digest := integrity(sum)
	var at string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.EscapedPath() {
		case "/@acme%2Fkit/1.0.0", "/@acme%2Fkit/latest":
			fmt.Fprintf(w, `{"version":"1.0.0","dist":{"tarball":"%s/kit.tgz","integrity":"%s"}}`, at, digest)
		case "/evil/1.0.0":
			fmt.Fprintf(w, `{"version":"1.0.0","dist":{"tarball":"file:///etc/passwd","integrity":"%s"}}`, digest)
		case "/old/1.0.0":
			fmt.Fprintf(w, `{"version":"1.0.0","dist":{"tarball":"%s/kit.tgz","shasum":"abc"}}`, at)
		case "/floats/latest":
			fmt.Fprint(w, `{"version":"3.2.1","dist":{}}`)
		case "/pypi/tool/json":
			fmt.Fprint(w, `{"info":{"version":"9.8"}}`)
		case "/kit.tgz":
			_, _ = w.Write(tarball)
		case "/kit.zip":
			_, _ = w.Write(archive)
		default:
			http.NotFound(w, r)
		}
	}))
	defer server.Close()
	at = server.URL
	b := person(t)
	b.NPM, b.PyPI = at, at
	r := install(t, b, "npm:@acme/kit@latest", Want{})
	own, _, err := b.List()
	if err != nil || own["kit"].Source != "npm:@acme/kit@1.0.0#integrity="+strings.NewReplacer("+", "%2B", "=", "%3D").Replace(digest) || own["kit"].Given != "npm:@acme/kit@latest" {
		t.Errorf("%q, %v", own["kit"].Source, err)
	}
	short := sha256.Sum256(archive)
	c, err := b.Fetch(t.Context(), at+"/kit.zip#sha256="+hex.EncodeToString(short[:]), Want{})
	if err != nil || c.Tree != r.Tree {
		t.Fatalf("%+v, %v", c, err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	before := snapshot(t, b.Home)
	for source, why := range map[string]string{
		at + "/kit.zip#sha256=" + strings.Repeat("0", 64):  "has the digest",
		at + "/none.zip#sha256=" + strings.Repeat("0", 64): "404",
		"npm:evil@1.0.0": "fetched by file",
		"npm:old@1.0.0":  "no sha512",
		"npm:@acme/kit@1.0.0#integrity=sha512-" + strings.Repeat("A", 86) + "%3D%3D":   "has the digest",
		at + "/kit.zip#sha256=" + hex.EncodeToString(short[:]) + "&path=nothing/there": "no package",
		"npm:@acme/kit@2.0.0": "404",
	} {
		if _, err := b.Fetch(t.Context(), source, Want{}); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v; want %q", source, err, why)
		}
	}
	same(t, before, snapshot(t, b.Home))

	// Servers that fetch their program are left out without a version, or pinned.
	dir := texts{".claude-plugin/plugin.json": `{"name":"floating","mcpServers":{"a":{"command":"npx","args":["-y","floats"]},"b":{"command":"uvx","args":["--from=tool","run"]},"c":{"command":"docker","args":["run","img:latest"]},"d":{"command":"npx","args":["x@1.2.3"]}}}`}.folder(t)
	c, err = b.Fetch(t.Context(), dir, Want{})
	if err != nil || len(c.Left) != 3 || !strings.Contains(c.Left["a"], "--pin") {
		t.Fatalf("%+v, %v", c.Left, err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	install(t, b, dir, Want{Pin: true})
	l := b.Load()
	if got := keys(l.Servers); strings.Join(got, " ") != "floating-a floating-b floating-d kit-local" {
		t.Errorf("%v, %v", got, l.Faults)
	}
	if a, bb := l.Servers["floating-a"].Args, l.Servers["floating-b"].Args; a[1] != "floats@3.2.1" || bb[0] != "--from=tool==9.8" {
		t.Errorf("%q, %q", a, bb)
	}
	lock := readText(t, b.LockFile)
	for _, want := range []string{`"floats@3.2.1"`, `"tool==9.8"`, `"integrity`, `"left_out"`} {
		if !strings.Contains(lock, strings.TrimPrefix(want, `"integrity`)) {
			t.Errorf("the lock file lacks %s", want)
		}
	}
}
