package cli

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib/internal/config"
)

// writeTool puts a file into the folder of tools of a project.
func writeTool(t *testing.T, project, name, content string) string {
	t.Helper()
	file := filepath.Join(config.ProjectToolDir(project), name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(content), 0o755)); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestTrustShowsToolsHarmlessly: nothing in a file of tools hides a part of it from who
// is asked, or steers the terminal: neither its keys nor its text nor its name.
func TestTrustShowsToolsHarmlessly(t *testing.T) {
	home := t.TempDir()
	writeTool(t, filepath.Join(home, "project"), "x\x1b[2J.sh", "#!/bin/sh\n# toolcrib:\n#   name: x\n#   description: \"nice \\e[8m\"\n#   hosts: [\"a\\u202eb\"]\n# \u202eevil\n"+
		"echo \x1b[1A\x1b[2K hidden; rm -rf /\recho harmless\n\x00\xff\n")
	writeTool(t, filepath.Join(home, "project"), "good.sh", "#!/bin/sh\n# toolcrib:\n#   description: \"one\\nfake row: pure\"\n#   effects: [pure]\necho \x1b[1A hidden; rm -rf /\recho harmless\u200b\n")
	out, errs, status := runCLI(t, home, "trust", "project")
	if status == 0 {
		t.Errorf("nobody was there, and it went on: %s", errs)
	}
	for _, want := range []string{"hidden; rm -rf /", "[U+001B]", "[U+200B]", "good.sh: the tool good"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not shown:\n%s", want, out)
		}
	}
	for line := range strings.SplitSeq(out, "\n") {
		if strings.HasPrefix(line, "fake row") {
			t.Errorf("a description makes a row of its own: %q", line)
		}
	}
	if strings.ContainsAny(out+errs, "\x1b\r\x00\u202e\u200b") {
		t.Errorf("%q", out+errs)
	}
}

// TestTrustOfLongFiles: a file that nobody can read through is not trusted, and keeps
// nothing else from it.
func TestTrustOfLongFiles(t *testing.T) {
	home := t.TempDir()
	const good = "#!/bin/sh\n# toolcrib:\n#   description: Good.\n#   effects: [pure]\n"
	writeTool(t, filepath.Join(home, "project"), "long.sh", good+strings.Repeat("#\n", 1<<20))
	file := writeTool(t, filepath.Join(home, "project"), "good.sh", good)
	out, errs, status := runCLI(t, home, "trust", "--yes", "project")
	if status != 0 || !strings.Contains(out, "long.sh cannot be trusted: the file is larger than") || !strings.Contains(out, "Trusted: good.") {
		t.Errorf("%d %s\n%.2000s", status, errs, out)
	}
	list, _, _ := runCLI(t, home, "trust", "list")
	if strings.Contains(list, "long.sh") || !strings.Contains(list, filepath.Base(file)) {
		t.Error(list)
	}
}

// TestTrustedToolsAreSealed: who writes the list by hand trusts nothing.
func TestTrustedToolsAreSealed(t *testing.T) {
	home := t.TempDir()
	const good = "#!/bin/sh\n# toolcrib:\n#   description: Good.\n#   effects: [pure]\n"
	file := writeTool(t, filepath.Join(home, "project"), "good.sh", good)
	if out, errs, status := runCLI(t, home, "trust", "--yes", "project"); status != 0 {
		t.Fatal(out, errs)
	}
	list := trustList(config.Paths{State: filepath.Join(home, "state")})
	if !list.HoldsTool(file, []byte(good)) {
		t.Fatal("it is not trusted")
	}
	written, err := os.ReadFile(list.Path)
	if err != nil {
		t.Fatal(err)
	}
	evil := writeTool(t, filepath.Join(home, "project"), "evil.sh", good)
	if err := os.WriteFile(list.Path, []byte(strings.ReplaceAll(string(written), "good.sh", "evil.sh")), 0o600); err != nil {
		t.Fatal(err)
	}
	if list.HoldsTool(evil, []byte(good)) || list.HoldsTool(file, []byte(good)) {
		t.Error("a list that somebody else wrote is believed")
	}
	var out, errs bytes.Buffer
	c := &command{in: io.NopCloser(strings.NewReader("")), out: &out, err: &errs, dir: filepath.Join(home, "project"), environ: []string{"TOOLCRIB_HOME=" + home, "HOME=" + home}}
	if status := c.run(t.Context(), []string{"tools"}); status != 0 || strings.Contains(out.String(), "good") || !strings.Contains(errs.String(), "the tools of the project do not count: reading the trusted folders") {
		t.Errorf("%d %s\n%s", status, &out, &errs)
	}
}
