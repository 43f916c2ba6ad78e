package app

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/settings"
)

// TestPagesHideWhole: a file is read in pages that may begin anywhere. A value that
// is hidden in the whole is hidden in every page, also in one that begins behind
// its name or within it.
func TestPagesHideWhole(t *testing.T) {
	home := t.TempDir()
	dir := filepath.Join(home, ".agents", "skills", "deploy")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	const secret = "hunter2-Secret99-q7Zx"
	text := "Notes.\npassword = \"" + secret + "\"\nport = 80\n"
	for name, content := range map[string]string{"SKILL.md": "---\nname: deploy\ndescription: How to deploy.\n---\nRead conf.txt.\n", "conf.txt": text} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	a, err := Open(t.Context(), settings.Defaults(), Needs{State: filepath.Join(home, "state"), Dir: t.TempDir(), Home: home})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	for offset := range len(text) + 1 {
		r, err := a.Crib.Call(t.Context(), toolcrib.Call{Tool: "read_skill_file", Input: fmt.Appendf(nil, `{"skill":"deploy","path":"conf.txt","offset":%d}`, offset), Caller: toolcrib.Caller{Subject: "ann"}})
		if err != nil || r.Failed {
			t.Fatal(r, err)
		}
		var out struct {
			Text string `json:"text"`
			Next int    `json:"next"`
		}
		if err := json.Unmarshal(r.Value, &out); err != nil {
			t.Fatal(err)
		}
		for i := range len(secret) - 3 {
			if strings.Contains(out.Text, secret[i:i+4]) {
				t.Fatalf("offset %d shows %q", offset, out.Text)
			}
		}
		if out.Next != len(text) || offset < strings.Index(text, "port") && !strings.HasSuffix(out.Text, "port = 80\n") {
			t.Errorf("offset %d: %+v", offset, out)
		}
	}
}

// TestStricterShowsNoMore: a setting that holds results with secrets back shows
// nothing of what the default hides: neither lines of a key nor a file in other
// letters, and no search tells a guess. A project may set it without being
// trusted.
func TestStricterShowsNoMore(t *testing.T) {
	const secret = "hunter2-Secret99-q7Zx"
	line := func(i int) string {
		return fmt.Sprintf("MIIEpAIBAAKCAQEA%02dq7x9ZkYtQ8w2vB1nM0sD4fG5hJ6kL7zX8cV9bN0mQ1wE2\n", i)
	}
	key := "-----BEGIN RSA " + "PRIVATE KEY-----\n"
	for i := range 12 {
		key += line(i)
	}
	key += "-----END RSA " + "PRIVATE KEY-----\n"
	for _, results := range []string{"redact", "block"} {
		dir := t.TempDir()
		for name, text := range map[string]string{"conf.txt": "password = \"" + secret + "\"\n", "key.txt": key} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		cfg := settings.Defaults()
		cfg.Safety.Secrets.Results = results
		a, err := Open(t.Context(), cfg, Needs{State: t.TempDir(), Dir: dir, Home: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := a.Close(context.Background()); err != nil {
				t.Error(err)
			}
		})
		call := func(tool, input string) string {
			r, err := a.Crib.Call(t.Context(), toolcrib.Call{Tool: tool, Input: json.RawMessage(input), Caller: toolcrib.Caller{Subject: "ann"}})
			if err != nil {
				return err.Error()
			}
			text := string(r.Value)
			for _, c := range r.Content {
				text += c.Text
			}
			return text
		}
		for _, got := range []string{call("read_file", `{"path":"conf.txt","encoding":"utf-16le"}`), call("read_file", `{"path":"key.txt","start_line":3,"end_line":6}`)} {
			if strings.Contains(got, "MIIEp") || strings.Contains(got, "held") || !strings.Contains(got, "redacted") && !strings.Contains(got, "would be shown") {
				t.Errorf("%s: %s", results, got)
			}
		}
		right, wrong := call("search_files", `{"path":".","pattern":"\"hunter2"}`), call("search_files", `{"path":".","pattern":"\"hunter3"}`)
		if strings.ReplaceAll(right, "hunter2", "hunter3") != wrong {
			t.Errorf("%s: a search tells a guess: %s, %s", results, right, wrong)
		}
	}
}
