package script_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/toolfile"
	"github.com/toolcrib/toolcrib/toolbox/script"
)

const header = "#!/bin/sh\n# toolcrib:\n#   description: x\n#   effects: [pure, secrets]\n#   "

// says runs a script that does something.
func says(t *testing.T, header, body string, input map[string]any, change func(*script.Config, *script.Needs)) (*toolcrib.Result, error) {
	t.Helper()
	box, _ := open(t, map[string]string{"x.sh": header + "\n\n" + body + "\n"}, change)
	if input == nil {
		input = map[string]any{}
	}
	return call(t, crib(t, box), "x", input)
}

func TestAnswers(t *testing.T) {
	const object = "result: {type: object, properties: {n: {type: integer}}, required: [n]}"
	for name, c := range map[string]struct {
		header, body string
		failed       bool
		says         string
	}{
		"text":          {"group: x", "echo hello; echo noise >&2", false, "hello"},
		"not UTF-8":     {"group: x", `printf 'a\377b'`, false, "a\uFFFDb"},
		"exit":          {"group: x", "echo out; echo the reason >&2; exit 3", true, "status 3:\nthe reason"},
		"exit, silent":  {"group: x", "echo only this; exit 1", true, "only this"},
		"long errors":   {"group: x", "i=0; while [ $i -lt 3000 ]; do echo line $i >&2; i=$((i+1)); done; exit 1", true, "line 2999"},
		"JSON":          {"output: json", `echo '{"a": [1, 2]}'`, false, `{"a": [1, 2]}`},
		"JSON, a list":  {"output: json", `echo '[1]'`, false, `[1]`},
		"no JSON":       {"output: json", "echo hello", true, "It printed: hello"},
		"nothing":       {"output: json", ":", true, "what it printed is none"},
		"two values":    {"output: json", "echo 1 2", true, "what it printed is none"},
		"fits":          {object, `echo '{"n": 1}'`, false, `{"n": 1}`},
		"does not fit":  {object, `echo '{"n": "x"}'`, true, "does not fit"},
		"nothing of it": {object, `echo '{}'`, true, "does not fit"},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := says(t, header+c.header, c.body, nil, nil)
			if err != nil || r.Failed != c.failed || !strings.Contains(r.String(), c.says) {
				t.Errorf("%v, %v", r, err)
			}
			if r != nil && len(r.String()) > 6000 {
				t.Errorf("%d bytes were told", len(r.String()))
			}
			if !c.failed && strings.Contains(c.header, "json") && string(r.Value) != strings.TrimSpace(r.String()) {
				t.Errorf("the value is %s", r.Value)
			}
		})
	}
}

func TestOutputIsBounded(t *testing.T) {
	small := func(c *script.Config, _ *script.Needs) { c.Output = 100 }
	r, err := says(t, header+"group: x", "i=0; while [ $i -lt 1000 ]; do echo line; i=$((i+1)); done", nil, small)
	if err != nil || r.Failed || len(r.String()) > 200 || !strings.Contains(r.String(), "4900 more bytes are left out") {
		t.Errorf("%v, %v", r, err)
	}
	r, err = says(t, header+"output: json", `printf '"%0200d"' 1`, nil, small)
	if err != nil || !r.Failed || !strings.Contains(r.String(), "more than 100 bytes") {
		t.Errorf("%v, %v", r, err)
	}
}

func TestInputs(t *testing.T) {
	args := "args: {a: string, 'b?': integer, c: 'string[] = []'}\n#   "
	for name, c := range map[string]struct {
		header string
		body   string
		input  map[string]any
		want   string
	}{
		"closed":          {args, "cat", map[string]any{"a": "x"}, ""},
		"JSON":            {args + "stdin: json", "cat; echo $#", map[string]any{"a": "x'\"\n"}, `{"a":"x'\"\n","c":[]}0`},
		"text":            {"args: {a: string, 'b?': integer}\n#   stdin: 'a is {a}, b is {b}, {{}}'", "cat", map[string]any{"a": "$(id)"}, "a is $(id), b is , {}"},
		"positional":      {args, `echo "$#|$1|$2|$3|$4"`, map[string]any{"a": "x y", "c": []string{"1 2", "3"}}, "4|x y||1 2|3"},
		"defaults":        {args, `echo "$#|$1|$2"`, map[string]any{"a": "-x", "b": -4}, "2|-x|-4"},
		"a list not last": {"args: {c: 'string[]', a: string}\n#   ", `echo "$#|$1|$2"`, map[string]any{"a": "x", "c": []string{"1 2", "3"}}, `2|["1 2","3"]|x`},
		"self":            {"args: {a: string}\n#   command: [sh, -e, '{script}', '--', '{a}']", `echo "$#|$1|$2"`, map[string]any{"a": "-x"}, "2|--|-x"},
	} {
		t.Run(name, func(t *testing.T) {
			run := func(cfg *script.Config, n *script.Needs) {
				inner := n.Run
				n.Run = func(ctx context.Context, p script.Program) (toolcrib.Exit, error) {
					if p.Self > 0 { // "sh -e {script}" as it stands
						p.Words, p.Self = p.Words[p.Self:], 0
					}
					return inner(ctx, p)
				}
			}
			r, err := says(t, header+c.header, c.body, c.input, run)
			if err != nil || r.Failed || strings.TrimSpace(r.String()) != c.want {
				t.Errorf("%v, %v", r, err)
			}
		})
	}
}

func TestSecretsAreVariables(t *testing.T) {
	const file = header + "secrets: {TOKEN: my-token}"
	r, err := says(t, file, `echo "$TOKEN"`, nil, func(_ *script.Config, n *script.Needs) {
		n.Secret = func(_ context.Context, env *toolcrib.Env, tool, name string) (string, error) {
			return name + " for " + tool + " of " + env.Call.Caller.Subject, nil
		}
	})
	if err != nil || strings.TrimSpace(r.String()) != "my-token for x of test" {
		t.Errorf("%v, %v", r, err)
	}
	ran := false
	refuse := func(_ *script.Config, n *script.Needs) {
		n.Secret = func(context.Context, *toolcrib.Env, string, string) (string, error) {
			return "", &toolcrib.Error{Code: toolcrib.CodeDenied, Message: "no"}
		}
		n.Run = func(context.Context, script.Program) (toolcrib.Exit, error) { ran = true; return toolcrib.Exit{}, nil }
	}
	if _, err := says(t, file, "", nil, refuse); toolcrib.CodeOf(err) != toolcrib.CodeDenied || ran {
		t.Errorf("it ran without its secret: %v", err)
	}
	if _, err := says(t, file, "", nil, nil); toolcrib.CodeOf(err) != toolcrib.CodeUnavailable {
		t.Errorf("without a vault: %v", err)
	}
}

func TestTimeout(t *testing.T) {
	_, err := says(t, header+"timeout: 50ms", "sleep 30", nil, func(_ *script.Config, n *script.Needs) {
		n.Run = func(ctx context.Context, _ script.Program) (toolcrib.Exit, error) {
			<-ctx.Done()
			return toolcrib.Exit{TimedOut: true, Code: 137, Signal: "SIGKILL"}, nil
		}
	})
	if toolcrib.CodeOf(err) != toolcrib.CodeTimeout {
		t.Errorf("%v", err)
	}
}

// TestChanges: a saved file is a tool soon, a broken one is told, and the others stay.
func TestChanges(t *testing.T) {
	box, dir := open(t, map[string]string{"one.yaml": "description: x\ncommand: [ls]\n"}, nil)
	changed := make(chan struct{}, 100)
	stop := box.Notify(func() { changed <- struct{}{} })
	defer stop()
	names := func() string {
		tools, err := box.Tools(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var list []string
		for _, tool := range tools {
			list = append(list, tool.Name)
		}
		return strings.Join(list, " ")
	}
	await := func(want string) {
		t.Helper()
		deadline := time.After(20 * time.Second)
		for names() != want {
			select {
			case <-changed:
			case <-deadline:
				t.Fatalf("there is %q, want %q", names(), want)
			}
		}
	}
	await("one")
	save(t, filepath.Join(dir, "two.sh"), header+"group: x\n\necho hello\n")
	await("one two")
	save(t, filepath.Join(dir, "one.yaml"), "description: x\ncommand: ls\n")
	await("two")
	if faults := box.Faults(); len(faults) != 1 || faults[0].Tool != "one" || !strings.Contains(faults[0].Err.Error(), "one.yaml:2: command: expected a list") {
		t.Errorf("%v", faults)
	}
	save(t, filepath.Join(dir, "one.yaml"), "description: y\ncommand: [ls, -l]\n")
	await("one two")
}

func TestFaults(t *testing.T) {
	good := "description: x\ncommand: [ls]\n"
	box, dir := open(t, map[string]string{
		"good.yaml": good, "same.yaml": "name: good\n" + good, "README.md": "# toolcrib:\n", "lib.py": "x = 1\n", "plain.sh": "#!/bin/sh\necho\n",
		"host.yaml": good + "sandbox: host\n", "other.yaml": good,
	}, func(c *script.Config, n *script.Needs) {
		c.Foreign = true
		n.Trusted = func(path string, content []byte) bool { return filepath.Base(path) != "other.yaml" && len(content) > 0 }
	})
	save(t, filepath.Join(dir, "noexec"), "# toolcrib:\n#   description: x\n")
	tools, err := box.Tools(t.Context())
	if err != nil || len(tools) != 1 || tools[0].Name != "good" {
		t.Fatalf("%v, %v", tools, err)
	}
	told := map[string]string{}
	for _, f := range box.Faults() {
		told[f.Tool] += f.Err.Error()
	}
	for tool, says := range map[string]string{
		"good": "already declared in good.yaml", "host": "in a sandbox", "other.yaml": "not trusted: toolcrib trust shows it", "noexec": "chmod +x",
	} {
		if !strings.Contains(told[tool], says) {
			t.Errorf("%s: %q", tool, told[tool])
		}
	}
	if len(told) != 4 {
		t.Errorf("%v", told)
	}
	box, _ = open(t, nil, func(_ *script.Config, n *script.Needs) {
		n.Files = func() ([]toolfile.Source, error) { return nil, errors.New("it is closed") }
	})
	if _, err := box.Tools(t.Context()); err == nil {
		t.Error("a folder that cannot be read has no tools")
	}
}
