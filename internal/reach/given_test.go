package reach

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/hostpath"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/toolbox/mcphub"
)

// TestCodeOfServersWithSecretsIsHeld: who can change a module beside the script
// of a server has what the server is given.
func TestCodeOfServersWithSecretsIsHeld(t *testing.T) {
	project := t.TempDir()
	for _, name := range []string{"srv/srv.py", "srv/helper.py", "pkg/package.json", "pkg/src/main.js", "top.py", "data/app.db", "elsewhere.txt"} {
		file := filepath.Join(project, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	at := func(name string) string { return filepath.Join(project, name) }
	secret := map[string]string{"TOKEN": "${secret:tok}"}
	for _, tt := range []struct {
		name   string
		server mcphub.Server
		want   string
	}{
		{"its directory", mcphub.Server{Command: "/usr/bin/python3", Args: []string{at("srv/srv.py")}, Env: secret}, "srv"},
		{"in a sandbox by its settings", mcphub.Server{Command: "/usr/bin/python3", Args: []string{at("srv/srv.py")}, Env: secret, Sandbox: "linux"}, "srv"},
		{"its package", mcphub.Server{Command: "/usr/bin/node", Args: []string{at("pkg/src/main.js")}, Env: secret}, "pkg"},
		{"never the project", mcphub.Server{Command: "/usr/bin/python3", Args: []string{at("top.py")}, Env: secret}, "top.py"},
		{"a secret among arguments", mcphub.Server{Command: "/usr/bin/python3", Args: []string{at("srv/srv.py"), "--token=${secret:tok}"}}, "srv"},
		{"data stays", mcphub.Server{Command: "/usr/bin/python3", Args: []string{at("srv/srv.py"), at("data/app.db")}, Env: secret}, "srv"},
		{"no secret", mcphub.Server{Command: "/usr/bin/python3", Args: []string{at("srv/srv.py")}}, ""},
	} {
		dirs := []files.Dir{{Path: project, Write: true}}
		r := Reach{Dirs: dirs, Own: &ownFiles{}}
		l := &Launcher{Env: os.LookupEnv, Dir: project, Grant: toolcrib.Grant{Dirs: dirs},
			Outside: Outside{Finder: hostpath.Finder{Writable: r.CommandsWrite}, Dir: project}}
		r.SetOwn(settings.Config{}, map[string]mcphub.Server{"dev": tt.server}, l)
		var held []string
		for _, file := range r.Own.Places() {
			if rel, ok := strings.CutPrefix(file, project+string(filepath.Separator)); ok {
				held = append(held, rel)
			}
		}
		if want := strings.Fields(tt.want); !slices.Equal(held, want) {
			t.Errorf("%s: %q is held, want %q", tt.name, held, want)
		}
		told := slices.ContainsFunc(r.Own.Notes(), func(n Note) bool { return strings.Contains(n.Text, "secrets of the vault") })
		if told != (tt.want != "") {
			t.Errorf("%s: told is %v", tt.name, told)
		}
	}
}
