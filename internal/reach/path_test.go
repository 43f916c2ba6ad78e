//go:build !windows

package reach

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/toolcrib/toolcrib/internal/settings"
)

// TestHomeNamesTheProject is the attack on what start files at home load: it is
// held, but never the project as a whole, and what they put into PATH is known.
func TestHomeNamesTheProject(t *testing.T) {
	home, top := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{
		filepath.Join(home, ".bashrc"):        "for f in " + top + "/sh/*.sh " + top + "/*.bash; do . $f; done\nPATH=" + top + "/pbin:$PATH\n",
		filepath.Join(home, ".ssh", "config"): "Include " + top + "/ssh.conf\n",
		filepath.Join(top, ".envrc"):          "use nix\n",
		filepath.Join(top, "sh", "a.sh"):      "",
		filepath.Join(top, "b.bash"):          "",
		filepath.Join(top, "ssh.conf"):        "",
		filepath.Join(top, "pbin", "a"):       "",
		filepath.Join(top, "default.nix"):     "",
		filepath.Join(top, "src", "main.go"):  "",
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	needs := Start{Home: home, Dir: top, Path: "/usr/bin", Getenv: func(string) string { return "" }}
	r, err := Of(settings.Grant{Write: []string{"."}}, needs)
	if err != nil {
		t.Fatal(err)
	}
	r.Own.now.Store(&ownState{})
	held, asked := r.Own.Places(), r.Own.Asked()
	for _, name := range []string{"sh", "b.bash", "ssh.conf", "default.nix"} {
		if !slices.Contains(held, filepath.Join(top, name)) {
			t.Errorf("%s is not held: %q", name, held)
		}
	}
	for _, name := range []string{"", "src", "pbin"} {
		if slices.Contains(held, filepath.Join(top, name)) {
			t.Errorf("%s is held: %q", name, held)
		}
	}
	if missing := filepath.Join(top, "shell.nix"); !slices.Contains(asked, missing) || slices.Contains(held, missing) {
		t.Errorf("asked about: %q", asked)
	}
	if dirs := r.PathDirs(needs); !slices.Equal(dirs, []string{filepath.Join(top, "pbin"), "/usr/bin"}) {
		t.Errorf("PATH: %q", dirs)
	}
}
