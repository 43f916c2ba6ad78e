package app

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/desk"
	"github.com/toolcrib/toolcrib/internal/settings"
)

// runCell runs a cell as a client does.
func runCell(t *testing.T, a *App, in map[string]any) string {
	t.Helper()
	input, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	r, err := a.Crib.Call(t.Context(), toolcrib.Call{Tool: "run_code", Input: input, Caller: toolcrib.Caller{Subject: "ann", Frontend: "test"}})
	if err != nil {
		t.Fatal(err)
	}
	return r.String()
}

// TestCodeIsSavedByAsking: nobody is asked about code, and somebody is about each file that it leaves in the project. The
// question names what would be written, exactly that is written, and nothing where it has changed since.
func TestCodeIsSavedByAsking(t *testing.T) {
	s := openToolShop(t, nil, func(cfg *settings.Config, _ *Needs, s *toolShop) {
		cfg.Mode, cfg.Toolboxes.Code.Enabled = "default", true
		cfg.Grant.Write = []string{s.dir}
	})
	events, stop, err := s.Desk.Watch(t.Context(), desk.Screen{Name: "test"})
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	replies := make(chan desk.Choice, 2)
	meanwhile := make(chan func(), 1) // what happens while the question is open
	asked := make(chan string, 8)
	go func() {
		for e := range events {
			if e.Question.State != desk.Open {
				continue
			}
			text := e.Question.Tool + ":"
			for _, p := range e.Question.Describe() {
				text += " " + p.Title + " " + strings.Join(p.Lines, "\n")
			}
			select {
			case do := <-meanwhile:
				do()
			default:
			}
			if _, err := s.Desk.Answer(t.Context(), e.Question.ID, desk.Reply{Choice: <-replies}, "bob"); err != nil {
				text += err.Error()
			}
			asked <- text
		}
	}()
	path := filepath.Join(s.dir, "out", "pic.bin")
	save := func(code string) string {
		return runCell(t, s.App, map[string]any{"language": "shell", "code": code, "save": map[string]string{"pic.bin": "out/pic.bin"}})
	}
	is := func(what, want string) {
		t.Helper()
		if data, err := os.ReadFile(path); string(data) != want || (err != nil) != (want == "") {
			t.Errorf("%s: the file has %q, %v", what, data, err)
		}
	}

	replies <- desk.Deny
	told := save(`printf 'one\0' > pic.bin`)
	if text := <-asked; !strings.HasPrefix(text, "save_output:") || !strings.Contains(text, "would write 4 bytes (SHA-256 ") || !strings.Contains(text, "which is new") {
		t.Errorf("bob was asked %s", text)
	}
	if !strings.Contains(told, "pic.bin was not saved") {
		t.Errorf("denied: %s", told)
	}
	is("denied", "")

	replies <- desk.AllowOnce
	if told := save(`printf 'two\0' > pic.bin`); !strings.Contains(told, "[saved pic.bin as out/pic.bin]") {
		t.Errorf("allowed: %s", told)
	}
	<-asked
	is("allowed", "two\x00")

	// An answer is for what was shown: when that has changed, the person is asked again.
	replies <- desk.AllowOnce
	replies <- desk.Deny
	meanwhile <- func() { plant(t, path, "of somebody else") }
	told = save(`printf 'three\0' > pic.bin`)
	if text := <-asked; !strings.Contains(text, "which is replaced: it has 4 bytes now") {
		t.Errorf("bob was asked %s", text)
	}
	if text := <-asked; !strings.Contains(text, "which is replaced: it has 16 bytes now") {
		t.Errorf("bob was asked again %s", text)
	}
	if !strings.Contains(told, "pic.bin was not saved") {
		t.Errorf("changed meanwhile: %s", told)
	}
	is("changed meanwhile", "of somebody else")
	select {
	case text := <-asked:
		t.Errorf("nobody was to be asked about %s", text)
	default:
	}
}

// TestCodeGetsNoHiddenValues: what callers are not shown of a file does not come into a session either, where it could be
// printed in a form that nobody knows again.
func TestCodeGetsNoHiddenValues(t *testing.T) {
	const value = "correct-horse-battery"
	a, dir, _ := redactionAppWith(t, value, func(cfg *settings.Config) { cfg.Toolboxes.Code.Enabled = true })
	if err := os.WriteFile(filepath.Join(dir, "app.yaml"), []byte("name: shop\napi: "+value+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	told := runCell(t, a, map[string]any{"language": "shell", "code": "tr a-z b-za < app.yaml", "files": []string{"app.yaml"}})
	shifted := strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' {
			return 'a' + (c-'a'+1)%26
		}
		return c
	}, value)
	if !strings.Contains(told, "obnf: tipq") || strings.Contains(told, shifted) || strings.Contains(told, "ipstf") {
		t.Errorf("code was shown %s", told)
	}
}
