package setup

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib/internal/mcp/clientfiles"
	"github.com/toolcrib/toolcrib/internal/vault"
)

// TestThereAndBack: after a setup no server in a person's own files is reachable round
// Toolcrib, a second one changes nothing, and undoing gives back every byte.
func TestThereAndBack(t *testing.T) {
	dir := home(t)
	s := machine(dir, testKey)
	before := snapshot(t, dir)
	if got := reachableNames(t, s); len(got) != 22 {
		t.Fatalf("the files of the test have %d servers: %q", len(got), got)
	}
	r := run(t, s)
	if got := reachable(t, s); len(got) > 0 || len(r.Round) > 0 {
		t.Errorf("still reachable: %q, told: %q", got, r.Round)
	}
	there, err := s.Servers()
	if err != nil || len(there) != 21 { // one stands in two files with the same token
		t.Errorf("%d servers, %v", len(there), err)
	}
	if !there["figma"].Disabled || !there["old"].Disabled || there["github"].Disabled {
		t.Error("what is switched off is not, or the other way round")
	}
	if got := secrets(t, s); len(got) != 9 || !slices.Contains(got, "agenticx-acme-jira-api_token") {
		t.Errorf("secrets: %q", got)
	}
	after := snapshot(t, dir)
	if after[".config/toolcrib/config.yaml"] == "" || strings.Contains(after[".config/toolcrib/config.yaml"], "ghp_") {
		t.Errorf("settings: %s", after[".config/toolcrib/config.yaml"])
	}
	if again := run(t, machine(dir, testKey)); again.Changed {
		t.Errorf("the second time: %+v", again)
	}
	same(t, "the second setup", after, snapshot(t, dir))
	u := undo(t, machine(dir, testKey))
	same(t, "undone", before, snapshot(t, dir))
	if len(u.Edited)+len(u.Kept) > 0 || u.Servers != 21 || u.Secrets != 9 {
		t.Errorf("%+v", u)
	}
	if got := secrets(t, s); len(got) > 0 {
		t.Errorf("secrets are left: %q", got)
	}
	if _, err := s.Undo(t.Context()); !errors.Is(err, ErrNothing) {
		t.Errorf("a second undo: %v", err)
	}
}

func reachableNames(t *testing.T, s *Setup) (names []string) {
	for _, x := range s.Survey("").Servers {
		names = append(names, x.Server.Name)
	}
	for _, x := range s.Survey("").Elsewhere {
		names = append(names, x.Server.Name)
	}
	return names
}

// TestDryChangesNothing: and says what every step would do.
func TestDryChangesNothing(t *testing.T) {
	dir := home(t)
	s := machine(dir, testKey)
	s.Dry = true
	before := snapshot(t, dir)
	r := run(t, s)
	same(t, "dry", before, snapshot(t, dir))
	if _, err := os.Stat(filepath.Join(dir, ".local")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it made a directory: %v", err)
	}
	would := map[string]int{}
	for _, o := range r.Steps {
		would[o.Step] = len(o.Would)
	}
	for step, want := range map[string]int{"servers": 21, "credentials": 3, "tools": 2, "connect": 12, "takeout": 11, "hooks": 3, "rules": 9, "allow": 2} {
		if would[step] != want {
			t.Errorf("%s would do %d things, want %d", step, would[step], want)
		}
	}
}

// TestEachStepCanBeSkipped: whatever is skipped, nothing is lost, and a server is never
// taken out of a client that cannot reach it through Toolcrib.
func TestEachStepCanBeSkipped(t *testing.T) {
	words := []string{"Take over", "Write Toolcrib", "out of", "ask Toolcrib"}
	for _, skip := range words {
		dir := few(t)
		s := machine(dir, testKey)
		before := snapshot(t, dir)
		s.Ask = func(question string, otherwise bool) (bool, error) {
			return otherwise && !strings.Contains(question, skip), nil
		}
		r := run(t, s)
		cursor := snapshot(t, dir)[".cursor/mcp.json"]
		switch skip {
		case "Take over", "Write Toolcrib", "out of":
			if !strings.Contains(cursor, "server-github") || len(r.Round) == 0 {
				t.Errorf("without %q: %s\n%q", skip, cursor, r.Round)
			}
		default:
			if strings.Contains(cursor, "server-github") {
				t.Errorf("without %q: %s", skip, cursor)
			}
		}
		s.Ask = nil
		run(t, s) // what is left is done
		if got := reachable(t, s); len(got) > 0 {
			t.Errorf("without %q and then with it: %q", skip, got)
		}
		undo(t, s)
		same(t, "without "+skip, before, snapshot(t, dir))
	}
}

// TestStopped: who stops in the middle is told what still goes round.
func TestStopped(t *testing.T) {
	dir := few(t)
	before := snapshot(t, dir)
	s := machine(dir, testKey)
	s.Ask = func(question string, otherwise bool) (bool, error) {
		if strings.Contains(question, "Write Toolcrib") {
			return false, ErrStop
		}
		return otherwise, nil
	}
	r, err := s.Run(t.Context())
	if !errors.Is(err, ErrStop) || len(r.Round) < 9 || !r.Changed || r.Record == "" {
		t.Errorf("%v, %+v", err, r)
	}
	undo(t, s)
	same(t, "stopped", before, snapshot(t, dir))
}

// TestChangedSince: what a person wrote after a setup stays, and only what setup did is
// taken out.
func TestChangedSince(t *testing.T) {
	dir := home(t)
	s := machine(dir, testKey)
	before := snapshot(t, dir)
	run(t, s)
	edit := func(name, old, now string) {
		t.Helper()
		path := filepath.Join(dir, filepath.FromSlash(name))
		text, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(text), old) {
			t.Fatalf("%s has no %q: %v", name, old, err)
		}
		writeFile(t, path, strings.Replace(string(text), old, now, 1))
	}
	edit(".cursor/mcp.json", `// the ones I use at work`, `// changed`)
	edit(".claude.json", `"numStartups": 212`, `"numStartups": 213`)
	edit(".codex/config.toml", `# my codex`, `# mine`)
	edit(".config/goose/config.yaml", `GOOSE_MODEL: claude`, `GOOSE_MODEL: other`)
	edit(".claude/settings.json", `"opus"`, `"haiku"`)
	edit(".config/toolcrib/config.yaml", "mcp_servers:", "mode: plan\nmcp_servers:")
	u := undo(t, s)
	now := snapshot(t, dir)
	if len(u.Edited) != 6 {
		t.Errorf("edited: %q", u.Edited)
	}
	for name, want := range map[string][]string{
		".cursor/mcp.json":             {"// changed", "server-postgres", "linear/sse", "ghp_"},
		".claude.json":                 {`"numStartups": 213`, "shop-db", "server-github", "127.0.0.1:9/docs"},
		".codex/config.toml":           {"# mine", "context7", "sentry", "mcp-old"},
		".config/goose/config.yaml":    {"GOOSE_MODEL: other", "mcp-server-fetch", "builtin"},
		".claude/settings.json":        {`"haiku"`, "permissions"},
		".config/toolcrib/config.yaml": {"mode: plan"},
	} {
		for _, text := range want {
			if !strings.Contains(now[name], text) {
				t.Errorf("%s has no %q:\n%s", name, text, now[name])
			}
		}
		if strings.Contains(now[name], "toolcrib") && name != ".config/toolcrib/config.yaml" || strings.Contains(now[name], "git push *") {
			t.Errorf("%s still has what setup did:\n%s", name, now[name])
		}
		delete(now, name)
		delete(before, name)
	}
	delete(now, ".config/toolcrib/")
	same(t, "the others", before, now)
	// The servers are read as they were.
	if got := reachableNames(t, s); len(got) != 22 {
		t.Errorf("%d servers: %q", len(got), got)
	}
}

// TestLaterServer: a second setup after a person added a server takes that too, and
// undoing gives back their file with it.
func TestLaterServer(t *testing.T) {
	dir := home(t)
	s := machine(dir, testKey)
	before := snapshot(t, dir)
	run(t, s)
	path := filepath.Join(dir, ".gemini", "settings.json")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, path, strings.Replace(string(text), `"toolcrib": {`, `"later": {"command": "uvx", "args": ["later"]},`+"\n    \"toolcrib\": {", 1))
	r := run(t, s)
	if got := reachable(t, s); len(got) > 0 || !r.Changed {
		t.Errorf("%q, %+v", got, r)
	}
	undo(t, s)
	now := snapshot(t, dir)
	gemini := now[".gemini/settings.json"]
	if !strings.Contains(gemini, `"later"`) || !strings.Contains(gemini, "mcp-server-git") || strings.Contains(gemini, "toolcrib") {
		t.Errorf("%s", gemini)
	}
	delete(now, ".gemini/settings.json")
	delete(before, ".gemini/settings.json")
	same(t, "the others", before, now)
}

// TestKeyInAFile: without a keyring the key is in a file that only this account reads, and
// goes with the last secret.
func TestKeyInAFile(t *testing.T) {
	dir := few(t)
	s := machine(dir, testKey)
	s.KeyDir = filepath.Join(s.State, "vault-key")
	s.Keyring = noKeyring
	s.Vault = func() (*vault.Vault, error) {
		return vault.Open(vault.Config{Dir: s.VaultDir}, vault.FromFiles(s.KeyDir))
	}
	r := run(t, s)
	if r.Steps[0].Step != "key" || len(r.Steps[0].Done) != 1 || !strings.Contains(r.Steps[0].Done[0], s.KeyDir) {
		t.Errorf("%+v", r.Steps[0])
	}
	files, err := os.ReadDir(s.KeyDir)
	if err != nil || len(files) != 1 {
		t.Fatalf("%v, %v", files, err)
	}
	info, err := files[0].Info()
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	v, err := s.Vault()
	if err != nil {
		t.Fatal(err)
	}
	if err := v.Set(t.Context(), vault.Ref{Name: "mine"}, "of a person"); err != nil {
		t.Fatal(err)
	}
	if u := undo(t, s); !strings.Contains(strings.Join(u.Kept, " "), "1 other secret") {
		t.Errorf("%+v", u)
	}
	if got := secrets(t, s); !slices.Equal(got, []string{"mine"}) {
		t.Errorf("%q", got)
	}
	if err := v.Remove(t.Context(), vault.Ref{Name: "mine"}); err != nil {
		t.Fatal(err)
	}
	os.RemoveAll(s.KeyDir)
	os.RemoveAll(s.VaultDir)
	run(t, s)
	undo(t, s)
	for _, gone := range []string{s.KeyDir, s.VaultDir} {
		if _, err := os.Stat(gone); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: %v", gone, err)
		}
	}
}

// What is not about permissions is nothing that could be taken over: setup itself
// writes hooks there. What is, and has no counterpart, is told.
func TestSettingsThatAreNoRules(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, ".claude", "settings.json")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	for content, want := range map[string]int{
		`{"model": "opus", "hooks": {"PreToolUse": []}}`:                          0,
		`{"permissions": {"deny": ["Nonesuch(x)"]}, "hooks": {"PreToolUse": []}}`: 1,
	} {
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, warn, err := machine(dir, testKey).clientRules(); err != nil || len(warn) != want {
			t.Errorf("%s: %q, %v", content, warn, err)
		}
	}
}

// TestInstalledButNeverStarted: a client is found by its program before it has any file.
func TestInstalledButNeverStarted(t *testing.T) {
	bin := t.TempDir()
	for name, mode := range map[string]os.FileMode{"claude": 0o755, "codex": 0o644} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"), mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(bin, "gemini"), 0o755); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{bin: true, "": false, "relative" + string(filepath.ListSeparator) + bin: true, "relative": false} {
		m := Machine{GOOS: "linux", Home: t.TempDir(), Env: func(name string) string { return map[string]string{"PATH": path}[name] }}
		for client, there := range map[string]bool{clientfiles.ClaudeCode: want, clientfiles.Codex: false, clientfiles.Gemini: false, clientfiles.VSCode: false} {
			if got := m.Present(client); got != there {
				t.Errorf("%s in %q: %v", client, path, got)
			}
		}
	}
}
