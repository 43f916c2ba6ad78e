package reach

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/toolfile"
)

// TestSafeFolder: neither a folder of the person's tools that tools can write makes tools, nor a link in it to a file that
// they can write.
func TestSafeFolder(t *testing.T) {
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	project, own, safe := filepath.Join(home, "project"), filepath.Join(home, "own"), filepath.Join(home, "safe")
	for _, dir := range []string{project, own, safe} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "file.yaml"), []byte("command: [x]\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"led.yaml": project, "mine.yaml": safe} {
		if err := os.Symlink(filepath.Join(to, "file.yaml"), filepath.Join(own, link)); err != nil {
			t.Fatal(err)
		}
	}
	r, err := Of(settings.Grant{Write: []string{"."}}, Start{Dir: project, Home: home, State: filepath.Join(home, "state")})
	if err != nil {
		t.Fatal(err)
	}
	list, err := r.Safe(toolfile.Folder{Dir: own}).Read()
	if err != nil || len(list) != 3 {
		t.Fatal(list, err)
	}
	for _, s := range list {
		led := filepath.Base(s.Path) == "led.yaml"
		if led != (s.Err != nil) || led != (len(s.Content) == 0) || led && !strings.Contains(s.Err.Error(), "where tools can write") {
			t.Errorf("%s: %q, %v", s.Path, s.Content, s.Err)
		}
	}
	if list, err := r.Safe(toolfile.Folder{Dir: project}).Read(); err == nil {
		t.Errorf("%v", list)
	}
}
