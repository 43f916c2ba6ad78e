package bundles

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib/internal/bundle"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/vault"
)

// TestEveryFormat: a package of each format is installed, updated with a changed command,
// which is asked about, tampered with, which disables it, rolled back, and removed, after
// which everything is as before.
func TestEveryFormat(t *testing.T) {
	for format, files := range examples() {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			b := person(t)
			other := texts{"SKILL.md": skillText("other")}.folder(t)
			install(t, b, other, Want{Name: "other"})
			before := snapshot(t, b.Home)
			dir := files.using("first").folder(t)
			c, err := b.Fetch(t.Context(), dir, Want{})
			if err != nil {
				t.Fatal(err)
			}
			if c.Package.Format != format || c.Consent.Empty() || c.Before != nil {
				t.Errorf("%+v", c)
			}
			server := format != "skills"
			if said := strings.Join(c.Consent.Adds, "\n"); server && !strings.Contains(said, "first") {
				t.Errorf("the consent does not tell the command:\n%s", said)
			}
			if _, err := b.Install(t.Context(), c); err != nil {
				t.Fatal(err)
			}
			if err := c.Close(); err != nil {
				t.Fatal(err)
			}
			l := b.Load()
			if len(l.Faults) > 0 || len(l.Skills) != len(c.Package.Skills)+1 || len(l.Servers) != len(c.Package.Servers) || len(l.Agents) != len(c.Package.Agents) || server && len(l.Servers) != 1 {
				t.Errorf("%+v", l)
			}
			installed := snapshot(t, b.Home)

			files.using("second").with("new.txt", "x").write(t, dir)
			c, err = b.Update(t.Context(), "kit", "", Want{})
			if err != nil {
				t.Fatal(err)
			}
			said := strings.Join(c.Consent.Changes, "\n")
			if c.Same() || !strings.Contains(said, "new.txt") || server && (!strings.Contains(said, "second") || !strings.Contains(said, "first") || !c.Consent.Runs) {
				t.Errorf("an update says %+v", c.Consent)
			}
			if l := b.Load(); server && strings.Contains(commandLine(l), "second") {
				t.Errorf("what nobody said yes to counts: %s", commandLine(l))
			}
			if _, err := b.Install(t.Context(), c); err != nil {
				t.Fatal(err)
			}
			if err := c.Close(); err != nil {
				t.Fatal(err)
			}
			if l := b.Load(); server && !strings.Contains(commandLine(l), "second") {
				t.Errorf("%s, %+v", commandLine(l), l.Faults)
			}

			tamper(t, b, c.Tree)
			l = b.Load()
			if len(l.Faults) != 1 || !strings.Contains(l.Faults[0].Error(), "new.txt was changed") || len(l.Skills) != 1 || len(l.Servers)+len(l.Agents) != 0 {
				t.Errorf("after a file was changed: %+v", l)
			}
			if was, err := b.Rollback(t.Context(), "kit", false); err != nil || was.Package.Format != format {
				t.Fatal(err)
			}
			if l := b.Load(); len(l.Faults) > 0 || server && !strings.Contains(commandLine(l), "first") {
				t.Errorf("after going back: %+v", l)
			}
			same(t, installed, snapshot(t, b.Home))
			if stay, err := b.Remove(t.Context(), "kit", false, false); err != nil || stay != nil {
				t.Fatal(stay, err)
			}
			same(t, before, snapshot(t, b.Home))
		})
	}
}

func commandLine(l Loaded) string {
	for _, s := range l.Servers {
		return s.Command + " " + strings.Join(s.Args, " ")
	}
	return ""
}

func tamper(t *testing.T, b *Bundles, tree string) {
	t.Helper()
	file := filepath.Join(b.root(tree), "new.txt")
	if err := os.Chmod(file, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("y"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestTampering: every kind of change is seen, and told.
func TestTampering(t *testing.T) {
	t.Parallel()
	for want, do := range map[string]func(root string) error{
		"evil.txt is new": func(r string) error { return os.WriteFile(filepath.Join(r, "evil.txt"), nil, 0o600) },
		"skills/two/SKILL.md is new": func(r string) error {
			if err := os.Mkdir(filepath.Join(r, "skills", "two"), 0o700); err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(r, "skills", "two", "SKILL.md"), []byte(skillText("two")), 0o600)
		},
		"skills/one/SKILL.md is gone":       func(r string) error { return os.Remove(filepath.Join(r, "skills", "one", "SKILL.md")) },
		"the list of its files was changed": func(r string) error { return rewritten(filepath.Join(filepath.Dir(r), listName), "{\"path\":\"x\"}\n") },
		"its files are gone":                os.RemoveAll,
		"skills/one/SKILL.md was changed": func(r string) error {
			return rewritten(filepath.Join(r, "skills", "one", "SKILL.md"), skillText("One"))
		},
	} {
		b := person(t)
		r := install(t, b, texts{".claude-plugin/plugin.json": `{"name":"kit"}`, "skills/one/SKILL.md": skillText("one")}.folder(t), Want{})
		if err := do(b.root(r.Tree)); err != nil {
			t.Fatal(err)
		}
		l := b.Load()
		if len(l.Faults) != 1 || !strings.Contains(l.Faults[0].Error(), want) || len(l.Skills) > 0 {
			t.Errorf("%s: %+v", want, l)
		}
		if checked, err := b.Verify("kit"); err != nil || checked[0].Good {
			t.Errorf("%s: %+v, %v", want, checked, err)
		}
	}
	b := person(t)
	install(t, b, texts{"SKILL.md": skillText("one")}.folder(t), Want{})
	if err := rewritten(b.recordFile(), strings.Replace(readText(t, b.recordFile()), "one", "two", 1)); err != nil {
		t.Fatal(err)
	}
	if l := b.Load(); len(l.Faults) != 1 || !strings.Contains(l.Faults[0].Error(), "cannot be believed") || len(l.Skills) > 0 {
		t.Errorf("a changed record: %+v", l)
	}
}

func rewritten(file, text string) error {
	return errors.Join(os.Chmod(file, 0o600), os.WriteFile(file, []byte(text), 0o600))
}

func readText(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestNothingIsReplaced: a server or an agent of the settings stays what it is.
func TestNothingIsReplaced(t *testing.T) {
	t.Parallel()
	b := person(t)
	install(t, b, examples()["agx-bundle"].using("evil").folder(t), Want{})
	own := settings.MCPServer{Command: "mine"}
	agent := settings.Agent{Instructions: "mine"}
	cfg := settings.Config{MCPServers: map[string]settings.MCPServer{"kit-local": own}, Agents: map[string]settings.Agent{"kit-scholar": agent}}
	layers := &settings.Layers{User: cfg}
	got, gotLayers, faults := b.Load().Into(cfg, layers)
	if got.MCPServers["kit-local"].Command != "mine" || got.Agents["kit-scholar"].Instructions != "mine" || gotLayers.User.Agents["kit-scholar"].Instructions != "mine" || len(faults) != 2 {
		t.Errorf("%+v, %v", got.MCPServers, faults)
	}
	got, gotLayers, faults = b.Load().Into(settings.Config{}, &settings.Layers{})
	if got.MCPServers["kit-local"].Command != "evil" || gotLayers.User.Agents["kit-scholar"].Instructions != "You are a scholar." || got.Agents["kit-scholar"].Profile != "" || len(faults) != 0 {
		t.Errorf("%+v, %+v, %v", got.MCPServers, gotLayers.User.Agents, faults)
	}
	if len(cfg.MCPServers) != 1 || len(layers.User.Agents) != 1 {
		t.Error("the settings that were given were changed")
	}
}

// TestTemplatesStay: a memory template that is there, or that the person changed, is
// neither overwritten nor removed.
func TestTemplatesStay(t *testing.T) {
	t.Parallel()
	b := person(t)
	file := filepath.Join(b.Memory, templateDir, "kit", "flow.md")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	dir := examples()["agx-bundle"].folder(t)
	install(t, b, dir, Want{})
	if stay, err := b.Remove(t.Context(), "kit", false, false); err != nil || stay != nil || readText(t, file) != "mine" {
		t.Errorf("%v, %v, %q", stay, err, readText(t, file))
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	install(t, b, dir, Want{})
	if readText(t, file) != "# Flow\n" {
		t.Errorf("%q", readText(t, file))
	}
	if err := os.WriteFile(file, []byte("changed"), 0o600); err != nil {
		t.Fatal(err)
	}
	if stay, err := b.Remove(t.Context(), "kit", false, false); err != nil || len(stay) != 1 || readText(t, file) != "changed" {
		t.Errorf("%v, %v, %q", stay, err, readText(t, file))
	}
}

// TestTemplatesFollow: a template that nobody changed is that of the version.
func TestTemplatesFollow(t *testing.T) {
	t.Parallel()
	b := person(t)
	file := filepath.Join(b.Memory, templateDir, "kit", "flow.md")
	files := examples()["agx-bundle"]
	dir := files.folder(t)
	install(t, b, dir, Want{})
	files.with("memory/flow.md", "# Second\n").write(t, dir)
	install(t, b, dir, Want{})
	if got := readText(t, file); got != "# Second\n" {
		t.Errorf("%q", got)
	}
	if _, err := b.Rollback(t.Context(), "kit", false); err != nil || readText(t, file) != "# Flow\n" {
		t.Errorf("%q, %v", readText(t, file), err)
	}
	files.with("agx-bundle.yaml", "agx_bundle: 1\nname: kit\n").write(t, dir)
	install(t, b, dir, Want{})
	if _, err := os.Lstat(file); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a template of an earlier version: %v", err)
	}
}

// TestValues: what a package asks for comes from the person, and a text of the package is
// never taken for a reference to a variable or to a secret.
func TestValues(t *testing.T) {
	t.Parallel()
	b := person(t)
	dir := texts{".claude-plugin/plugin.json": `{"name":"kit","mcpServers":{"s":{"command":"x","args":["${CITY}","${UNITS:-si}","${${X:-secret:mine}}","a$"],"env":{"KEY":"Bearer ${API_KEY}","OPT":"${OPT_TOKEN:-}"}}}}`}.folder(t)
	c, err := b.Fetch(t.Context(), dir, Want{})
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Left) != 1 || !strings.Contains(c.Left["s"], "--value CITY=") {
		t.Errorf("%v", c.Left)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Fetch(t.Context(), dir, Want{Values: map[string]string{"API_KEY": "x"}}); err == nil || !strings.Contains(err.Error(), "toolcrib secret set "+secretName(vaultName("kit", "", Source{Kind: FromDir, At: dir}.origin()), "API_KEY")) {
		t.Errorf("a secret as a value: %v", err)
	}
	if _, err := b.Fetch(t.Context(), dir, Want{Values: map[string]string{"NONE": "x"}}); err == nil {
		t.Error("a value for nothing")
	}
	install(t, b, dir, Want{Values: map[string]string{"CITY": "${HOME}"}})
	s := b.Load().Servers["kit-s"]
	var said []string
	for _, text := range append(slices.Clone(s.Args), s.Env["KEY"]) {
		got, err := settings.Expand(t.Context(), text, func(string) (string, bool) { return "LEAK", true }, secretOf)
		if err != nil {
			t.Errorf("%s: %v", text, err)
		}
		said = append(said, got)
	}
	for i, got := range said {
		if strings.Contains(got, "LEAK") || strings.Contains(got, "value of mine") {
			t.Errorf("argument %d reaches what is not the package's: %s", i, got)
		}
	}
	if said[0] != "${HOME}" || said[1] != "si" || said[len(said)-1] != "Bearer value of "+secretName(vaultName("kit", "", Source{Kind: FromDir, At: dir}.origin()), "API_KEY") {
		t.Errorf("%q", said)
	}
	if _, there := s.Env["OPT"]; there {
		t.Errorf("what nobody gave: %v", s.Env)
	}
	c, err = b.Fetch(t.Context(), texts{".claude-plugin/plugin.json": `{"name":"odd","mcpServers":{"s":{"command":"x","args":["$${secret:mine}"]}}}`}.folder(t), Want{})
	if err != nil || !strings.Contains(c.Left["s"], "a $ stands before a secret") {
		t.Errorf("%+v, %v", c, err)
	}
	if err := vault.CheckName(secretName(vaultName(strings.Repeat("k", 64), "/project", "origin"), strings.Repeat("A", 64))); err != nil {
		t.Error(err)
	}
}

// TestSecretsOfOthers: a package that is called as another one, of a project, installed
// later, or taken from elsewhere at an update, is given none of its secrets.
func TestSecretsOfOthers(t *testing.T) {
	t.Parallel()
	b := person(t)
	of := texts{".claude-plugin/plugin.json": `{"name":"kit","mcpServers":{"s":{"command":"x","env":{"KEY":"${API_KEY}"}}}}`}
	good, evil := of.folder(t), of.with("x", "evil").folder(t)
	key := func() string { return b.Load().Servers["kit-s"].Env["KEY"] }
	install(t, b, good, Want{})
	had := key()
	good2 := of.with("x", "newer")
	good2.write(t, good)
	install(t, b, good, Want{})
	if key() != had || had == "" {
		t.Errorf("after an update from the same place: %s, and before %s", key(), had)
	}
	c, err := b.Update(t.Context(), "kit", evil, Want{})
	if err != nil || !slices.ContainsFunc(c.Consent.Changes, func(s string) bool { return strings.HasPrefix(s, "where it comes from: "+evil) }) {
		t.Fatalf("%+v, %v", c, err)
	}
	if _, err := b.Install(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if key() == had {
		t.Error("an update from elsewhere has its secret")
	}
	if _, err := b.Remove(t.Context(), "kit", false, false); err != nil {
		t.Fatal(err)
	}
	install(t, b, good, Want{Project: true})
	if key() == had {
		t.Error("a project's has it")
	}
}

// TestNobodyIsDisplaced: a package that comes later takes no name over, wherever its own
// stands in the alphabet.
func TestNobodyIsDisplaced(t *testing.T) {
	t.Parallel()
	b := person(t)
	of := func(name, server, agent, program string) texts {
		return texts{".claude-plugin/plugin.json": `{"name":"` + name + `","mcpServers":{"` + server + `":{"command":"` + program + `"}}}`, "agents/x.md": "---\nname: " + agent + "\n---\n" + program, "skills/deploy/SKILL.md": skillText("deploy")}
	}
	first := install(t, b, of("a-b", "c", "x", "good").folder(t), Want{})
	root := b.root(first.Tree)
	for _, project := range []bool{false, true} {
		r := install(t, b, of("a", "b-c", "b-x", "evil").folder(t), Want{Project: project})
		if len(r.Servers)+len(r.Avatars)+len(r.Skills) != 0 || r.Left["b-c"] == "" {
			t.Errorf("project %t: %+v", project, r)
		}
		l := b.Load()
		if l.Servers["a-b-c"].Command != "good" || l.Agents["a-b-x"].Instructions != "good" || len(l.Skills) != 1 || l.Skills[0].Root != root || len(l.Faults) != 0 {
			t.Errorf("project %t: %+v", project, l)
		}
	}
	late := person(t)
	c, err := late.Fetch(t.Context(), of("a", "b-c", "b-x", "evil").folder(t), Want{})
	if err != nil {
		t.Fatal(err)
	}
	install(t, late, of("a-b", "c", "x", "good").folder(t), Want{})
	if _, err := late.Install(t.Context(), c); err == nil || !strings.Contains(err.Error(), "look again") {
		t.Errorf("while somebody looked: %v", err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if r := install(t, b, of("a-b", "c", "x", "better").folder(t), Want{}); len(r.Servers) != 1 || len(r.Skills) != 1 { // its own names are no others'
		t.Errorf("%+v", r)
	}
}

// TestSandboxStays: no update, no earlier state and no lock file has servers leave the
// sandbox that the person chose.
func TestSandboxStays(t *testing.T) {
	t.Parallel()
	b := person(t)
	of := texts{".claude-plugin/plugin.json": `{"name":"kit","mcpServers":{"s":{"command":"x"}}}`}
	dir := filepath.Join(b.Dir, "kit")
	of.write(t, dir)
	runs := func() string { return b.Load().Servers["kit-s"].Sandbox }
	install(t, b, "./kit", Want{Project: true})
	lock := readText(t, projectLock(b.Dir))
	c, err := b.Fetch(t.Context(), "./kit", Want{Project: true, Sandbox: "linux"})
	if err != nil || c.Same() || len(c.Consent.Changes) != 1 || !strings.Contains(c.Consent.Changes[0], "in the sandbox linux") {
		t.Fatalf("the same in a sandbox: %+v, %v", c, err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	of.with("x", "1").write(t, dir)
	install(t, b, "./kit", Want{Project: true, Sandbox: "linux"})
	of.with("x", "2").write(t, dir)
	install(t, b, "./kit", Want{Project: true})
	if got := runs(); got != "linux" {
		t.Errorf("after an update: %q", got)
	}
	newer := readText(t, projectLock(b.Dir))
	if err := os.WriteFile(projectLock(b.Dir), []byte(lock), 0o600); err != nil { // of before there was one
		t.Fatal(err)
	}
	if got := runs(); got != "linux" {
		t.Errorf("by an older lock file: %q", got)
	}
	if err := os.WriteFile(projectLock(b.Dir), []byte(newer), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := b.Rollback(t.Context(), "kit", true); err != nil {
			t.Fatal(err)
		}
	}
	if got := runs(); got != "linux" {
		t.Errorf("after going back: %q", got)
	}
}

// TestSeveralValues: a value of which there may be several is as many arguments.
func TestSeveralValues(t *testing.T) {
	t.Parallel()
	b := person(t)
	install(t, b, texts{"manifest.json": `{"manifest_version":"0.3","name":"kit","server":{"mcp_config":{"command":"x","args":["--","${user_config.dirs}","=${user_config.dirs}"]}},"user_config":{"dirs":{"type":"directory","multiple":true,"required":true}}}`}.folder(t), Want{Values: map[string]string{"dirs": "/a, /b c,/d"}})
	if got := strings.Join(b.Load().Servers["kit"].Args, "|"); got != "--|/a|/b c|/d|=/a, /b c,/d" {
		t.Error(got)
	}
}

// TestLeftOutIsNew: a server that was left out and counts now is something to say yes to, and so is another value. What
// is not there is not told as added, nor in the record for other programs.
func TestLeftOutIsNew(t *testing.T) {
	t.Parallel()
	b := person(t)
	dir := texts{"manifest.json": `{"manifest_version":"0.3","name":"kit","server":{"mcp_config":{"command":"x","args":["${user_config.city}"]}},"user_config":{"city":{"type":"string","required":true}}}`}.folder(t)
	consent := func(values map[string]string) bundle.Consent {
		c, err := b.Fetch(t.Context(), dir, Want{Values: values})
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		}()
		if _, err := b.Install(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		return c.Consent
	}
	server := "server kit: starts x ${ask:city}"
	if got := consent(nil); slices.Contains(got.Adds, server) || len(b.Load().Servers) != 0 {
		t.Errorf("what is left out is told as added: %+v", got)
	}
	if record, err := os.ReadFile(filepath.Join(b.State, "bundles", "bundles.json")); err != nil || !strings.Contains(string(record), `"mcp_servers": []`) {
		t.Errorf("%s, %v", record, err)
	}
	if got := consent(map[string]string{"city": "Paris"}); !slices.Contains(got.Adds, server) || !got.Runs || len(b.Load().Servers) != 1 {
		t.Errorf("what counts now is not told: %+v", got)
	}
	if got := consent(map[string]string{"city": "Rome"}); !slices.Contains(got.Changes, "value of city: Rome; before: Paris") {
		t.Errorf("another value is not told: %+v", got)
	}
	if _, err := b.Fetch(t.Context(), dir, Want{Values: map[string]string{"CITY": "Oslo"}}); err == nil || !strings.Contains(err.Error(), "is called city") {
		t.Error(err)
	}
}

// TestOtherScope: who leaves --project out, or writes it where it does not belong, is told.
func TestOtherScope(t *testing.T) {
	t.Parallel()
	b := person(t)
	install(t, b, texts{"SKILL.md": skillText("ours")}.folder(t), Want{Name: "ours", Project: true})
	install(t, b, texts{"SKILL.md": skillText("mine")}.folder(t), Want{Name: "mine"})
	if _, err := b.Remove(t.Context(), "ours", false, false); !errors.Is(err, ErrNone) || !strings.Contains(err.Error(), "with --project") {
		t.Error(err)
	}
	if _, err := b.Remove(t.Context(), "mine", true, false); !errors.Is(err, ErrNone) || !strings.Contains(err.Error(), "without --project") {
		t.Error(err)
	}
	if _, err := b.Remove(t.Context(), "other", true, false); !errors.Is(err, ErrNone) || strings.Contains(err.Error(), "--project") {
		t.Error(err)
	}
}

// TestNamesOfParts: parts of packages are told apart, and none is called as the hub's
// tools are.
func TestNamesOfParts(t *testing.T) {
	for in, want := range map[[2]string]string{{"kit", "web"}: "kit-web", {"web", "web"}: "web", {"a.b", "c"}: "a-b-c", {"a", "b__c"}: "a-b_c"} {
		if got := bundle.PartName(in[0], in[1]); got != want {
			t.Errorf("%v: %s", in, got)
		}
	}
	for in, want := range map[string]string{"../..": "", "My Kit": "My-Kit", "a--b..c": "a-b.c", "...": "", "x_": "x", strings.Repeat("x", 99): strings.Repeat("x", 64), "kit v1.2": "kit-v1.2"} {
		if got := plainName(in); got != want {
			t.Errorf("%q: %q", in, got)
		}
	}
}

func keys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func secretOf(_ context.Context, name string) (string, error) { return "value of " + name, nil }
