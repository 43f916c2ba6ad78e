package script_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
	"github.com/toolcrib/toolcrib/internal/toolfile"
	"github.com/toolcrib/toolcrib/toolbox/script"
)

// TestMain: started again, this program prints its own arguments as JSON.
func TestMain(m *testing.M) {
	if os.Getenv("TELL_ARGUMENTS") != "" {
		if err := json.NewEncoder(os.Stdout).Encode(os.Args[1:]); err != nil {
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// runner runs programs as they are, without a sandbox. The program "tell" is this one.
func runner(ctx context.Context, p script.Program) (toolcrib.Exit, error) {
	words := slices.Clone(p.Words)
	if p.Self >= 0 {
		dir, err := os.MkdirTemp("", "script")
		if err != nil {
			return toolcrib.Exit{}, err
		}
		defer func() { _ = os.RemoveAll(dir) }()
		words[p.Self] = filepath.Join(dir, "s")
		if err := os.WriteFile(words[p.Self], p.File.Content, 0o700); err != nil {
			return toolcrib.Exit{}, err
		}
		words = append([]string{"/bin/sh"}, words...) // not by its first line: it was only just written
	}
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	if words[0] == "tell" {
		cmd.Path, cmd.Err = os.Args[0], nil
		cmd.Env = []string{"TELL_ARGUMENTS=1"}
	}
	for _, v := range slices.Concat(p.File.Env, p.Secrets) {
		cmd.Env = append(cmd.Env, v.Name+"="+v.Value)
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = p.Stdin, p.Stdout, p.Stderr
	err := cmd.Run()
	if failed := (*exec.ExitError)(nil); errors.As(err, &failed) {
		return toolcrib.Exit{Code: failed.ExitCode(), TimedOut: ctx.Err() != nil}, nil
	}
	return toolcrib.Exit{}, err
}

// open opens a folder with files in it.
func open(t testing.TB, files map[string]string, change func(*script.Config, *script.Needs)) (*script.Box, string) {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		save(t, filepath.Join(dir, name), content)
	}
	folder := toolfile.Folder{Dir: dir}
	cfg, needs := script.Config{Name: "tools", Every: 10 * time.Millisecond}, script.Needs{Files: folder.Read, Marks: folder.Marks, Run: runner}
	if change != nil {
		change(&cfg, &needs)
	}
	box, err := script.Open(t.Context(), cfg, needs)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := box.Close(); err != nil {
			t.Error(err)
		}
	})
	return box, dir
}

func save(t testing.TB, path, content string) {
	t.Helper()
	mode := os.FileMode(0o644)
	if strings.HasPrefix(content, "#!") {
		mode = 0o755
	}
	if err := os.WriteFile(path, []byte(content), mode); err != nil {
		t.Fatal(err)
	}
}

// crib serves a box.
func crib(t testing.TB, box *script.Box) *toolcrib.Crib {
	t.Helper()
	c := &toolcrib.Crib{Catalog: &toolcrib.Catalog{}, Journal: &cribtest.Memory{}, Guards: []toolcrib.Guard{cribtest.Allow()}}
	if _, faults := c.Catalog.Load(t.Context(), toolcrib.Contents{Boxes: []toolcrib.Toolbox{box}}); len(faults) > 0 {
		t.Fatal(faults)
	}
	if faults := box.Faults(); len(faults) > 0 {
		t.Fatal(faults)
	}
	return c
}

func call(t testing.TB, c *toolcrib.Crib, tool string, input any) (*toolcrib.Result, error) {
	t.Helper()
	text, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	return c.Call(context.Background(), toolcrib.Call{Tool: tool, Input: text, Caller: toolcrib.Caller{Subject: "test"}})
}

// told calls a tool that prints its arguments.
func told(t testing.TB, c *toolcrib.Crib, tool string, input any) []string {
	t.Helper()
	r, err := call(t, c, tool, input)
	if err != nil || r.Failed {
		t.Fatalf("%v, %v", r, err)
	}
	var words []string
	if err := json.Unmarshal([]byte(r.String()), &words); err != nil {
		t.Fatalf("%v: %s", err, r)
	}
	return words
}

// odd are values that a shell, or somebody who takes lines apart, would make something else of.
func odd(dir string) []string {
	return []string{
		"plain", "two words", " around ", "", "'", `"`, `'"'"`, `\`, `\n`, ";", "; touch " + dir + "/ran", "$(touch " + dir + "/ran)", "`touch " + dir + "/ran`",
		"$HOME", "${HOME}", "a\nb", "a\tb", "a\r\nb", "*", "?", "[a-z]", "~", "~root", "{a,b}", "{path}", "{{path}}", "}}", "| cat", "&& id", "> x", "#", "!", "%s", "%PATH%",
		"é", "日本語", "😀", "\u202e", "a\u0000b"[:1], "--", strings.Repeat("x", 100_000),
	}
}

const echo = `description: Tells what it was given.
args: {path: string}
command: [tell, --, "{path}", "pre{path}post", "{{path}}"]
effects: pure
`

func TestValuesAreOneWord(t *testing.T) {
	box, dir := open(t, map[string]string{"echo.yaml": echo}, nil)
	c := crib(t, box)
	for _, value := range odd(dir) {
		got := told(t, c, "echo", map[string]any{"path": value})
		if want := []string{"--", value, "pre" + value + "post", "{path}"}; !slices.Equal(got, want) {
			t.Errorf("%.100q became %.300q", value, got)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "ran")); err == nil {
		t.Error("something was run")
	}
}

func TestAnyValueIsOneWord(t *testing.T) {
	box, _ := open(t, map[string]string{"echo.yaml": echo}, func(_ *script.Config, n *script.Needs) {
		n.Run = func(_ context.Context, p script.Program) (toolcrib.Exit, error) {
			return toolcrib.Exit{}, json.NewEncoder(p.Stdout).Encode(p.Words[1:])
		}
	})
	c := crib(t, box)
	rapid.Check(t, func(rt *rapid.T) {
		value := strings.ReplaceAll(rapid.String().Draw(rt, "value"), "\x00", "")
		if got, want := told(t, c, "echo", map[string]any{"path": value}), []string{"--", value, "pre" + value + "post", "{path}"}; !slices.Equal(got, want) {
			rt.Fatalf("%q became %q", value, got)
		}
	})
}

func TestExpansion(t *testing.T) {
	const file = `description: x
args:
  unit?: string
  count: integer = 3
  tags?: string[]
  deep?: object
  all: boolean = false
  path?: {type: string, options: true}
command:
  - tell
  - "{all:--all}"
  - ["--unit", "{unit}"]
  - --count={count}
  - "--tag={tags}"
  - ["--tags", "{tags}"]
  - "{deep}"
  - "{path}"
  - ""
effects: pure
`
	box, _ := open(t, map[string]string{"x.yaml": file}, nil)
	c := crib(t, box)
	for _, one := range []struct {
		input map[string]any
		want  []string
	}{
		{map[string]any{}, []string{"--count=3", ""}},
		{map[string]any{"unit": "", "all": true}, []string{"--all", "--unit", "", "--count=3", ""}},
		{map[string]any{"unit": "a b", "count": -7}, []string{"--unit", "a b", "--count=-7", ""}},
		{map[string]any{"count": json.RawMessage("3.0")}, []string{"--count=3", ""}},
		{map[string]any{"count": json.RawMessage("-2e2")}, []string{"--count=-200", ""}},
		{map[string]any{"count": json.RawMessage("12345678901234567890")}, []string{"--count=12345678901234567890", ""}},
		{map[string]any{"tags": []string{"a", "b c"}}, []string{"--count=3", "--tag=a", "--tag=b c", "--tags", "a", "b c", ""}},
		{map[string]any{"tags": []string{}}, []string{"--count=3", ""}},
		{map[string]any{"deep": map[string]any{"a": []int{1, 2}}}, []string{"--count=3", `{"a":[1,2]}`, ""}},
		{map[string]any{"path": "-rf"}, []string{"--count=3", "-rf", ""}},
	} {
		if d := cmp.Diff(one.want, told(t, c, "x", one.input)); d != "" {
			t.Errorf("%v: %s", one.input, d)
		}
	}
}

// TestOptionsAreRefused: a value that begins with a dash does not become an option.
func TestOptionsAreRefused(t *testing.T) {
	const head = "description: x\neffects: pure\n"
	box, _ := open(t, map[string]string{
		"open.yaml":     head + "args: {a: string}\ncommand: [tell, '{a}']\n",
		"pair.yaml":     head + "args: {a: string}\ncommand: [tell, ['-u', '{a}']]\n",
		"two.yaml":      head + "args: {a: string, b: string}\ncommand: [tell, '{a}{b}']\n",
		"list.yaml":     head + "args: {a: 'string[]'}\ncommand: [tell, '{a}']\n",
		"any.yaml":      head + "args: {a: {type: [string, integer]}}\ncommand: [tell, '{a}']\n",
		"enum.yaml":     head + "args: {a: {enum: [-x, y]}}\ncommand: [tell, '{a}']\n",
		"closed.yaml":   head + "args: {a: string}\ncommand: [tell, --, '{a}']\n",
		"passed.yaml":   head + "args: {a: string}\ncommand: [env, --, tell, '{a}']\n",
		"prefixed.yaml": head + "args: {a: string}\ncommand: [tell, 'x={a}']\n",
		"numbers.yaml":  head + "args: {a: number, b: integer}\ncommand: [tell, '{a}', '{b}']\n",
		"said.yaml":     head + "args: {a: {type: string, options: true}}\ncommand: [tell, '{a}']\n",
		"own.sh":        "#!/bin/sh\n# toolcrib:\n#   description: x\n#   args: {a: string}\n#   effects: pure\n\nprintf '[\"%s\"]' \"$1\"\n",
		"before.sh":     "#!/bin/sh\n# toolcrib:\n#   description: x\n#   args: {a: string}\n#   effects: pure\n#   command: [sh, '{a}', '{script}']\n\nprintf '[]'\n",
	}, nil)
	c := crib(t, box)
	for tool, input := range map[string]map[string]any{
		"open": {"a": "-rf"}, "pair": {"a": "--output=/x"}, "two": {"a": "", "b": "-x"}, "list": {"a": []string{"ok", "-x"}}, "any": {"a": "-x"}, "enum": {"a": "-x"}, "before": {"a": "-c"}, "passed": {"a": "-rf"},
	} {
		r, err := call(t, c, tool, input)
		if toolcrib.CodeOf(err) != toolcrib.CodeInvalid || !strings.Contains(err.Error(), "begins with a dash") {
			t.Errorf("%s: %v, %v", tool, r, err)
		}
	}
	for tool, input := range map[string]map[string]any{
		"open": {"a": "a-b"}, "closed": {"a": "-rf"}, "prefixed": {"a": "-rf"}, "numbers": {"a": -1.5, "b": -2}, "any": {"a": -3}, "said": {"a": "-rf"}, "own": {"a": "-rf"},
	} {
		told(t, c, tool, input)
	}
}

// TestUnreadableScript: a script that cannot be read is told, although nobody knows that it is one.
func TestUnreadableScript(t *testing.T) {
	box, err := script.Open(t.Context(), script.Config{Name: "tools"}, script.Needs{Marks: func() string { return "" }, Files: func() ([]toolfile.Source, error) {
		return []toolfile.Source{{Path: "a.sh", Executable: true, Err: errors.New("locked")}, {Path: "data", Err: errors.New("long")}}, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := box.Tools(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := box.Faults(); len(got) != 1 || !strings.Contains(got[0].Error(), "locked") {
		t.Errorf("%v", got)
	}
}

func TestWhatNoProgramTakes(t *testing.T) {
	box, _ := open(t, map[string]string{
		"echo.yaml": echo,
		"many.yaml": "description: x\neffects: pure\nargs: {a: 'string[]'}\ncommand: [tell, '{a}']\n",
	}, nil)
	c := crib(t, box)
	for name, one := range map[string]struct {
		tool  string
		input map[string]any
		says  string
	}{
		"NUL":      {"echo", map[string]any{"path": "a\x00b"}, "NUL"},
		"one word": {"echo", map[string]any{"path": strings.Repeat("x", 128<<10)}, "stdin: json"},
		"all":      {"many", map[string]any{"a": slices.Repeat([]string{strings.Repeat("x", 100<<10)}, 20)}, "stdin: json"},
	} {
		r, err := call(t, c, one.tool, one.input)
		if toolcrib.CodeOf(err) != toolcrib.CodeInvalid || !strings.Contains(err.Error(), one.says) {
			t.Errorf("%s: %v, %v", name, r, err)
		}
	}
}

// TestSchemaIsEnforced: the contract is the file's, and what does not fit it reaches no program.
func TestSchemaIsEnforced(t *testing.T) {
	box, _ := open(t, map[string]string{"x.yaml": "description: x\neffects: pure\nargs: {n: integer, 'unit?': a | b}\ncommand: [tell, '{n}', '{unit}']\n"}, func(_ *script.Config, n *script.Needs) {
		n.Run = func(context.Context, script.Program) (toolcrib.Exit, error) { panic("it ran") }
	})
	c := crib(t, box)
	for _, input := range []map[string]any{{}, {"n": "x"}, {"n": 1, "unit": "c"}, {"n": 1, "more": true}} {
		if r, err := call(t, c, "x", input); toolcrib.CodeOf(err) != toolcrib.CodeInvalid {
			t.Errorf("%v: %v, %v", input, r, err)
		}
	}
}

func TestToolbox(t *testing.T) {
	cribtest.Toolbox(t, func(t testing.TB) toolcrib.Toolbox {
		box, _ := open(t, map[string]string{
			"count.yaml": "description: Counts what it is given.\nargs:\n  words: {type: array, items: {type: string}, description: What is counted.}\ncommand: [sh, -c, 'echo \"{{\\\"count\\\": $#}}\"', sh, '{words}']\neffects: pure\nresult: {type: object, properties: {count: {type: integer}}, required: [count]}\n",
			"hello.sh":   "#!/bin/sh\n# toolcrib:\n#   description: Greets somebody.\n#   args:\n#     name: {type: string, description: Who.}\n#   effects: pure\n#   stdin: json\n#   result: {type: object, properties: {greeting: {type: string}}}\n\necho '{\"greeting\": \"hello\"}'\n",
		}, nil)
		return box
	})
}

func TestManyAtOnce(t *testing.T) {
	box, _ := open(t, map[string]string{"echo.yaml": echo}, nil)
	c := crib(t, box)
	var wg sync.WaitGroup
	for i := range 40 {
		wg.Go(func() {
			value := fmt.Sprint("call ", i)
			r, err := call(t, c, "echo", map[string]any{"path": value})
			if err != nil || !strings.Contains(r.String(), `"`+value+`"`) {
				t.Errorf("%v, %v", r, err)
			}
		})
	}
	wg.Wait()
}
