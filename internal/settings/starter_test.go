package settings

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/toolcrib/toolcrib/internal/config"
)

// What the first file shows commented out can be taken as it is.
func TestStarterCanBeUncommented(t *testing.T) {
	t.Parallel()
	open := regexp.MustCompile(`(?m)^#([a-z_]|  )`).ReplaceAllString(Starter, "$1")
	for name, content := range map[string]string{"as it comes": Starter, "uncommented": open} {
		file := filepath.Join(t.TempDir(), "config.yaml")
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		loaded, err := config.Load(Defaults(), config.Options{Explicit: file})
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, content)
		}
		if name == "uncommented" && (len(loaded.Value.Permissions.Deny) != 1 || len(loaded.Value.Grant.Hosts) != 1) {
			t.Errorf("%+v\n%s", loaded.Value.Permissions, content)
		}
	}
}

func TestExpandHome(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	c := Defaults()
	c.Hub.Plugins, c.Serve.TLS.Cert = "~/plugins", "~other/x"
	c.MCPServers = map[string]MCPServer{"a": {Command: "~/bin/server", Cwd: "/x"}}
	c.ExpandHome(home)
	if c.Hub.Plugins != filepath.Join(home, "plugins") || c.Serve.TLS.Cert != "~other/x" || c.MCPServers["a"].Command != filepath.Join(home, "bin", "server") {
		t.Errorf("%+v %+v", c.Hub.Plugins, c.MCPServers)
	}
}
