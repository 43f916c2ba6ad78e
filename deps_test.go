package toolcrib_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib/cribtest"
)

// TestDeps compares deps.txt with the modules that are linked into the
// program: a new one is a line that a reviewer sees, with the reason in
// docs/dependencies.md. It is the list for Linux, whatever machine asks.
func TestDeps(t *testing.T) {
	main := filepath.Join("cmd", "toolcrib")
	if _, err := os.Stat(main); err != nil {
		t.Fatalf("there is no program to look at: %v", err)
	}
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}{{end}}{{end}}", "./"+filepath.ToSlash(main))
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0")
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, complaint.String())
	}
	cribtest.Golden(t, "deps.txt", modules(string(out)))
}

// modules sorts a list with repetitions and empty lines into one without.
func modules(list string) []byte {
	lines := strings.Fields(list)
	slices.Sort(lines)
	return []byte(strings.Join(slices.Compact(lines), "\n") + "\n")
}

func TestModules(t *testing.T) {
	if got := string(modules("b\n\na\nb\n")); got != "a\nb\n" {
		t.Errorf("got %q", got)
	}
}
