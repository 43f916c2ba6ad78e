package sensitive_test

import (
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib/internal/sensitive"
	"github.com/toolcrib/toolcrib/internal/text"
)

func keys(t testing.TB) *sensitive.List {
	t.Helper()
	l, err := sensitive.ParseList("/home/u", sensitive.Keys()...)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestKeys(t *testing.T) {
	l := keys(t)
	for text, want := range map[string]sensitive.Answer{
		".env": sensitive.Closed, ".ENV.local": sensitive.Closed, "prod.env": sensitive.Closed, ".env.example": sensitive.Open, "conf/example.env": sensitive.Open, "environment": sensitive.Open, ".venv": sensitive.Open,
		".npmrc": sensitive.Keyed, "sub/.NPMRC": sensitive.Keyed, ".netrc": sensitive.Closed, "a/b/_netrc": sensitive.Closed, ".git-credentials": sensitive.Closed, ".pypirc": sensitive.Closed, ".pgpass": sensitive.Closed,
		"id_rsa": sensitive.Closed, "ID_ED25519": sensitive.Closed, "id_rsa.pub": sensitive.Keyed, "id_map.go": sensitive.Keyed, "id_work": sensitive.Keyed, "valid_rsa": sensitive.Open,
		"server.key": sensitive.Keyed, "server.pem": sensitive.Keyed, "x.PEM": sensitive.Keyed, "x.pem. .": sensitive.Keyed, "x.pem.": sensitive.Keyed, "x.pem::$DATA": sensitive.Keyed, "monkey": sensitive.Open, "x.pem.txt": sensitive.Open,
		".aws": sensitive.Closed, "a/.aws": sensitive.Closed, ".kube/config": sensitive.Closed, ".kube/cache": sensitive.Open, "config": sensitive.Open, ".docker/config.json": sensitive.Closed, "config.json": sensitive.Open,
		".prod.env.swp": sensitive.Closed, ".prod.env.SWO": sensitive.Closed, ".id_ed25519.swp": sensitive.Closed, ".netrc.swp": sensitive.Closed, ".prod.env.un~": sensitive.Closed, "id_rsa~": sensitive.Closed,
		"prod.env~": sensitive.Closed, "prod.env.~12~": sensitive.Closed, "#prod.env#": sensitive.Closed, "#.env#": sensitive.Closed, "prod.env.bak": sensitive.Closed, "prod.env.bak~": sensitive.Closed, ".netrc.orig": sensitive.Closed,
		"prod.env.save": sensitive.Closed, "prod.env.old": sensitive.Closed, ".git-credentials.tmp": sensitive.Closed, "prod.env___jb_tmp___": sensitive.Closed, ".aws.bak": sensitive.Closed, ".kube/config.bak": sensitive.Closed,
		"server.key.bak": sensitive.Keyed, ".server.key.swp": sensitive.Keyed, ".npmrc~": sensitive.Keyed, ".npmrc.set-aside-uzhazj53": sensitive.Keyed, ".netrc.set-aside-uzhazj53.held-by-toolcrib": sensitive.Closed, "example.env.bak": sensitive.Open, "main.go~": sensitive.Open, ".main.go.swp": sensitive.Open, "config.bak": sensitive.Open,
		"~": sensitive.Open, "#": sensitive.Open, "##": sensitive.Open, ".swp": sensitive.Open, ".bak": sensitive.Open, "notes.old.bak~": sensitive.Open,
		".claude/.credentials.json": sensitive.Closed, ".codex/auth.json": sensitive.Closed, "auth.json": sensitive.Open, ".claude/settings.json": sensitive.Open, "vault.kdbx": sensitive.Closed, ".config/chromium": sensitive.Closed,
		".ſsh": sensitive.Closed, ".\u200baws": sensitive.Closed, "": sensitive.Open,
	} {
		elems := strings.Split(text, "/")
		if got := l.Judge(elems); got != want {
			t.Errorf("%q is %d, want %d", text, got, want)
		}
		if last := elems[len(elems)-1]; want != sensitive.Open && !l.May(last) {
			t.Errorf("%q is let through at a glance", text)
		}
	}
}

const (
	cert    = "# Issuer: CN=A\n# SHA256 Fingerprint: aa:bb\n====================================\n-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"
	private = "-----BEGIN PRIVATE KEY-----\nMIIB\n-----END PRIVATE KEY-----\n"
)

func TestHoldsKey(t *testing.T) {
	for _, c := range []struct {
		name, text string
		part, want bool
	}{
		{"cacert.pem", cert, false, false},
		{"cacert.pem", cert + cert, false, false},
		{"cacert.pem", cert, true, true},
		{"both.pem", cert + private, false, true},
		{"both.pem", private + cert, false, true},
		{"x.pem", "", false, true},
		{"x.pem", "TOKEN", false, true},
		{"x.pem", cert + strings.Repeat("QUJD", 16) + "\n", false, true},
		{"x.pem", "-----BEGIN CERTIFICATE-----\nMIIB\n" + private + "-----END CERTIFICATE-----\n", false, true},
		{"x.pem", "-----BEGIN CERTIFICATE-----\nMIIB\n", false, true},
		{"x.key", "\x30\x82\x04\xa4\x02\x01\x00", false, true},
		{".server.key.swp", "b0VIM 9.0\x00\x10\x00\x00", false, true},
		{"server.pem~", cert, false, false},
		{"server.pem~", private, false, true},
		{".npmrc.bak", "save-exact=true\n", false, false},
		{".npmrc~", "//r/:_authToken=x\n", false, true},
		{"pub.key", "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----\n", false, false},
		{"id_work", strings.Replace(private, "PRIVATE", "OPENSSH PRIVATE", 2), false, true},
		{"id_work", "PuTTY-User-Key-File-3: ssh-ed25519\n", false, true},
		{"id_map.go", "package id\n", false, false},
		{"id_rsa.pub", "ssh-rsa AAAA u@h\n", false, false},
		{"id_big.bin", "x", true, false},
		{"id_x.pem", "", false, true},
		{".npmrc", "", false, false},
		{".npmrc", "# c\nregistry=https://registry.npmjs.org/\nengine-strict = true\n@a:registry=https://x/\n", false, false},
		{".npmrc", "//registry.npmjs.org/:_authToken=npm_x\n", false, true},
		{".npmrc", "_auth=x\n", false, true},
		{".npmrc", "_PASSWORD=x\n", false, true},
		{".npmrc", "registry=https://u:p@registry.npmjs.org/\n", false, true},
		{".NPMRC", "x", false, true},
		{".npmrc", "TOKEN", false, true},
	} {
		if got := sensitive.HoldsKey(c.name, []byte(c.text), !c.part); got != c.want {
			t.Errorf("%s with %q: %v", c.name, c.text, got)
		}
	}
}

func TestObeyed(t *testing.T) {
	o, err := sensitive.NewObeyedSet(".github/workflows", ".zed")
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]int{
		".vscode": 1, ".vscode/tasks.json": 1, ".VSCode/x": 1, "a/b/.vscode/c/d": 3, ".vscode.": 1, "vscode/x": 0, ".claude/settings.json": 1, ".mcp.json": 1, ".envrc": 1, "sub/.husky/pre-commit": 2,
		".github/workflows/ci.yml": 0, ".zed/x": 0, ".github/actions/x/action.yml": 2, ".github/dependabot.yml": 0, "Jenkinsfile": 1, "my.code-workspace": 1, "CLAUDE.md": 0, "package.json": 0, ".bashrc": 1, ".config/fish/config.fish": 2, "src/main.go": 0,
		".helix/languages.toml": 1, "lefthook-local.yaml": 1, ".lefthook/pre-commit/x": 1, ".github/hooks/x.json": 2, ".clinerules/hooks/x": 2, ".clinerules/rules.md": 0, ".amp/settings.json": 1, ".Rprofile": 1,
		"mise.dev.toml": 1, ".config/mise/conf.d/x.toml": 2, ".direnv/flake-profile-1.rc": 2, ".direnv/python-3.12/lib/x.py": 0, ".venv/bin/activate": 0, ".tool-versions": 1, ".npmrc": 1, "rust-toolchain.toml": 1, ".hg/hgrc": 1, ".hg/sharedpath": 1, "a/.jj/repo/config.toml": 2, ".lintstagedrc.json": 1, ".run/x.run.xml": 1,
		".RData": 1, "a/x.RData": 0, "_darcs/prefs/defaults": 3, "_darcs/prefs/boring": 0, ".pijul/config": 2, ".gclient": 1, ".repo/repo/main.py": 3, "aosp/.repo/repo/subcmds/sync.py": 5, ".repo/manifests/default.xml": 0, "hie.yaml": 1, ".luarc.json": 1, ".ycm_extra_conf.py": 1, "pylintrc": 1, ".pylintrc": 1, ".lazygit.yml": 1,
		".yarnrc.yml": 1, "packages/app/.yarnrc": 3, "bunfig.toml": 1, "a/.cargo/config.toml": 3, ".cargo/config": 2, ".cargo/other.toml": 0, "gptme.toml": 1, "codebuff.json": 1, ".agents/x.ts": 2, ".agents/skills/x/SKILL.md": 0, ".eca/config.json": 1, "conductor.json": 1, ".mux/init": 1,
		".yarn/releases/yarn-4.cjs": 2, ".yarn/plugins/x.cjs": 2, ".yarn/cache/x.zip": 0, ".pnpmfile.cjs": 1, "pnpm-workspace.yaml": 0, "uv.toml": 1, ".python-version": 1, ".nvmrc": 0, ".bundle/config": 2, "NuGet.Config": 1, ".mvn/extensions.xml": 2, ".mvn/wrapper/maven-wrapper.jar": 0, "gradle/wrapper/gradle-wrapper.properties": 3,
		"codebuff.jsonc": 1, ".pdm-python": 1, "a/devbox.json": 2, ".flox/env/manifest.toml": 2, ".flox/env.json": 2, ".flox/cache/x": 0, ".pixi/config.toml": 2, ".pixi/envs/default/bin/x": 0,
		"node_modules/x/.github/workflows/ci.yml": 0, "node_modules/x/.travis.yml": 0, "node_modules/@a/x/.husky/pre-commit": 0, "lib/site-packages/x/.circleci/config.yml": 0, "Node_Modules/x/azure-pipelines.yml": 0, ".travis.yml/node_modules/x": 1,
		"node_modules/x/.vscode/settings.json": 3, "node_modules/x/.npmrc": 3, "node_modules/.mcp.json": 2, "node_modules/x/.envrc": 3, "vendor/x/.travis.yml": 3,
		".bazelrc": 1, "tools/bazel": 2, "tools/other": 0, "ansible.cfg": 1, ".venv/pip.conf": 2, "docs/pip.conf": 0, "rust-analyzer.toml": 1, "Cargo.toml": 0, "build.rs": 0, "eslint.config.js": 0, ".eslintrc.json": 0,
	} {
		if n, by := o.In(strings.Split(text, "/")); n != want || (n > 0) != (by != "") {
			t.Errorf("%s: %d (%s), want %d", text, n, by, want)
		}
	}
	for _, p := range o.Held() {
		if p.Pattern == ".zed" || p.Pattern == ".github/workflows" {
			t.Errorf("%s was granted and is held", p.Pattern)
		}
	}
	if _, err := sensitive.NewObeyedSet("["); err == nil {
		t.Error("[ was taken for a pattern")
	}
}

// TestObeyedPlacesAreComplete: each place says who obeys it and how dangerous it is,
// and is on the list once.
func TestObeyedPlacesAreComplete(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range sensitive.Obeyed() {
		if p.By == "" || p.Danger == 0 || seen[p.Pattern] {
			t.Errorf("%+v", p)
		}
		seen[p.Pattern] = true
	}
	for _, name := range sensitive.ObeyedAtHome() {
		if seen[name] {
			t.Errorf("%s is on both lists", name)
		}
	}
}

// TestObeyedBehindLinks: a directory on the way to an obeyed place is known by its
// own name and by those above it.
func TestObeyedBehindLinks(t *testing.T) {
	o, err := sensitive.NewObeyedSet()
	if err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]string{
		"a/.cargo": "config.toml config", ".Bundle": "config plugin", "gradle": "wrapper/gradle-wrapper.properties", "gradle/wrapper": "gradle-wrapper.properties", "wrapper": "", ".mvn/wrapper": "maven-wrapper.properties", "src": "",
	} {
		var got []string
		for _, p := range o.Below(strings.Split(dir, "/")) {
			got = append(got, strings.Join(p, "/"))
		}
		if text := strings.Join(got, " "); text != want {
			t.Errorf("%s: %q, want %q", dir, text, want)
		}
		if last := dir[strings.LastIndexByte(dir, '/')+1:]; want != "" && !o.Leads(last) {
			t.Errorf("%s is let through at a glance", last)
		}
	}
}

// TestIssueList: every place that was asked for is on the list, and commands
// must not make it.
func TestIssueList(t *testing.T) {
	o, err := sensitive.NewObeyedSet()
	if err != nil {
		t.Fatal(err)
	}
	held := map[string]bool{}
	for _, p := range o.Held() {
		held[p.Pattern] = true
	}
	for _, name := range []string{".claude", ".mcp.json", ".cursor", ".vscode", ".idea", ".zed", ".husky", ".devcontainer", ".github/workflows", ".envrc", ".bashrc", ".profile", ".zshrc", ".bash_profile", ".zshenv"} {
		if _, ok := o.Is(strings.Split(name, "/")); !ok || !held[name] {
			t.Errorf("%s: obeyed %v, held %v", name, ok, held[name])
		}
	}
}

func TestParsePattern(t *testing.T) {
	for text, ok := range map[string]bool{"a": true, "a/b*": true, "./a": true, "": false, "/a": false, "../a": false, "a/..": false, "[": false, "/": false, ".": false} {
		if _, err := sensitive.ParsePattern(text); (err == nil) != ok {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// FuzzSet: the glance lets nothing through that matches, and folding twice
// changes nothing.
func FuzzSet(f *testing.F) {
	f.Add("*.pem", "x.PEM")
	f.Add(".env*", ".ENV.local")
	f.Add("a/*b?.c", "A/xbb.c")
	f.Add("*", "İ")
	f.Fuzz(func(t *testing.T, pattern, path string) {
		p, err := sensitive.ParsePattern(pattern)
		if err != nil {
			return
		}
		elems := strings.Split(path, "/")
		last := elems[len(elems)-1]
		s := sensitive.NewSet(p)
		if s.Match(elems) && !s.May(last) {
			t.Errorf("%q matches %q, and is let through at a glance", pattern, path)
		}
		if once := text.FoldFile(last); text.FoldFile(once) != once {
			t.Errorf("%q folds to %q and that to %q", last, once, text.FoldFile(once))
		}
	})
}

// FuzzHoldsKey: whatever else is in a text, a private block is found.
func FuzzHoldsKey(f *testing.F) {
	f.Add(cert, "")
	f.Add("x", cert)
	f.Fuzz(func(t *testing.T, before, after string) {
		text := before + "\n" + private + after
		for _, name := range []string{"a.pem", "a.key", "id_a", ".npmrc"} {
			if !sensitive.HoldsKey(name, []byte(text), true) {
				t.Errorf("%s: %q", name, text)
			}
		}
	})
}

func BenchmarkJudge(b *testing.B) {
	l := keys(b)
	for b.Loop() {
		l.May("component_test.go")
		l.May("README.md")
		l.May(".gitignore")
	}
}
