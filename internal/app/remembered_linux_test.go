package app

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/desk"
	"github.com/toolcrib/toolcrib/internal/settings"
)

// TestRememberedForTheFile: what a person allowed for longer holds for the file as it was. One that may touch more, or does
// something else, is asked about again, though its tool looks the same.
func TestRememberedForTheFile(t *testing.T) {
	// Each does nothing but answer with what it is told to be.
	kinds := map[string]string{
		"first.yaml": "name: first\ndescription: Do it.\ncommand: [echo, \"%[2]s\"]\neffects: writes\nwrite: [%[1]s]\n",
		"second.sh":  "#!/bin/sh\n# toolcrib:\n#   description: Do it.\n#   effects: writes\n#   write: [%[1]s]\necho %[2]s\n",
		"third.py":   "# toolcrib:\n#   effects: writes\n#   write: [%[1]s]\ndef third() -> str:\n    \"\"\"Do it.\"\"\"\n    return \"%[2]s\"\n",
		"fourth.mjs": "// toolcrib:\n//   effects: writes\n//   write: [%[1]s]\n/** Do it. */\nexport function fourth() { return '%[2]s' }\n",
	}
	s := openHostShop(t, nil, func(cfg *settings.Config, s *hostShop) {
		cfg.Mode, cfg.Desk.Unattended = "default", "leave"
		for name, text := range kinds {
			s.save(t, name, fmt.Sprintf(text, s.dir, "before"))
		}
		if err := os.Chmod(filepath.Join(s.tools, "second.sh"), 0o700); err != nil {
			t.Fatal(err)
		}
	})
	wide := filepath.Join(s.base, "wide")
	if err := os.Mkdir(wide, 0o700); err != nil {
		t.Fatal(err)
	}
	// asked calls a tool, and says whether a person has to be asked.
	asked := func(tool string) (said string, question *desk.Question) {
		result, err := s.call(t, tool, map[string]any{})
		if err == nil {
			return result.String(), nil
		}
		open, listed := s.Desk.Questions(t.Context(), desk.Filter{State: desk.Open})
		for _, q := range open {
			if q.Tool == tool {
				return "", &q
			}
		}
		if code := toolcrib.CodeOf(err); listed == nil && (code == toolcrib.CodeUnavailable || code == toolcrib.CodeDenied || code == toolcrib.CodeNotFound) { // the file was saved just now and perhaps read half, or it is still the one that was denied
			return "", nil
		}
		t.Fatalf("%s: %v, %v %v %v", tool, err, open, listed, s.Faults)
		return "", nil
	}
	no := func(q *desk.Question) bool {
		if q == nil {
			return false
		}
		if _, err := s.Desk.Answer(t.Context(), q.ID, desk.Reply{Choice: desk.Deny}, "bob"); err != nil {
			t.Fatal(err)
		}
		return true
	}
	for name, text := range kinds {
		tool, _, _ := strings.Cut(name, ".")
		_, q := asked(tool)
		if q == nil || len(q.Files) != 1 || filepath.Base(q.Files[0].Path) != name {
			t.Fatalf("%s: the question is %+v", name, q)
		}
		if _, err := s.Desk.Answer(t.Context(), q.ID, desk.Reply{Choice: desk.AllowAlways}, "bob"); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if said, q := asked(tool); q != nil || !strings.Contains(said, "before") {
				t.Fatalf("%s: after a yes it says %q, %+v", name, said, q)
			}
		}
		s.save(t, name, fmt.Sprintf(text, wide, "before"))
		until(t, name+" is asked about when it may write elsewhere", func() bool { _, q := asked(tool); return no(q) })
		s.save(t, name, fmt.Sprintf(text, s.dir, "after"))
		until(t, name+" is asked about when it does something else", func() bool {
			said, q := asked(tool)
			if strings.Contains(said, "after") {
				t.Fatalf("%s: the new content ran on the old answer", name)
			}
			return no(q)
		})
		s.save(t, name, fmt.Sprintf(text, s.dir, "before"))
		until(t, name+" is as it was", func() bool { said, _ := asked(tool); return strings.Contains(said, "before") })
	}
}
