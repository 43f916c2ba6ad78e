package reach

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/toolcrib/toolcrib/internal/settings"
)

// TestVariablesPutPlacesIntoTheProject: what the person's variables move from her
// home directory into a granted one is held as it would be there, whether or not
// it exists; directories that hold more than that are not.
func TestVariablesPutPlacesIntoTheProject(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir, home := filepath.Join(base, "work"), filepath.Join(base, "home")
	for _, d := range []string{dir, home, filepath.Join(dir, "lib")} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	in := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	list := string(filepath.ListSeparator)
	vars := map[string]string{
		"XDG_CONFIG_HOME": in("config"), "CLAUDE_CONFIG_DIR": in("claude"), "CARGO_HOME": in("cargo"), "GNUPGHOME": "gpg", "DOCKER_CONFIG": dir, "XDG_DATA_HOME": filepath.Join(home, ".local", "share"),
		"KUBECONFIG": in("k1") + list + in("k2"), "NETRC": "/dev/null", "PGPASSFILE": in("open"),
		"GIT_CONFIG_GLOBAL": in("gitc"), "BASH_ENV": in("benv"), "VIMINIT": "source " + in("vinit"), "NODE_OPTIONS": "--require=" + in("boot.js") + " --max-old-space-size=4096", "EDITOR": "vim", "LD_PRELOAD": in("lib"),
		"PYTHONPATH": in("lib") + list + "src", "PERL5LIB": base,
	}
	r, err := Of(settings.Grant{Write: []string{"."}, Unprotected: []string{"open"}}, Start{Dir: dir, Home: home, Getenv: func(name string) string { return vars[name] }})
	if err != nil {
		t.Fatal(err)
	}
	r.Own.now.Store(&ownState{})
	if slices.Contains(r.Own.Places(), in("gitc")) {
		t.Error("git would find a directory in the place of its settings")
	}
	obeyed := r.Own.Asked()
	for _, name := range []string{"gpg", "k1", "k2", "config/git", "config/fish", "config/gh", "claude/.credentials.json", "cargo/credentials.toml"} {
		if !slices.Contains(r.Protected, in(name)) {
			t.Errorf("%s can be reached", name)
		}
	}
	for _, name := range []string{"claude", "config/nvim", "config/Code/User", "config/environment.d", "cargo/env", "gitc", "benv", "vinit", "boot.js", "lib/sitecustomize.py", "src/usercustomize.py"} {
		if !slices.Contains(obeyed, in(name)) {
			t.Errorf("%s is not held", name)
		}
	}
	for _, path := range slices.Concat(r.Protected, obeyed) {
		if path == dir || path == in("lib") || path == in("open") || path == in("cargo/bin") || path == "/dev/null" || path == in("vim") || filepath.Dir(path) == base {
			t.Errorf("%s is held", path)
		}
	}
}
