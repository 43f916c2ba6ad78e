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
	list := modules(string(out))
	for module, why := range tooLarge() {
		if slices.Contains(strings.Fields(string(list)), module) {
			t.Errorf("%s is linked into the program: %s", module, why)
		}
	}
	cribtest.Golden(t, "deps.txt", list)
}

// tooLarge are modules for tests only. With one of them the program grows
// by megabytes.
func tooLarge() map[string]string {
	const conditions = "conditions of rules are evaluated by internal/condition; with cel-go the program has 6 MB more"
	return map[string]string{
		"cel.dev/cel-go": conditions, "github.com/antlr4-go/antlr/v4": conditions, "google.golang.org/protobuf": conditions,
		"github.com/modelcontextprotocol/go-sdk": "MCP is spoken by internal/mcp",
		"github.com/getkin/kin-openapi":          "documents are read by toolbox/openapi",
	}
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
