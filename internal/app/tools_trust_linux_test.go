package app

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/config"
	"github.com/toolcrib/toolcrib/internal/seal"
	"github.com/toolcrib/toolcrib/internal/settings"
)

// TestTrustIsNoticed: a program that runs takes up what is trusted meanwhile, in every
// language, and lets go of it when the trust is taken back or the file is another.
func TestTrustIsNoticed(t *testing.T) {
	const (
		script = "#!/bin/sh\n# toolcrib:\n#   description: x\n#   effects: pure\n\necho of the project\n"
		python = "# toolcrib:\n#   effects: [pure]\n\ndef pythonic() -> str:\n    \"X.\"\n    return 'of the project'\n"
		host   = "# toolcrib:\n#   effects: [pure]\n#   sandbox: host\n\ndef unbound() -> str:\n    \"X.\"\n    return 'of the project'\n"
		secret = "# toolcrib:\n#   effects: [secrets]\n#   secrets: {TOKEN: A}\n\ndef greedy() -> str:\n    \"X.\"\n    return 'of the project'\n"
	)
	var list config.Trust
	s := openToolShop(t, nil, func(_ *settings.Config, needs *Needs, s *toolShop) {
		for name, text := range map[string]string{"scripted.sh": script, "pythonic.py": python, "unbound.py": host, "greedy.py": secret} {
			plant(t, filepath.Join(s.project, name), text)
		}
		list = config.Trust{Path: config.TrustFile(s.state), Seals: func(write bool) (*seal.Box, error) { return seal.OfState(s.state, write) }}
		needs.Trusted = list.HoldsTool
	})
	await := func(tool string, there bool) {
		t.Helper()
		for began := time.Now(); ; time.Sleep(20 * time.Millisecond) {
			_, err := callText(t, s.App, tool, "{}")
			if there && err == nil || !there && toolcrib.CodeOf(err) == toolcrib.CodeNotFound {
				return
			}
			if time.Since(began) > time.Minute {
				t.Fatalf("%s is there: %v; %v", tool, !there, err)
			}
		}
	}
	for _, tool := range []string{"scripted", "pythonic", "unbound", "greedy"} {
		await(tool, false)
	}
	files, err := config.ReadProjectTools(s.project)
	if err != nil || len(files) != 4 {
		t.Fatal(files, err)
	}
	if err := list.AddTools(files, time.Now()); err != nil {
		t.Fatal(err)
	}
	await("scripted", true)
	await("pythonic", true)
	// Trust is no way out of the sandbox, nor to a secret.
	await("unbound", false)
	await("greedy", false)

	plant(t, filepath.Join(s.project, "scripted.sh"), script+"# more\n")
	await("scripted", false)
	await("pythonic", true)
	if err := os.WriteFile(filepath.Join(s.project, "scripted.sh"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	await("scripted", true) // it is what was trusted again
	if was, err := list.RemoveTools(s.project); err != nil || len(was) != 4 {
		t.Fatal(was, err)
	}
	await("scripted", false)
	await("pythonic", false)
}
