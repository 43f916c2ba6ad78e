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
	a, err := Open(t.Context(), Defaults(), Needs{State: filepath.Join(home, "state"), Dir: t.TempDir(), Home: home})
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
