//go:build unix

package sandboxes

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib/internal/sandbox/container"
)

// TestImages: each image is tried once, and one that could not be used is tried
// again by the next server.
func TestImages(t *testing.T) {
	const testdata = "../sandbox/container/testdata"
	engine, err := filepath.Abs(filepath.Join(testdata, "engine"))
	if err != nil {
		t.Fatal(err)
	}
	inside, err := os.ReadFile(filepath.Join(testdata, "inside"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	t.Setenv("FAKE_DIR", dir)
	write := func(name string, text []byte) {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("inside", inside)
	write("down", nil)
	images := newImages(container.Config{Engine: engine})
	if _, err := images.Open(t.Context(), "the/image"); err == nil || !strings.Contains(err.Error(), "no container engine answers") {
		t.Fatalf("without an engine: %v", err)
	}
	if err := os.Remove(filepath.Join(dir, "down")); err != nil {
		t.Fatal(err)
	}
	first, err := images.Open(t.Context(), "the/image")
	if err != nil {
		t.Fatal(err)
	}
	again, err := images.Open(t.Context(), "the/image")
	if err != nil || again != first {
		t.Errorf("it was opened twice: %v", err)
	}
	asked, err := os.ReadFile(filepath.Join(dir, "asked"))
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(asked), "run\x00--rm"); n != 1 {
		t.Errorf("%d containers were started to look", n)
	}
	if !strings.Contains(string(asked), "size=1073741824,exec") {
		t.Error("what a server fetches has no room, or cannot be run")
	}
	if _, err := images.Open(t.Context(), "-v"); err == nil {
		t.Error("an option passed for an image")
	}
}
