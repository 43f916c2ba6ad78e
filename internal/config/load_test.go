package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func sameSettings(t *testing.T, got, want settings) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(settings{}), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("settings differ (-want +got):\n%s", diff)
	}
}

func TestLoadDefaults(t *testing.T) {
	loaded := load(t, Options{Owner: os.Getuid(), System: filepath.Join(t.TempDir(), "none.yaml"), User: filepath.Join(t.TempDir(), "none.yaml")})
	sameSettings(t, loaded.Value, standard())
	if loaded.Value.private != 7 {
		t.Errorf("a field that is no setting was lost: %d", loaded.Value.private)
	}
	for _, key := range []string{
		"mode", "journal.retention", "tools.allow", "tools.alias", "tools.profiles.minimal", "servers.docs.url",
		"servers.docs.headers", "rules", "tls",
	} {
		if origin, ok := loaded.Origins[key]; !ok || origin != (Origin{}) {
			t.Errorf("origin of %s is %v, %v", key, origin, ok)
		}
	}
	if len(loaded.Warnings) > 0 {
		t.Errorf("warnings: %v", loaded.Warnings)
	}
}

func TestLoadLayers(t *testing.T) {
	system := write(t, "system.yaml", "workers: 10\nmode: plan\njournal:\n  retention: 30d\n  max_size: 2 GiB\ntools:\n  allow: [a, b]\n")
	user := write(t, "user.yaml", `
workers: 11
journal:
  retention: 1d12h
limits: {timeout: 1m30s, load: 0.25, retries: 0}
tools:
  alias: {ls: list_directory}
  profiles:
    mine: [fs, web]
servers:
  docs: {timeout: 3s}
  odd.name:
    url: http://localhost
rules:
  - match: "rm*"
    action: deny
    paths: [/a, /b]
  - {match: x, action: ask}
tls:
  port: 8443
`)
	loaded := load(t, Options{
		System:  system,
		Owner:   os.Getuid(),
		User:    user,
		Environ: []string{"TOOLCRIB_WORKERS=12", "TOOLCRIB_TOOLS_DENY=x, y", "CRIB_TOKEN=s3", "TOOLCRIB_TOOLS_ALIAS=cat=read, ls=list"},
		Flags: map[string]string{
			"workers": "13", "tls.cert": "c.pem", "servers.new.url": "u", `servers["odd.name"].enabled`: "yes", "tools.allow": "z",
		},
	})
	want := standard()
	want.Workers, want.Mode = 13, "plan"
	want.Journal.Retention, want.Journal.MaxSize = 36*time.Hour, 2<<30
	want.Limits.Timeout, want.Limits.Load, want.Limits.Retries = 90*time.Second, 0.25, 0
	want.Tools.Allow, want.Tools.Deny, want.Tools.Token = []string{"z"}, []string{"x", "y"}, "s3"
	want.Tools.Alias = map[string]string{"ls": "list", "cat": "read"}
	want.Tools.Profiles = map[string][]string{"minimal": {"fs"}, "mine": {"fs", "web"}}
	want.Servers = map[string]server{
		"docs":     {URL: "https://docs.example", Enabled: true, Timeout: 3 * time.Second},
		"odd.name": {URL: "http://localhost", Enabled: true},
		"new":      {URL: "u"},
	}
	want.Rules = []ruleSetting{{Match: "rm*", Action: "deny", Paths: []string{"/a", "/b"}}, {Match: "x", Action: "ask"}}
	want.TLS = &tlsSetting{Cert: "c.pem", Port: 8443}
	sameSettings(t, loaded.Value, want)

	for key, origin := range map[string]string{
		"workers":                     "flag",
		"mode":                        system + ":2",
		"journal.retention":           user + ":4",
		"journal.max_size":            system + ":5",
		"journal.enabled":             "default",
		"limits.timeout":              user + ":5",
		"tools.deny":                  "env TOOLCRIB_TOOLS_DENY",
		"tools.token":                 "env CRIB_TOKEN",
		"tools.alias.ls":              "env TOOLCRIB_TOOLS_ALIAS",
		"tools.profiles.mine":         user + ":9",
		"servers.docs.timeout":        user + ":11",
		"servers.docs.url":            "default",
		`servers["odd.name"].url`:     user + ":13",
		`servers["odd.name"].enabled`: "flag",
		"rules":                       user + ":14",
		"tls.port":                    user + ":20",
		"tls.cert":                    "flag",
	} {
		if got := loaded.Origins[key].String(); got != origin {
			t.Errorf("origin of %s is %s, want %s", key, got, origin)
		}
	}
	if _, ok := loaded.Origins["tls"]; ok {
		t.Error("a block that is there has an origin of its own")
	}
}

func TestLoadKeepsTheDefaults(t *testing.T) {
	defaults := standard()
	defaults.TLS = &tlsSetting{Port: 443}
	defaults.Rules = []ruleSetting{{Match: "a", Paths: []string{"/"}}}
	want := standard()
	want.TLS = &tlsSetting{Port: 443}
	want.Rules = []ruleSetting{{Match: "a", Paths: []string{"/"}}}
	user := write(t, "c.yaml", "tls: {port: 1}\nservers: {docs: {url: x, headers: {a: b}}}\ntools: {profiles: {minimal: []}, alias: {a: b}}\n")
	project := write(t, "toolcrib.yaml", "tools: {deny: [q], allow: [read]}\nrules: [{match: b}]\n")
	loaded, err := Load(defaults, Options{User: user, Project: project})
	if err != nil {
		t.Fatal(err)
	}
	loaded.Value.Tools.Allow[0] = "changed"
	loaded.Value.Rules[0].Paths[0] = "changed"
	sameSettings(t, defaults, want)
}

func TestLoadEmptyAndUnusualFiles(t *testing.T) {
	for name, text := range map[string]string{
		"empty": "", "comment": "# nothing\n", "blank": "\n\n", "marker": "---\n", "null": "~\n", "bom": "\uFEFF", "braces": "{}\n",
		"end": "---\n...\n", "empty blocks": "journal:\ntools:\n  # allow: [x]\nservers:\n", "crlf": "limits:\r\n  network: true\r\n",
		"bom and key": "\uFEFFmode: ask\n", "json": `{"mode": "ask", "tools": {"deny": ["rm"]}}`, "tag": "mode: !!str ask\n",
	} {
		loaded, err := Load(standard(), Options{User: write(t, "c.yaml", text)})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		sameSettings(t, loaded.Value, standard())
	}
}

func TestLoadEmptyBlocksComeIntoBeing(t *testing.T) {
	loaded := load(t, Options{User: write(t, "c.yaml", "tls:\nservers:\n  local:\n  docs:\nrules: [{}]\n")})
	if loaded.Value.TLS == nil {
		t.Error("an optional block that is written is absent")
	}
	if _, ok := loaded.Value.Servers["local"]; !ok || len(loaded.Value.Servers) != 2 {
		t.Errorf("servers are %v", loaded.Value.Servers)
	}
	if loaded.Value.Servers["docs"].URL == "" {
		t.Error("an empty entry wiped out the one below it")
	}
	if len(loaded.Value.Rules) != 1 {
		t.Errorf("rules are %v", loaded.Value.Rules)
	}
}

func TestLoadAliases(t *testing.T) {
	loaded := load(t, Options{User: write(t, "c.yaml", `
servers:
  a: &base {url: one, timeout: 1s, enabled: true}
  b: *base
  c: {<<: *base, url: two}
  d: {<<: [{url: three}, *base]}
tools: {allow: &list [x, y], deny: *list}
`)})
	base := server{URL: "one", Timeout: time.Second, Enabled: true}
	two, three := base, base
	two.URL, three.URL = "two", "three"
	want := map[string]server{"docs": standard().Servers["docs"], "a": base, "b": base, "c": two, "d": three}
	if diff := cmp.Diff(want, loaded.Value.Servers, cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"x", "y"}, loaded.Value.Tools.Deny); diff != "" {
		t.Error(diff)
	}
}

func TestExplicit(t *testing.T) {
	user := write(t, "user.yaml", "workers: 20\nmode: auto\n")
	explicit := write(t, "other.yaml", "workers: 30\n")
	loaded := load(t, Options{User: user, Explicit: explicit})
	if loaded.Value.Workers != 30 || loaded.Value.Mode != "ask" {
		t.Errorf("the user's file was not replaced: %+v", loaded.Value)
	}
	if o := loaded.Origins["workers"]; o.Source != SourceUser || o.File != explicit {
		t.Errorf("origin %+v", o)
	}
	_, err := Load(standard(), Options{User: user, Explicit: filepath.Join(t.TempDir(), "none.yaml")})
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file that was asked for gave %v", err)
	}
	if _, err := Load(standard(), Options{Explicit: os.DevNull}); err != nil {
		t.Errorf("a device that was asked for gave %v", err)
	}
}

func TestTrustedProject(t *testing.T) {
	user := write(t, "user.yaml", "workers: 20\n")
	project := write(t, "toolcrib.yaml", "workers: 40\nmode: auto\nlimits: {network: true, retries: 9}\n")
	loaded := load(t, Options{User: user, Project: project, Trusted: func([]byte) bool { return true }, Environ: []string{"TOOLCRIB_LIMITS_RETRIES=3"}})
	if v := loaded.Value; v.Workers != 40 || v.Mode != "auto" || v.Limits.Retries != 3 {
		t.Errorf("a trusted project gave %+v", v)
	}
	if len(loaded.Warnings) > 0 {
		t.Errorf("warnings: %v", loaded.Warnings)
	}
	if got := loaded.Origins["mode"]; got.Source != SourceProject || got.Line != 2 {
		t.Errorf("origin %+v", got)
	}
}

func TestLoadNotAStruct(t *testing.T) {
	if _, err := Load(3, Options{}); err == nil || !strings.Contains(err.Error(), "not a struct") {
		t.Errorf("got %v", err)
	}
	if _, err := Load[any](nil, Options{}); err == nil {
		t.Error("an interface was accepted")
	}
}

// TestJoinedLists: where every layer adds, none takes the place of another, and each entry is told by its layer.
func TestJoinedLists(t *testing.T) {
	type settings struct {
		Rules []string `yaml:"rules" layers:"join" project:"add" doc:"Rules."`
		Mode  string   `yaml:"mode" enum:"strict,usual,loose" project:"lower" doc:"Mode."`
	}
	dir := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	opt := Options{
		User:    write("user", "mode: usual\nrules:\n  - a\n  - b\n"),
		Project: write("project", "mode: loose\nrules: [b, c]\n"),
		Environ: []string{"TOOLCRIB_RULES=d"},
	}
	loaded, err := Load(settings{Mode: "usual"}, opt)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(loaded.Value.Rules, " "); got != "a b d c" || loaded.Value.Mode != "usual" || len(loaded.Warnings) != 1 {
		t.Errorf("%+v, %v", loaded.Value, loaded.Warnings)
	}
	if got := strings.Join(loaded.User.Rules, " ") + "|" + strings.Join(loaded.Project.Rules, " "); got != "a b d|b c" {
		t.Errorf("by layer: %s", got)
	}
	if got := loaded.Origins["rules[3]"].Source; got != SourceProject {
		t.Errorf("the project's entry is from %v", got)
	}
	opt.Trusted = func(content []byte) bool { return strings.Contains(string(content), "loose") }
	if loaded, err = Load(settings{Mode: "usual"}, opt); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(loaded.User.Rules, " "); got != "a b c d" || loaded.Value.Mode != "loose" || !loaded.Trusted || loaded.Project.Rules != nil {
		t.Errorf("trusted: %+v", loaded)
	}
	opt.Project, opt.Trusted = write("stricter", "mode: strict\n"), nil
	if loaded, err = Load(settings{Mode: "usual"}, opt); err != nil || loaded.Value.Mode != "strict" || len(loaded.Warnings) > 0 {
		t.Errorf("a stricter word: %+v, %v", loaded, err)
	}
}
