package cli

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/app"
	"github.com/toolcrib/toolcrib/internal/settings"
)

// TestBrokenProjectIsFollowed: a server that was started past a project's broken file
// still takes what the person changes, and stays bounded.
func TestBrokenProjectIsFollowed(t *testing.T) {
	t.Parallel()
	for name, project := range map[string]string{"no YAML": "mode: [\n", "unknown key": "nonsense: 1\n", "a bad rule": "permissions: {deny: [\"read_file((\", delete_file]}\n", "a bad condition": "permissions: {deny: [delete_file], rules: [{decision: deny, tool: delete_file, when: \"args.x +\"}]}\n", "a bad example": "permissions: {deny: [delete_file], rules: [{decision: deny, tool: delete_file, match: [\"{\"]}]}\n"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home, dir := t.TempDir(), t.TempDir()
			write := func(path, text string) {
				t.Helper()
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			write(filepath.Join(dir, "toolcrib.yaml"), project)
			own := filepath.Join(home, "config.yaml")
			write(own, "mode: yolo\ntokens: {ci: {sha256: "+strings.Repeat("a", 64)+"}}\n")
			c := &command{in: io.NopCloser(strings.NewReader("")), out: io.Discard, err: &bytes.Buffer{}, environ: []string{"HOME=" + home, "TOOLCRIB_HOME=" + home}, dir: dir}
			a, err := c.openFor(t.Context(), app.ToCheck, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer c.closeApp(t.Context(), a)
			if c.broken == nil || len(a.Tokens()) != 1 {
				t.Fatalf("broken %v, tokens %v", c.broken, a.Tokens())
			}
			write(own, "mode: yolo\npermissions: {deny: [list_files]}\n")
			var cfg settings.Config
			var layers *settings.Layers
			if err := c.policyNow().Load(func(now settings.Config, l *settings.Layers) error {
				cfg, layers = now, l
				if strings.HasPrefix(name, "a bad") && !l.Broken {
					return errors.New("the rules cannot be read") // as it was at the start
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			if len(cfg.Tokens) != 0 || len(layers.User.Tokens) != 0 || len(layers.User.Permissions.Deny) != 1 {
				t.Errorf("what was changed is not there: %+v", layers.User)
			}
			if mode := layers.Mode(toolcrib.Call{}); mode.String() != "default" {
				t.Errorf("the mode is %s", mode)
			}
			if want := strings.HasPrefix(name, "a bad"); want != (len(layers.Project.Permissions.Deny) == 1) {
				t.Errorf("of the project: %q", layers.Project.Permissions.Deny)
			}
		})
	}
}
