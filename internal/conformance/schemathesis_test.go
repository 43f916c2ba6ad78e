package conformance

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/lockedfile"
)

// schemathesisPackages has schemathesis and all that it needs, of exact versions.
const schemathesisPackages = "testdata/openapi/requirements.txt"

// schemathesis makes sure that it is there, in an environment of its own in the user's cache.
func schemathesis(t testing.TB) environment {
	t.Helper()
	return packagesOf(t, "schemathesis", schemathesisPackages)
}

// packagesOf makes sure that the packages of a list are there, in an environment of their own in
// the user's cache.
func packagesOf(t testing.TB, name, list string) environment {
	t.Helper()
	e, err := installPackages(t.Context(), genuine(t).base, name, list)
	if err != nil {
		t.Fatalf("installing %s from PyPI: %v", name, err)
	}
	return e
}

func installPackages(ctx context.Context, base environment, name, file string) (environment, error) {
	var e environment
	list, err := os.ReadFile(file)
	if err != nil {
		return e, err
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%s\n", list, base.python))
	dir := filepath.Join(filepath.Dir(filepath.Dir(base.dir)), fmt.Sprintf("%s-%x", name, sum[:8]))
	unlock, err := lockedfile.MutexAt(dir + ".lock").Lock() // two runs of the tests at once
	if err != nil {
		return e, err
	}
	defer unlock()
	mark := filepath.Join(dir, "complete")
	if _, err := os.Stat(mark); err == nil {
		return e, e.at(dir)
	}
	if err := os.RemoveAll(dir); err != nil {
		return e, err
	}
	if err := makeEnvironment(ctx, base.python, dir, &e); err != nil {
		return e, err
	}
	e.pip = base.pip
	return e, errors.Join(e.install(ctx, "--requirement", file), os.WriteFile(mark, nil, 0o644))
}

// pureTools is a Toolcrib that has tools that only compute, and the clock.
const pureTools = `
toolboxes:
  files: {enabled: false}
  interact: {enabled: false}
  skill: {enabled: false}
  tools: {enabled: false}
bounds: {artifacts: {enabled: false}}
tools: {disable: ["mcp_*"]}
expose: full
`

// Toolcrib's own tools as an API hold what their document says, as schemathesis finds.
func TestGenuineSchemathesis(t *testing.T) {
	python := schemathesis(t).python
	dir, env := home(t, pureTools)
	cmd := exec.Command(toolcribPath(t), "serve", "--listen", "127.0.0.1:0")
	cmd.Dir, cmd.Env = dir, env
	base := launch(t, cmd).await(t, `MCP at (http://[^/]+)/mcp`)
	show := exec.Command(toolcribPath(t), "token", "show")
	show.Dir, show.Env = dir, env
	token, err := show.Output()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	run := exec.CommandContext(ctx, python, "-m", "schemathesis.cli", "run", base+"/openapi.json", "-H", "Authorization: Bearer "+strings.TrimSpace(string(token)), "--max-examples", "30", "--seed", "1", "--no-color")
	run.Dir, run.Env = dir, slices.Concat(env, []string{"PYTHONIOENCODING=utf-8"})
	out, err := run.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "No issues found") || !strings.Contains(string(out), "Tested: 5") {
		t.Errorf("%v\n%s", err, out)
	}
}
