package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// personaPackages has what personas need, and the stable generation of OpenVoiceOS'
// adapter for MCP, which the other list has in a later one.
const personaPackages = "testdata/opm/persona.txt"

// personas is an environment with all of the genuine packages, and with those.
func personas(t testing.TB) environment {
	t.Helper()
	base := genuine(t).base
	e := packagesOf(t, "persona", personaPackages)
	if err := e.over(base); err != nil {
		t.Fatal(err)
	}
	e.pip = base.pip
	return e
}

// ownPackage is the folder of our package for OpenVoiceOS.
func ownPackage(t testing.TB) string {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join("..", "..", "python", "toolcrib-ovos"))
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// withOwn installs our package as people do, and a brain that says what a script has.
func (f field) withOwn(t testing.TB, base environment) environment {
	t.Helper()
	e := f.with(t, base)
	args := []string{"--no-build-isolation", "--no-index"}
	for _, from := range []string{ownPackage(t), filepath.Join("testdata", "opm", "brain")} {
		dir := filepath.Join(t.TempDir(), filepath.Base(from)) // building writes into the folder
		if err := os.CopyFS(dir, os.DirFS(from)); err != nil {
			t.Fatal(err)
		}
		args = append(args, dir)
	}
	if err := e.install(t.Context(), args...); err != nil {
		t.Fatal(err)
	}
	return e
}

// script runs a script of testdata/opm and reads what it writes.
func (e environment) script(t testing.TB, vars []string, in any, out any, name string, args ...string) {
	t.Helper()
	file, err := filepath.Abs(filepath.Join("testdata", "opm", name))
	if err != nil {
		t.Fatal(err)
	}
	given, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), e.python, append([]string{file}, args...)...)
	cmd.Dir, cmd.Env, cmd.Stdin = t.TempDir(), slices.Concat(vars, []string{"PYTHONDONTWRITEBYTECODE=1"}), bytes.NewReader(given)
	errs := &logged{}
	cmd.Stderr = errs
	text, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(text, out)
	}
	if err != nil {
		t.Fatalf("%s: %v\n%s", name, err, errs)
	}
}

// shownNames lists the tools of each dialect, and makes sure that their schemas have
// only forms that every client reads.
func shownNames(t testing.TB, vars []string) map[string][]string {
	t.Helper()
	names := map[string][]string{}
	for _, dialect := range []string{"native", "ovos", "agenticx", "owl"} {
		cmd := exec.Command(toolcribPath(t), "mcp", "--dialect", dialect)
		cmd.Dir, cmd.Env = t.TempDir(), vars
		s, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for tool, err := range s.Tools(t.Context(), nil) {
			if err != nil {
				t.Fatal(err)
			}
			names[dialect] = append(names[dialect], tool.Name)
			for _, schema := range []any{tool.InputSchema, tool.OutputSchema} {
				for _, at := range rareForms(schema, dialect+" "+tool.Name) {
					t.Errorf("%s is shown in a form that not every client reads", at)
				}
			}
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		slices.Sort(names[dialect])
	}
	return names
}

// rareForms finds lists of types, and properties that are true or false.
func rareForms(schema any, at string) (found []string) {
	s, ok := schema.(map[string]any)
	if !ok {
		return nil
	}
	if _, ok := s["type"].([]any); ok {
		found = append(found, at+"/type")
	}
	for key, value := range s {
		switch value := value.(type) {
		case map[string]any:
			switch key {
			case "properties", "$defs", "definitions", "patternProperties":
				for name, sub := range value {
					if _, plain := sub.(bool); plain {
						found = append(found, at+"/"+name)
					}
					found = append(found, rareForms(sub, at+"/"+name)...)
				}
			case "items", "additionalProperties", "not":
				found = append(found, rareForms(value, at+"/"+key)...)
			}
		case []any:
			if strings.HasSuffix(key, "Of") {
				for i, sub := range value {
					found = append(found, rareForms(sub, fmt.Sprint(at, "/", key, i))...)
				}
			}
		}
	}
	return found
}

// TestOwnForms: the contracts of our own toolboxes have such forms from the beginning.
func TestOwnForms(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "..", "toolbox", "*", "testdata", "specs", "*.json"))
	if err != nil || len(files) < 15 {
		t.Fatal(files, err)
	}
	tools := 0
	for _, file := range files {
		var specs []struct {
			Name          string
			Input, Output any
		}
		text, err := os.ReadFile(file)
		if err == nil {
			err = json.Unmarshal(text, &specs)
		}
		if err != nil {
			t.Fatal(file, err)
		}
		for _, s := range specs {
			tools++
			for _, at := range append(rareForms(s.Input, s.Name+" input"), rareForms(s.Output, s.Name+" output")...) {
				t.Errorf("%s: %s is written in a form that not every client reads", file, at)
			}
		}
	}
	if tools < 40 {
		t.Errorf("there are %d tools", tools)
	}
}

// withListed is a Toolcrib with a server whose definitions have forms that not every
// client reads.
func withListed(t testing.TB, e environment) []string {
	t.Helper()
	file, err := filepath.Abs("testdata/opm/listed.py")
	if err != nil {
		t.Fatal(err)
	}
	_, vars := home(t, fmt.Sprintf("mode: yolo\nhub: {wait: 2m}\nmcp_servers:\n  listed: {command: %q, args: [%q]}\n", e.python, file))
	return vars
}

// TestGenuineReaders: clients of others read all of our definitions, also those that we
// pass on, and our package for OpenVoiceOS shows them as they are.
func TestGenuineReaders(t *testing.T) {
	f := genuine(t)
	stable := personas(t)
	vars := withListed(t, f.base)
	want := shownNames(t, vars)
	if !slices.Contains(want["ovos"], "listed__listed") || !slices.Contains(want["ovos"], "list_directory") {
		t.Fatalf("the tools are %v", want)
	}
	for _, r := range []struct {
		name    string
		env     environment
		readers []string
	}{{"stable", stable, []string{"adapter"}}, {"newest", f.base, []string{"adapter", "fastmcp", "langchain", "models"}}} {
		var told map[string]map[string][]string
		r.env.script(t, slices.Concat(vars, []string{"PYTHONPATH=" + filepath.Join(ownPackage(t), "src")}), nil, &told, "readers.py", append([]string{toolcribPath(t)}, r.readers...)...)
		for _, reader := range r.readers {
			if diff := cmp.Diff(want, told[reader]); diff != "" {
				t.Errorf("%s, %s (-shown +read):\n%s", r.name, reader, diff)
			}
		}
	}
}

// TestGenuinePersonas: genuine personas with genuine engines work with our tools in
// process, by our package, and what they did is in the journal under the names that they used.
func TestGenuinePersonas(t *testing.T) {
	f := genuine(t)
	e := f.withOwn(t, personas(t))
	t.Run("unittest", func(t *testing.T) {
		cmd := exec.CommandContext(t.Context(), e.python, "-m", "unittest", "discover", "-s", filepath.Join(ownPackage(t), "tests"))
		cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "PYTHONDONTWRITEBYTECODE=1")
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "\nOK") {
			t.Errorf("%v\n%s", err, out)
		}
	})
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "notes.txt"), []byte("buy milk\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, vars := home(t, fmt.Sprintf("grant: {write: [%q]}\npermissions: {deny: [\"delete_file\"]}\n", dir))
	turns := []any{
		[]any{"evaluate_expression", map[string]any{"expression": "2**10"}},
		[]any{"read_file", map[string]any{"path": filepath.Join(dir, "notes.txt")}},
		[]any{"delete_file", map[string]any{"path": filepath.Join(dir, "notes.txt")}},
		[]any{"unit_convert", map[string]any{"value": 3}},
		[]any{"no_such_tool", map[string]any{}},
		"All done.",
	}
	var told []struct {
		Heard, Offered []string
		Answer         string
	}
	engines := []string{"ovos-react-loop", "ovos-native-toolcall-loop"}
	e.script(t, vars, map[string]any{
		"engines": engines, "turns": turns, "toolcrib": map[string]any{"command": []string{toolcribPath(t)}, "timeout": 120, "start_timeout": 60},
	}, &told, "persona.py")
	for i, engine := range engines {
		got := told[i]
		prefix := map[string]string{"ovos-react-loop": "Observation: "}[engine]
		want := []string{
			"Do it.",
			prefix + "result=1024.0 expression='2**10' error=None",
			prefix + fmt.Sprintf("content='buy milk\\n' path='%s'", filepath.Join(dir, "notes.txt")),
			prefix + "Not allowed: ",
			prefix + "The arguments do not fit: ",
			prefix + "Error: tool 'no_such_tool' not found.",
		}
		for j, text := range want {
			if j >= len(got.Heard) || !strings.HasPrefix(got.Heard[j], text) {
				t.Errorf("%s, turn %d: want %q, and the brain heard %q", engine, j+1, text, got.Heard)
				break
			}
		}
		if got.Answer != "All done." {
			t.Errorf("%s answers %q", engine, got.Answer)
		}
		if engine == "ovos-native-toolcall-loop" && !slices.Contains(got.Offered, "delete_file") == slices.Contains(got.Offered, "read_file") {
			t.Errorf("%s was offered %v", engine, got.Offered)
		}
	}
	t.Run("http", func(t *testing.T) {
		var told []struct{ Heard []string }
		e.script(t, vars, map[string]any{
			"engines": engines[:1], "turns": []any{turns[0], "Done."}, "toolcrib": map[string]any{"url": gateway(t, pureTools), "timeout": 120},
		}, &told, "persona.py")
		if last := told[0].Heard[len(told[0].Heard)-1]; last != "Observation: result=1024.0 expression='2**10'" {
			t.Errorf("the brain heard %q", last)
		}
	})
	wantJournal := []string{"evaluate_expression done", "read_file done", "delete_file denied", "unit_convert invalid"}
	wantJournal = append(wantJournal, wantJournal...)
	if diff := cmp.Diff(wantJournal, journalOf(t, vars)); diff != "" {
		t.Errorf("journal (-want +got):\n%s", diff)
	}
}

// journalOf is what the journal has of calls by our package, the oldest first.
func journalOf(t testing.TB, vars []string) (lines []string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), toolcribPath(t), "journal", "-o", "json")
	cmd.Env = vars
	text, err := cmd.Output()
	var records []struct {
		Tool, Outcome string
		Caller        struct{ Client, Dialect string }
	}
	if err == nil {
		err = json.Unmarshal(text, &records)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range slices.Backward(records) {
		lines = append(lines, r.Tool+" "+r.Outcome)
		if !strings.HasPrefix(r.Caller.Client, "toolcrib-ovos ") || r.Caller.Dialect != "ovos" {
			t.Errorf("%s is recorded as called by %+v", r.Tool, r.Caller)
		}
	}
	return lines
}
