package cli

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/app"
)

// place is a home and a project in it, for what a project's file does to a person's settings.
type place struct {
	home, dir, other string // other is a further directory
	c                *command
	told             *bytes.Buffer
}

// newPlace writes both files; OTHER in them is the further directory. An empty file is not written.
func newPlace(t *testing.T, own, project string) *place {
	t.Helper()
	p := &place{home: t.TempDir(), dir: t.TempDir(), other: t.TempDir(), told: &bytes.Buffer{}}
	p.c = &command{in: io.NopCloser(strings.NewReader("")), out: io.Discard, err: p.told, environ: []string{"HOME=" + p.home, "TOOLCRIB_HOME=" + p.home}, dir: p.dir}
	p.own(t, own)
	if project != "" {
		p.project(t, project)
	}
	return p
}

func (p *place) own(t *testing.T, text string) { p.write(t, filepath.Join(p.home, "config.yaml"), text) }
func (p *place) project(t *testing.T, text string) {
	p.write(t, filepath.Join(p.dir, "toolcrib.yaml"), text)
}

func (p *place) write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(strings.ReplaceAll(text, "OTHER", p.other)), 0o600); err != nil {
		t.Fatal(err)
	}
}

// open opens the crib as far as a judgement needs it.
func (p *place) open(t *testing.T) *app.App {
	t.Helper()
	a, err := p.c.openFor(t.Context(), app.ToCheck, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.c.closeApp(t.Context(), a) })
	return a
}

// decide is what would become of a call.
func decideCall(t *testing.T, a *app.App, tool string, input map[string]any) string {
	t.Helper()
	data, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	j, err := a.Judge(t.Context(), toolcrib.Call{Tool: tool, Input: data, Caller: toolcrib.Caller{Frontend: "cli"}})
	if err != nil {
		t.Fatal(err)
	}
	return j.Decision.String()
}

// TestProjectMovesNoRule: a project's file may take directories from the grant, and what
// relative names mean stays as the person has it.
func TestProjectMovesNoRule(t *testing.T) {
	t.Parallel()
	own := `
grant: {write: [".", "OTHER"]}
mode: yolo
permissions: {deny: ["files/*(./secrets/**)"]}
`
	for name, project := range map[string]string{"alone": "", "drops a directory": `grant: {write: ["OTHER"]}`, "drops all": `grant: {write: []}`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, own, project)
			a := p.open(t)
			for _, path := range []string{"./secrets/k", "secrets/k", filepath.Join(p.dir, "secrets/k")} {
				if got := decideCall(t, a, "read_file", map[string]any{"path": path}); got != "deny" {
					t.Errorf("read_file %s: %s", path, got)
				}
			}
			if got, want := a.Crib.Files.Base, p.dir; got != want {
				t.Errorf("relative names begin in %s, want %s", got, want)
			}
		})
	}
}
