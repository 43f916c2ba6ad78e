package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// battery is what is called, and what the toolboxes are told.
type battery struct {
	calls  []batteryCall
	config map[string]map[string]any // by entry point
	dir    string                    // where files are written
}

type batteryCall struct {
	entry, tool string
	args        json.RawMessage
}

func (c batteryCall) String() string {
	return c.entry + " " + c.tool + " " + string(c.args[:min(len(c.args), 100)])
}

// readBattery reads the calls, which are in order: some read what others wrote.
func readBattery(t testing.TB, e environment) battery {
	t.Helper()
	b := battery{dir: t.TempDir(), config: map[string]map[string]any{"odd-tools": {"text": "set", "list": []any{1.0}}, "ovos-shell-tools": {"allow_shell": true}}}
	b.config["ovos-filesystem-tools"] = map[string]any{"root_path": b.dir}
	b.config["ovos-mcp-toolbox"] = map[string]any{"transport": "stdio", "command": e.python, "args": []any{"-m", "toolcrib_odd_tools.server"}, "timeout": 60.0}
	text, err := os.ReadFile("testdata/opm/battery.json")
	if err != nil {
		t.Fatal(err)
	}
	var rows [][3]json.RawMessage
	if err := json.Unmarshal(bytes.ReplaceAll(text, []byte("{DIR}"), []byte(filepath.ToSlash(b.dir))), &rows); err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		var c batteryCall
		if err := json.Unmarshal(row[0], &c.entry); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(row[1], &c.tool); err != nil {
			t.Fatal(err)
		}
		c.args = row[2]
		b.calls = append(b.calls, c)
		if b.config[c.entry] == nil {
			b.config[c.entry] = map[string]any{}
		}
	}
	if len(b.calls) < 100 {
		t.Fatalf("there are %d calls", len(b.calls))
	}
	return b
}

// clean empties the folder, so that every round finds the same.
func (b battery) clean(t testing.TB) {
	t.Helper()
	entries, err := os.ReadDir(b.dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if err := os.RemoveAll(filepath.Join(b.dir, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
}

// reply is what becomes of a call: a result, or the words of a failure.
type reply struct {
	Result any    `json:"result,omitempty"`
	Error  string `json:"error,omitempty"`
}

// directly is what the genuine code says, without us.
type directly struct {
	Answers   []reply                      `json:"answers"`
	Contracts map[string][]json.RawMessage `json:"contracts"` // by toolbox id
	Seconds   float64                      `json:"seconds"`
}

// alone starts the genuine code in a process of its own, and gives how to have it make
// calls as a voice assistant does.
func (b battery) alone(t testing.TB, e environment) func(calls []batteryCall, rate int) directly {
	t.Helper()
	b.clean(t)
	config, err := json.Marshal(b.config)
	if err != nil {
		t.Fatal(err)
	}
	script, err := filepath.Abs("testdata/opm/direct.py")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), e.python, script, string(config))
	cmd.Dir, cmd.Env = b.dir, append(os.Environ(), "HOME="+t.TempDir())
	errs := &logged{}
	cmd.Stderr = errs
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close() // it ends by it
		_ = cmd.Wait() // or with the test
	})
	to, from := json.NewEncoder(in), json.NewDecoder(out)
	return func(calls []batteryCall, rate int) (d directly) {
		t.Helper()
		rows := make([][3]any, len(calls))
		for i, c := range calls {
			rows[i] = [3]any{c.entry, c.tool, c.args}
		}
		err := to.Encode(map[string]any{"calls": rows, "rate": rate})
		if err == nil {
			err = from.Decode(&d)
		}
		if err != nil || len(d.Answers) != len(calls) {
			t.Fatalf("the genuine code: %v\n%s", err, errs)
		}
		return d
	}
}

// home makes a home whose toolcrib has the toolboxes of these environments, and gives
// the variables to run it with. More settings are added, and some to each environment.
func (b battery) home(t testing.TB, envs map[string]environment, more string, each ...string) (env []string) {
	t.Helper()
	var config strings.Builder
	config.WriteString("mode: yolo\nhub: {wait: 2m}\n" + more + "\npython:\n")
	for name, e := range envs {
		fmt.Fprintf(&config, "  %s:\n    python: %q\n    opm: true\n    start_timeout: 2m\n    write: [%q]\n", name, e.dir, b.dir)
		for _, line := range each {
			config.WriteString("    " + line + "\n")
		}
		text, err := os.ReadFile(filepath.Join(e.site, "base.pth"))
		if err == nil {
			var read []string
			for line := range strings.Lines(string(text)) {
				read = append(read, fmt.Sprintf("%q", filepath.Dir(filepath.Dir(filepath.Dir(strings.TrimSpace(line))))))
			}
			fmt.Fprintf(&config, "    read: [%s]\n", strings.Join(read, ", "))
		}
		if len(b.config) > 0 {
			config.WriteString("    config:\n")
		}
		for id, c := range b.config {
			text, err := json.Marshal(c)
			if err != nil {
				t.Fatal(err)
			}
			if len(c) > 0 {
				fmt.Fprintf(&config, "      %s: %q\n", id, text)
			}
		}
	}
	home := t.TempDir()
	dir := filepath.Join(home, "toolcrib")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "config.yaml"), []byte(config.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "TOOLCRIB_") && !strings.HasPrefix(v, "HOME=") && !strings.HasPrefix(v, "XDG_") {
			env = append(env, v)
		}
	}
	return append(env, "TOOLCRIB_HOME="+dir, "HOME="+home)
}

// compare holds an answer against the genuine one. The time of a clock only has to
// look like one.
func compare(t *testing.T, c batteryCall, got, want reply) {
	t.Helper()
	if c.tool == "get_current_datetime" && want.Error == "" {
		g, isMap := got.Result.(map[string]any)
		w := want.Result.(map[string]any)
		if !isMap || len(g) != len(w) || g["timezone"] != w["timezone"] {
			t.Errorf("%v: %v", c, got)
		}
		for _, key := range []string{"iso", "date", "time"} {
			layout := map[string]string{"iso": time.RFC3339Nano, "date": time.DateOnly, "time": time.TimeOnly}[key]
			if text, ok := g[key].(string); !ok {
				t.Errorf("%v: %s is %v", c, key, g[key])
			} else if _, err := time.Parse(layout, text); err != nil {
				t.Errorf("%v: %v", c, err)
			}
		}
		return
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%v (-genuine +through Toolcrib):\n%s", c, diff)
	}
}
