package cli

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolcrib/toolcrib/internal/app"
	"github.com/toolcrib/toolcrib/internal/config"
	"github.com/toolcrib/toolcrib/internal/hub"
	"github.com/toolcrib/toolcrib/internal/mcp/clientfiles"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/setup"
	"github.com/toolcrib/toolcrib/internal/vault"
	"github.com/toolcrib/toolcrib/internal/vault/keeper"
)

// TestPreviewShowsAllThatIsWritten: no setting comes in unseen, and it can be
// told where one argument ends.
func TestPreviewShowsAllThatIsWritten(t *testing.T) {
	s := clientfiles.Server{
		Name: "s", Source: clientfiles.Cursor, Command: "prog", Args: []string{"arg one", "plain", "", "a\nb", "q\"q", "é\u202e"}, Env: map[string]string{"VAR": "val ue"}, Cwd: "/the dir",
		URL: "https://u.example", Transport: clientfiles.SSE, Headers: map[string]string{"Head": "x y"}, Timeout: 90 * time.Second,
		EnabledTools: []string{"yes one", "two"}, DisabledTools: []string{"no"}, Agents: []string{"agent"}, Disabled: true,
		OAuth: clientfiles.Login{ClientID: "abc issuer:https://good.example", Issuer: "https://evil.example", Scopes: []string{"read", "a b"}, RedirectPort: 8123},
	}
	var out bytes.Buffer
	(&command{out: &out}).preview(setup.Taken{File: "f", Server: s, Name: "s"})
	want := `s (from Cursor, f)
  program: prog "arg one" plain "" "a\nb" "q\"q" "é\u202e"
  assign_to_agents: agent
  cwd: "/the dir"
  disabled: it is switched off there, and will be here
  disabled_tools: no
  enabled_tools: "yes one" two
  variable: VAR="val ue"
  header: Head: "x y"
  oauth.client_id: "abc issuer:https://good.example"
  oauth.issuer: https://evil.example
  oauth.redirect_port: 8123
  oauth.scopes: read "a b"
  timeout: 1m30s
  transport: sse
  address: https://u.example
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
	// A setting that is added to the entry one day is shown too, under its key.
	shown := map[string]string{"command": "program", "args": "program", "env": "variable", "headers": "header", "url": "address"}
	for key := range settings.ServerEntry(s) {
		if as, ok := shown[key]; ok {
			key = as
		}
		if !strings.Contains(out.String(), "  "+key+": ") && !strings.Contains(out.String(), "  "+key+".") {
			t.Errorf("%s is not shown", key)
		}
	}
}

func TestImportNames(t *testing.T) {
	c := &command{out: io.Discard}
	token := func(n int) string { return fmt.Sprintf("ghp_%036d", n) }
	server := func(name, arg string, n int) setup.Taken {
		return setup.Taken{Server: clientfiles.Server{Name: name, Command: "c", Args: []string{arg, "--token", token(n)}, Env: map[string]string{"A_TOKEN": token(n)}}}
	}
	list := []setup.Taken{server("gh", "one", 1), server("gh", "one", 1), server("gh", "two", 2), server("a__b ___c", "x", 3), server("files", "x", 4)}
	got, err := c.name(list, map[string]settings.MCPServer{"gh": {Command: "other"}})
	if err != nil {
		t.Fatal(err)
	}
	there := map[string]settings.MCPServer{"gh": {Command: "other"}}
	var names []string
	for _, g := range got {
		names = append(names, g.Name)
		there[g.Name] = settings.MCPServer{Command: g.Server.Command, Args: g.Server.Args}
		if err := app.CheckServerName(g.Name); err != nil {
			t.Error(err)
		}
		if len(g.Secrets) == 0 {
			t.Errorf("%s has no secret", g.Name)
		}
		for _, s := range g.Secrets {
			if !strings.HasPrefix(s.Name, g.Name+"-") {
				t.Errorf("the secret %s is not called after %s", s.Name, g.Name)
			}
		}
	}
	if diff := cmp.Diff([]string{"gh-2", "gh-3", "a_b-_c", "files-mcp"}, names); diff != "" {
		t.Error(diff)
	}
	if again, err := c.name(list, there); err != nil || len(again) != 0 {
		t.Errorf("what is there was taken again: %v, %v", again, err)
	}
}

// importing is a machine of its own with a vault.
func importing(t *testing.T) (*command, config.Paths, *vault.Vault, *bytes.Buffer) {
	t.Helper()
	key, err := vault.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	var said bytes.Buffer
	c := &command{
		in: io.NopCloser(strings.NewReader("")), out: io.Discard, err: &said, dir: home,
		environ: []string{"HOME=" + home, "USERPROFILE=" + home, "TOOLCRIB_HOME=" + filepath.Join(home, "crib")},
	}
	paths, _, err := c.paths()
	if err != nil {
		t.Fatal(err)
	}
	v, err := vault.Open(vault.Config{Dir: keeper.Dir(paths.State)}, vault.FromEnv("KEY", func(string) (string, bool) { return key, true }))
	if err != nil {
		t.Fatal(err)
	}
	return c, paths, v, &said
}

func secretNames(t *testing.T, v *vault.Vault) []string {
	t.Helper()
	infos, err := v.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	names := []string{}
	for _, i := range infos {
		names = append(names, i.Name)
	}
	return names
}

// TestImportFailsWhole: when the last step fails, nothing is left of those
// before, and the import before can still be taken back.
func TestImportFailsWhole(t *testing.T) {
	for _, former := range []string{"", `{"servers":[{"name":"before","entry":{}}],"secrets":[]}`} {
		c, paths, v, _ := importing(t)
		if err := v.Set(t.Context(), vault.Ref{Name: "mine"}, "of a person"); err != nil {
			t.Fatal(err)
		}
		if former != "" {
			if err := os.MkdirAll(hub.Dir(paths.State), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(importFile(paths.State), []byte(former), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		// The file of settings cannot be written: its directory is a file.
		blocked := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(blocked, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		c.config = filepath.Join(blocked, "config.yaml")
		list := []setup.Taken{{Name: "s", Server: clientfiles.Server{Command: "c", Env: map[string]string{"A": "${secret:s-A}"}}}}
		if _, err := c.takeOver(t.Context(), paths, v, list, map[string]string{"s-A": "value-one", "s-B": "value-two"}); err == nil {
			t.Fatal("it worked")
		}
		if diff := cmp.Diff([]string{"mine"}, secretNames(t, v)); diff != "" {
			t.Error(diff)
		}
		if got, err := os.ReadFile(importFile(paths.State)); string(got) != former || (err == nil) != (former != "") {
			t.Errorf("%q, %v", got, err)
		}
	}
}

// TestImportGivesNoServerAnothersSecret: neither one of the vault nor one of
// another server of the same import.
func TestImportGivesNoServerAnothersSecret(t *testing.T) {
	c, _, v, said := importing(t)
	for _, name := range []string{"github-TOKEN", "own-KEY"} {
		if err := v.Set(t.Context(), vault.Ref{Name: name}, "value of "+name); err != nil {
			t.Fatal(err)
		}
	}
	refers := func(name, secret string, found ...clientfiles.Found) setup.Taken {
		return setup.Taken{Name: name, Server: clientfiles.Server{Name: name, Command: "c", Env: map[string]string{"A": "${secret:" + secret + "}"}}, Secrets: found}
	}
	good := refers("good", "good-KEY", clientfiles.Found{Name: "good-KEY", Value: "new"})
	list, values, err := c.checkSecrets(t.Context(), v, []setup.Taken{
		refers("vault", "github-TOKEN"), refers("neighbour", "good-KEY"), refers("asked", "asked-input-x"),
		good, refers("own", "own-KEY", clientfiles.Found{Name: "own-KEY", Value: "value of own-KEY"}),
	})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, t := range list {
		names = append(names, t.Name)
	}
	if diff := cmp.Diff([]string{"asked", "good", "own"}, names); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]string{"good-KEY": "new"}, values); diff != "" {
		t.Error(diff)
	}
	for _, want := range []string{"vault: it refers to the secret github-TOKEN", "neighbour: it refers to the secret good-KEY"} {
		if !strings.Contains(said.String(), want) {
			t.Errorf("no %q in %s", want, said)
		}
	}
	for name, bad := range map[string][]setup.Taken{
		"another value": {refers("own", "own-KEY", clientfiles.Found{Name: "own-KEY", Value: "other"})},
		"one name":      {good, refers("goo", "good-KEY", clientfiles.Found{Name: "good-KEY", Value: "other"})},
	} {
		if _, _, err := c.checkSecrets(t.Context(), v, bad); exitStatus(err) != exitFailed {
			t.Errorf("%s: %v", name, err)
		}
	}
}
