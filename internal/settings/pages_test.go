package settings

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib/internal/config"
)

// Settings that the pages show can be copied as they stand: each block is a file that loads.
func TestSettingsOnThePagesLoad(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob(filepath.Join("..", "..", "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "config.yaml")
	seen := 0
	for _, page := range append(pages, filepath.Join("..", "..", "README.md")) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, rest := range strings.Split("\n"+string(text), "\n```yaml\n")[1:] {
			block, _, closed := strings.Cut(rest, "\n```")
			if !closed {
				t.Fatalf("%s: a block has no end", page)
			}
			if otherYAML(block) {
				continue
			}
			seen++
			if err := os.WriteFile(file, []byte(block), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := config.Load(Defaults(), config.Options{Explicit: file}); err != nil {
				t.Errorf("%s: %v\n%s", filepath.Base(page), err, block)
			}
		}
	}
	if seen < 30 {
		t.Errorf("the pages show %d blocks of settings, or this test cannot read them", seen)
	}
}

// otherYAML knows what is YAML on a page and belongs into another file than the
// settings: a tool's, a skill's, Prometheus'.
func otherYAML(block string) bool {
	for _, key := range []string{"args:", "description:", "metadata:", "scrape_configs:"} {
		if strings.HasPrefix(block, key) {
			return true
		}
	}
	return false
}
