package conformance

import (
	"context"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
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
func packagesOf(t testing.TB, name, file string) environment {
	t.Helper()
	e, err := installBeside(t.Context(), genuine(t).base, name, file)
	if err != nil {
		t.Fatalf("installing %s from PyPI: %v", name, err)
	}
	return e
}

// pureTools is a Toolcrib that has tools that only compute, and the clock.
const pureTools = `
toolboxes:
  files: {enabled: false}
  interact: {enabled: false}
  notes: {enabled: false}
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
	if err != nil || !strings.Contains(string(out), "No issues found") || !strings.Contains(string(out), "Tested: 6") {
		t.Errorf("%v\n%s", err, out)
	}
}
