//go:build amd64 || arm64

package linux

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
)

// TestLayerCoversWhatWasLookedAt: who puts another file in the place of a protected one
// after the look has the program not started, since the first may be anywhere by then.
func TestLayerCoversWhatWasLookedAt(t *testing.T) {
	s := open(t, Config{Layers: filepath.Join(t.TempDir(), "layers"), Shield: obeyedShield(t)})
	project := tempProject(t)
	put(t, project, map[string]string{".env": "SECRET", "conf/.env": "SECRET"})
	grant := toolcrib.Grant{Dirs: []files.Dir{{Path: project, Write: true}}, Programs: []string{"*"}}
	for _, name := range []string{".env", "conf/.env"} {
		var out strings.Builder
		cmd := toolcrib.Cmd{Path: "/bin/sh", Args: []string{"-c", "cat moved .env conf/.env; echo ran"}, Dir: project, Env: []string{"PATH=/usr/bin:/bin"}, Stdout: &out, OnLayer: true}
		r, err := s.prepare(t.Context(), cmd, grant, false)
		if err != nil {
			t.Fatal(err)
		}
		path, moved := filepath.Join(project, name), filepath.Join(project, "moved")
		if err := errors.Join(os.Rename(path, moved), os.WriteFile(path, []byte("another"), 0o600)); err != nil {
			t.Fatal(err)
		}
		_, err = r.run(t.Context(), cmd, grant)
		if place, is := movedPlace(err); !is || place != path || !errors.Is(err, unix.ESTALE) || out.Len() > 0 {
			t.Errorf("%s: %v\n%s", name, err, out.String())
		}
		r.close()
		if err := os.Rename(moved, path); err != nil {
			t.Fatal(err)
		}
	}
	if exit, out := onLayer(t, s, `cat .env conf/.env; echo ran`, project); strings.Contains(out, "SECRET") || !strings.Contains(out, "ran") {
		t.Errorf("%+v\n%s", exit, out)
	}
	noLayers(t, s)
}
