package app

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/settings"
)

// manyFiles puts files into a project of a test.
func manyFiles(t *testing.T, dir string) {
	t.Helper()
	for i := range 12 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint("many", i)), []byte(fmt.Sprintln(i)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestFloorHoldsInEveryMode: most of a project is never deleted unasked, and with a yes
// it is. In plan nothing is ever deleted.
func TestFloorHoldsInEveryMode(t *testing.T) {
	for _, mode := range []string{"default", "auto-edit", "yolo", "plan"} {
		for _, who := range []string{"nobody", "yes", "no"} {
			t.Run(mode+" "+who, func(t *testing.T) {
				a, dir := layerProject(t, func(c *settings.Config) { c.Mode = mode })
				manyFiles(t, dir)
				s := &asker{answer: toolcrib.Deny}
				if who == "yes" {
					s.answer = toolcrib.Allow
				}
				if a.Crib.Approver = s; who == "nobody" {
					a.Crib.Approver = nil
				}
				before := inventory(t, dir)
				for _, line := range []string{`rm many*`, `for f in many*; do : > $f; done`, `find . -name 'many*' -exec rm {} +`} {
					_, told, err := lineOn(t, a, line)
					if err != nil {
						t.Fatalf("%q did not run: %v", line, err)
					}
					if who == "yes" && mode != "plan" {
						if _, err := os.Stat(filepath.Join(dir, "many1")); err == nil && line == `rm many*` || told != "" {
							t.Errorf("%q was not applied: %q", line, told)
						}
						manyFiles(t, dir)
						continue
					}
					if !strings.HasPrefix(told, "Nothing that the command changed was applied: ") {
						t.Errorf("%q: told %q", line, told)
					}
					if now := inventory(t, dir); now != before {
						t.Fatalf("%q changed the project:\n%s", line, now)
					}
				}
				if asked := len(s.seen); (asked == 3) != (who != "nobody" && mode != "plan") {
					t.Errorf("asked %d times", asked)
				}
				for _, q := range s.seen {
					if !strings.Contains(fmt.Sprint(q.Reasons), "it deletes most of "+dir) && !strings.Contains(fmt.Sprint(q.Reasons), "floor") {
						t.Errorf("asked for %v", q.Reasons)
					}
				}
				if mode == "plan" {
					return
				}
				// Less than that is as in every mode.
				s.seen = nil
				_, told, err := lineOn(t, a, `rm many1; echo x > many2`)
				if _, gone := os.Stat(filepath.Join(dir, "many1")); err != nil || (mode != "default") != (told == "" && os.IsNotExist(gone) && len(s.seen) == 0) && who != "yes" {
					t.Errorf("a small change: told %q, asked %d times, %v", told, len(s.seen), err)
				}
			})
		}
	}
}

// TestAPartIsTaken: what a person names is applied, and the rest is dropped.
func TestAPartIsTaken(t *testing.T) {
	a, dir := layerProject(t, nil)
	a.Crib.Approver = approverFunc(func(_ context.Context, q toolcrib.Question) (toolcrib.Answer, error) {
		return toolcrib.Answer{Decision: toolcrib.Allow, By: "test", Paths: []string{"n", filepath.Join(dir, "b")}}, nil
	})
	_, told, err := lineOn(t, a, `mkdir n; echo 1 > n/1; mv a b; rm src/x.go`)
	if err != nil || !strings.Contains(told, "These were not applied: "+filepath.Join(dir, "src", "x.go")) {
		t.Errorf("told %q, %v", told, err)
	}
	for path, there := range map[string]bool{"n/1": true, "b": true, "a": false, "src/x.go": true} {
		if _, err := os.Stat(filepath.Join(dir, path)); (err == nil) != there {
			t.Errorf("%s: %v", path, err)
		}
	}
}

type approverFunc func(context.Context, toolcrib.Question) (toolcrib.Answer, error)

func (f approverFunc) Approve(ctx context.Context, q toolcrib.Question) (toolcrib.Answer, error) {
	return f(ctx, q)
}

// TestAConflictIsAQuestion: what somebody else writes while a command runs is never
// overwritten unasked, in no mode, and the person sees both versions.
func TestAConflictIsAQuestion(t *testing.T) {
	for _, mode := range []string{"default", "auto-edit", "yolo"} {
		for version, want := range map[string]string{"nobody": "theirs\n", "keep what is there now": "theirs\n", "take what the command wrote": "mine\n", "drop everything the command changed": "theirs\n"} {
			t.Run(mode+" "+version, func(t *testing.T) {
				a, dir := layerProject(t, func(c *settings.Config) { c.Mode = mode })
				asked := ""
				if version != "nobody" {
					a.Crib.Approver = approverFunc(func(_ context.Context, q toolcrib.Question) (toolcrib.Answer, error) {
						asked += q.Text
						return toolcrib.Answer{Decision: toolcrib.Allow, By: "test", Message: version}, nil
					})
				}
				path, wait := filepath.Join(dir, "a"), filepath.Join(dir, "wait")
				if err := os.WriteFile(wait, []byte("wait\n"), 0o644); err != nil {
					t.Fatal(err)
				}
				// The command waits in its layer for what the person writes below it.
				done := make(chan error, 1)
				go func() {
					_, _, err := lineOn(t, a, `echo mine > a; echo new > fresh; : > ready; for i in $(seq 2500); do grep -q go wait && exit 0; sleep 0.01; done; exit 3`)
					done <- err
				}()
				layers := filepath.Join(filepath.Dir(dir), "state", "layers")
				for {
					if ready, _ := filepath.Glob(filepath.Join(layers, "*", "*", "upper", "ready")); len(ready) > 0 {
						break
					}
					select {
					case err := <-done:
						t.Fatalf("the command ended: %v", err)
					case <-time.After(5 * time.Millisecond):
					}
				}
				for name, text := range map[string]string{path: "theirs\n", wait: "go\n"} {
					if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				if err := <-done; err != nil {
					t.Fatal(err)
				}
				if text, err := os.ReadFile(path); err != nil || string(text) != want {
					t.Errorf("%q, want %q, %v", text, want, err)
				}
				if version != "nobody" && !strings.Contains(asked, "-theirs\n+mine\n") {
					t.Errorf("asked %q", asked)
				}
				_, err := os.Stat(filepath.Join(dir, "fresh"))
				if applied := strings.HasPrefix(version, "keep") || strings.HasPrefix(version, "take"); applied != (err == nil) {
					t.Errorf("the rest: %v", err)
				}
			})
		}
	}
}
