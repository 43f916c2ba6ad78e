package settings

import (
	"bytes"
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/toolcrib/toolcrib/cribtest"
	"github.com/toolcrib/toolcrib/internal/config"
)

// The references in docs/ are written from the code. A stale one is a lie.
func TestGeneratedReferences(t *testing.T) {
	for name, generate := range map[string]func(Config) ([]byte, error){
		"config.md":          config.Reference[Config],
		"config.schema.json": config.Schema[Config],
	} {
		want, err := generate(Defaults())
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join("..", "..", "docs", name)
		if cribtest.Updating() {
			if err := os.WriteFile(path, want, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(path)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("docs/%s is not what the settings say (%v): run 'go test ./internal/settings -update'", name, cmp.Or(err, errors.New("it differs")))
		}
	}
}

// The defaults must be a configuration a user could write.
func TestDefaultsLoad(t *testing.T) {
	if _, err := config.Load(Defaults(), config.Options{}); err != nil {
		t.Error(err)
	}
}
