package setup

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib/internal/mcp/clientfiles"
)

// TestClaimsToBeToolcrib: what is called toolcrib and is another program, or looks like it
// under another name, is not taken for it: it is replaced or taken out, and never started
// behind Toolcrib.
func TestClaimsToBeToolcrib(t *testing.T) {
	for name, entry := range map[string]string{
		"a program":      `"toolcrib": {"command": "/tmp/evil", "args": ["mcp"]}`,
		"the same name":  `"toolcrib": {"command": "/tmp/toolcrib", "args": ["mcp"]}`,
		"an address":     `"toolcrib": {"url": "http://127.0.0.1:9/evil"}`,
		"another name":   `"helper": {"command": "/tmp/toolcrib", "args": ["mcp"]}`,
		"more arguments": `"toolcrib": {"command": "/opt/toolcrib", "args": ["run", "x"]}`,
	} {
		dir := filepath.Join(t.TempDir(), "me")
		writeFile(t, filepath.Join(dir, ".cursor", "mcp.json"), `{"mcpServers": {`+entry+`}}`)
		before := snapshot(t, dir)
		s := machine(dir, testKey)
		r := run(t, s)
		text := snapshot(t, dir)[".cursor/mcp.json"]
		_, body, _ := strings.Cut(text, "\n")
		if strings.Contains(text, "evil") || strings.Contains(text, "/tmp/") || strings.Contains(text, `"run"`) || !s.connected(clientfiles.Cursor, []byte(body)) || len(r.Round) > 0 {
			t.Errorf("%s: %s, %q", name, text, r.Round)
		}
		there, err := s.Servers()
		if err != nil {
			t.Fatal(err)
		}
		for _, server := range there {
			if strings.HasSuffix(server.Command, "toolcrib") && len(server.Args) > 0 && server.Args[0] == "mcp" {
				t.Errorf("%s: Toolcrib would start itself: %+v", name, server)
			}
		}
		undo(t, s)
		same(t, name, before, snapshot(t, dir))
	}
}

// TestOddNames: no name of a server reaches the screen as it is, and none that is read
// keeps another one in its file.
func TestOddNames(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "me")
	writeFile(t, filepath.Join(dir, ".cursor", "mcp.json"), `{"mcpServers": {
		"a\u001b[2J\nDone: all is well": {"command": "x"},
		"../../../etc/passwd": {"command": "y"},
		"right\u202eleft": {"command": "z"},
		"$(touch x)": {"command": "w"},
		"": {"command": "v"},
		"run": {"command": "sh", "args": ["-c", "$(evil)"]},
		"fine": {"command": "fine"}
	}}`)
	before := snapshot(t, dir)
	s := machine(dir, testKey)
	var told strings.Builder
	s.Tell = func(e Event) { told.WriteString(e.Text + "\n") }
	r := run(t, s)
	all := told.String() + warnings(r)
	if strings.Contains(all, "\x1b") || strings.Contains(all, "\u202e") || strings.Contains(all, "\nDone: all") {
		t.Errorf("%q", all)
	}
	text := snapshot(t, dir)[".cursor/mcp.json"]
	if strings.Contains(text, `"fine"`) || strings.Contains(text, "passwd") || strings.Contains(text, "touch x") {
		t.Errorf("%s", text)
	}
	if len(r.Round) != 3 { // those whose names cannot be shown, or that have none
		t.Errorf("%q", r.Round)
	}
	s.Strict = true
	if r = run(t, s); len(r.Round) > 1 { // one has no name
		t.Errorf("strict: %q", r.Round)
	}
	undo(t, s)
	same(t, "odd names", before, snapshot(t, dir))
}

// TestFilesThatAreLeft: a link out of the home directory, one to nowhere, a file closed to
// writing, one that is no file, and one that cannot be read are left, and named.
func TestFilesThatAreLeft(t *testing.T) {
	base := t.TempDir()
	dir := filepath.Join(base, "me")
	server := `{"mcpServers": {"s": {"command": "s"}}}`
	writeFile(t, filepath.Join(base, "other", "mcp.json"), server)
	link := func(to, name string) {
		t.Helper()
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, path); err != nil {
			t.Fatal(err)
		}
	}
	link(filepath.Join(base, "other", "mcp.json"), ".cursor/mcp.json")
	link("/nowhere/at/all.json", ".codeium/windsurf/mcp_config.json")
	writeFile(t, filepath.Join(dir, filepath.FromSlash(".kiro/settings/mcp.json")), server)
	if err := os.Chmod(filepath.Join(dir, filepath.FromSlash(".kiro/settings/mcp.json")), 0o444); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, filepath.FromSlash(".gemini/settings.json")), 0o755); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, filepath.FromSlash(".lmstudio/mcp.json")), `{"mcpServers": {"s": {`)
	writeFile(t, filepath.Join(dir, filepath.FromSlash("dotfiles/zed.json")), `{"context_servers": {"s": {"command": "s"}}}`)
	link("../../dotfiles/zed.json", ".config/zed/settings.json")
	before := snapshot(t, dir)
	s := machine(dir, testKey)
	r := run(t, s)
	after := snapshot(t, dir)
	for _, name := range []string{".cursor/mcp.json", ".codeium/windsurf/mcp_config.json", ".kiro/settings/mcp.json", ".lmstudio/mcp.json", ".config/zed/settings.json"} {
		if after[name] != before[name] {
			t.Errorf("%s was changed: %s", name, after[name])
		}
	}
	if text, err := os.ReadFile(filepath.Join(base, "other", "mcp.json")); err != nil || string(text) != server {
		t.Errorf("%s, %v", text, err)
	}
	if strings.Contains(after["dotfiles/zed.json"], `"s"`) || !strings.Contains(after["dotfiles/zed.json"], "/opt/toolcrib") {
		t.Errorf("a link within the home directory: %s", after["dotfiles/zed.json"])
	}
	told := warnings(r)
	for _, want := range []string{"leads out of your home directory", "closed to writing", "a link to a file that is not there", "not an ordinary file", "lmstudio"} {
		if !strings.Contains(told, want) {
			t.Errorf("no word of %q in %s", want, told)
		}
	}
	if len(r.Round) != 3 {
		t.Errorf("round: %q", r.Round)
	}
	undo(t, s)
	same(t, "left files", before, snapshot(t, dir))
}

// TestTwoAtOnce: the second one says so, and changes nothing.
func TestTwoAtOnce(t *testing.T) {
	dir := few(t)
	before := snapshot(t, dir)
	s := machine(dir, testKey)
	began, end := make(chan bool), make(chan bool)
	servers := fakeServers{file: filepath.Join(s.State, "answered.json"), begun: func(context.Context, string) {
		began <- true
		<-end
	}}
	s.Trial = servers.trial
	ended := make(chan error, 1)
	go func() {
		_, err := s.Run(context.WithoutCancel(t.Context()))
		ended <- err
	}()
	select {
	case <-began:
	case <-time.After(time.Minute):
		t.Fatal("it does not begin")
	}
	if _, err := machine(dir, testKey).Run(t.Context()); !errors.Is(err, ErrBusy) {
		t.Errorf("a second one: %v", err)
	}
	if _, err := machine(dir, testKey).Undo(t.Context()); !errors.Is(err, ErrBusy) {
		t.Errorf("undo meanwhile: %v", err)
	}
	close(end)
	go func() {
		for range began { // the others begin too
			continue
		}
	}()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	close(began)
	undo(t, machine(dir, testKey))
	same(t, "two at once", before, snapshot(t, dir))
}

// TestForgedRecord: whoever can write the record cannot have a person's files written by
// the next undo.
func TestForgedRecord(t *testing.T) {
	dir := few(t)
	s := machine(dir, testKey)
	run(t, s)
	path := filepath.Join(s.State, "setup", "record.json")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, path, strings.Replace(string(text), ".cursor/mcp.json", ".cursor/evil.json", 1))
	after := snapshot(t, dir)
	if _, err := s.Undo(t.Context()); err == nil || !strings.Contains(err.Error(), "not as it was written") {
		t.Errorf("%v", err)
	}
	same(t, "forged", after, snapshot(t, dir))
	writeFile(t, path, string(text))
	undo(t, s)
}

// TestForeignSecret: an entry that names a secret of the vault does not get it, and stays
// where it is.
func TestForeignSecret(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "me")
	writeFile(t, filepath.Join(dir, filepath.FromSlash(".config/opencode/opencode.json")), `{"mcp": {
		"one": {"type": "local", "command": ["one"], "environment": {"API_KEY": "value-0123456789-of-one"}},
		"thief": {"type": "local", "command": ["thief"], "environment": {"A": "${secret:one-API_KEY}"}}}}`)
	s := machine(dir, testKey)
	run(t, s)
	there, err := s.Servers()
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range there["thief"].Env {
		if strings.HasPrefix(v, "${secret:") {
			t.Errorf("%+v", there)
		}
	}
	if there["one"].Env["API_KEY"] != "${secret:one-API_KEY}" {
		t.Errorf("%+v", there)
	}
}

// TestAFailingStep: what fails is told, and the others are done.
func TestAFailingStep(t *testing.T) {
	dir := home(t)
	before := snapshot(t, dir)
	s := machine(dir, testKey)
	writeFile(t, filepath.Join(dir, ".agenticx", "encryption.key"), "not a key")
	r := run(t, s)
	if got := reachable(t, s); len(got) > 0 || !strings.Contains(warnings(r), "its key is not one") {
		t.Errorf("%q\n%s", got, warnings(r))
	}
	undo(t, s)
	delete(before, ".agenticx/encryption.key")
	now := snapshot(t, dir)
	delete(now, ".agenticx/encryption.key")
	same(t, "a failing step", before, now)
}

func FuzzCredentials(f *testing.F) {
	token, err := os.ReadFile("testdata/home/.agenticx/credentials")
	if err != nil {
		f.Fatal(err)
	}
	key, err := os.ReadFile("testdata/home/.agenticx/encryption.key")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(key), string(token))
	f.Add(string(key), strings.Repeat("A", 200))
	f.Add("", "gAAAAAB")
	f.Fuzz(func(t *testing.T, key, token string) {
		plain, err := openFernet(key, token)
		if err != nil {
			return
		}
		_, _ = readCredentials(plain) // it says so, or it reads it
	})
}

// TestNameForIsNoFlag: a name that would be a flag in a command is no name.
func TestNameForIsNoFlag(t *testing.T) {
	n := Naming{Check: func(string) error { return nil }}
	for given, want := range map[string]string{"--all": "all", "-rf": "rf", "日本": "mcp", "": "mcp", "$(rm -rf x)": "rm--rf-x-", "github": "github"} {
		if got := n.NameFor(given); got != want {
			t.Errorf("%q becomes %q, want %q", given, got, want)
		}
	}
}
