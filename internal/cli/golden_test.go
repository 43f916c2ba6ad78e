package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
)

// runCLI runs the program in this process with a home of the test's own.
func runCLI(t *testing.T, home string, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	var out, errs bytes.Buffer
	c := &command{
		in: io.NopCloser(strings.NewReader("")), out: &out, err: &errs, dir: home,
		environ: []string{"TOOLCRIB_HOME=" + home, "HOME=" + home},
	}
	status = c.run(t.Context(), args)
	return out.String(), errs.String(), status
}

type goldenRow struct {
	Toolbox string          `json:"toolbox"`
	Config  goldenConfig    `json:"config"`
	Name    string          `json:"name"`
	Kwargs  json.RawMessage `json:"kwargs"`
	Result  map[string]any  `json:"result"`
	Error   string          `json:"error"`
}

// goldenConfig is how the toolbox was set up when a row was recorded.
type goldenConfig struct {
	AllowWrite      *bool    `json:"allow_write"`
	AllowedCommands []string `json:"allowed_commands"`
	MaxTimeout      int      `json:"max_timeout"`
}

// flags says the same to us. Nobody is asked there.
func (c goldenConfig) flags() []string {
	mode := "yolo" // there, everything runs
	if c.AllowedCommands != nil {
		mode = "auto-edit"
	}
	list := []string{"--set", "mode=" + mode, "--set", "toolboxes.shell.ask=false", "--set", "toolboxes.shell.allow_shell=true"}
	if c.AllowWrite != nil && !*c.AllowWrite {
		list = append(list, "--set", "grant.write=[]", "--set", "grant.read=.")
	}
	if c.AllowedCommands != nil {
		list = append(list, "--set", "toolboxes.shell.allowed_commands="+strings.Join(c.AllowedCommands, ","))
	}
	if c.MaxTimeout > 0 {
		list = append(list, "--set", fmt.Sprintf("toolboxes.shell.max_timeout=%ds", c.MaxTimeout))
	}
	return list
}

// TestGoldenRows makes every recorded call of the OpenVoiceOS toolboxes.
// testdata/golden/README.md says where ours may answer otherwise.
func TestGoldenRows(t *testing.T) {
	t.Parallel()
	f, err := os.Open("../../testdata/golden/ovos_rows.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	home := t.TempDir()
	s := bufio.NewScanner(f)
	s.Buffer(nil, 1<<20)
	rows := 0
	for ; s.Scan(); rows++ {
		var row goldenRow
		if err := json.Unmarshal(s.Bytes(), &row); err != nil {
			t.Fatal(err)
		}
		stdout, stderr, status := runCLI(t, home, "call", "--dialect", "ovos", row.Name, "--json", string(row.Kwargs))
		checkRow(t, row, stdout, stderr, status)
	}
	if rows < 100 {
		t.Errorf("only %d rows", rows)
	}
}

func checkRow(t *testing.T, row goldenRow, stdout, stderr string, status int) {
	t.Helper()
	if row.Error != "" {
		if status != 3 || !strings.Contains(stderr, row.Error) || stdout != "" {
			t.Errorf("%s %s: status %d, stderr %q, want %q", row.Name, row.Kwargs, status, stderr, row.Error)
		}
		return
	}
	var got map[string]any
	if err := json.Unmarshal([]byte(stdout), &got); err != nil || status != 0 {
		t.Errorf("%s %s: status %d, %q, %q", row.Name, row.Kwargs, status, stdout, stderr)
		return
	}
	want := row.Result
	if text, ok := want["error"].(string); ok && strings.HasPrefix(text, "Syntax error:") {
		if ours, ok := got["error"].(string); ok && strings.HasPrefix(ours, "Syntax error:") {
			got["error"] = text
		}
	}
	switch row.Name {
	case "solve_equation":
		got["method"] = want["method"]
		if want["equation"] == "(x-0.5)**2" {
			want["solutions"] = []any{0.5}
		}
	case "get_current_datetime":
		for key, form := range map[string]string{
			"iso": `^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?[+-]\d\d:\d\d$`, "date": `^\d{4}-\d\d-\d\d$`, "time": `^\d\d:\d\d:\d\d$`, "timezone": `.`,
		} {
			if text, ok := got[key].(string); !ok || !regexp.MustCompile(form).MatchString(text) {
				t.Errorf("%s is %v", key, got[key])
			}
			got[key] = want[key]
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s %s (-want +got):\n%s", row.Name, row.Kwargs, diff)
	}
}

func TestEveryCodeHasAnExitStatus(t *testing.T) {
	seen := map[int]toolcrib.Code{exitDone: "", exitFailed: "", exitUsage: ""}
	for _, code := range cribtest.Codes() {
		status, ok := exitOf(code)
		if other, twice := seen[status]; !ok || twice {
			t.Errorf("%s: exit status %d, known %v, also %q", code, status, ok, other)
		}
		seen[status] = code
	}
}
