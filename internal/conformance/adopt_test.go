package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib/internal/ovos/bus"
)

// household is a home with a genuine bus, its settings, and what is installed.
type household struct {
	env    environment
	home   string
	vars   []string
	url    string
	client *bus.Client
}

func newHousehold(t *testing.T) household {
	t.Helper()
	f, base := genuine(t), nextAssistant(t)
	base.pip = f.base.pip
	a := household{env: f.with(t, base, "odd")}
	a.home, a.vars = home(t, "# mine\nlog: {level: warn}\n")
	for _, name := range []string{"CONFIG", "CACHE", "DATA", "STATE"} {
		a.vars = append(a.vars, "XDG_"+name+"_HOME="+filepath.Join(a.home, strings.ToLower(name)))
	}
	a.vars = append(a.vars, "PYTHONUNBUFFERED=1", "XDG_RUNTIME_DIR="+filepath.Join(a.home, "run"))
	address := freeAddress(t)
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"config/mycroft", "run"} {
		if err := os.MkdirAll(filepath.Join(a.home, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	conf := fmt.Sprintf(`{
  // where the bus is
  "websocket": {"host": "127.0.0.1", "port": %s},
  "PHAL": {
    "ovos-phal-plugin-tools": {
      # where files are
      "ovos-filesystem-tools": {"root_path": %q}
    }
  }
}
`, port, t.TempDir())
	if err := os.WriteFile(a.conf(), []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	a.python(t, "ovos_messagebus").await(t, `(service started)`)
	a.url = "ws://" + address + "/core"
	if a.client, err = bus.Open(bus.ClientConfig{URL: a.url, ConnectWait: time.Minute}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.client.Close() }) // the bus ends anyway
	return a
}

func (a household) conf() string { return filepath.Join(a.home, "config", "mycroft", "mycroft.conf") }

// python starts a module.
func (a household) python(t *testing.T, module string) *program {
	t.Helper()
	cmd := exec.Command(a.env.python, "-m", module)
	cmd.Env, cmd.Dir = a.vars, a.home
	return launch(t, cmd)
}

// toolcrib runs the program to its end.
func (a household) toolcrib(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command(toolcribPath(t), args...)
	cmd.Env, cmd.Dir = a.vars, a.home
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("toolcrib %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// answers are what requests that a voice assistant makes are answered with.
func (a household) answers(t *testing.T) map[string]any {
	t.Helper()
	all := map[string]any{}
	for _, request := range []struct{ topic, data string }{
		{"ovos.tools.get", `{"name": "unit_convert"}`},
		{"ovos.tools.invoke", `{"name": "evaluate_expression", "args": {"expression": "6*7"}}`},
		{"ovos.tools.invoke", `{"name": "echo", "args": {"text": "a", "number": "1e3"}}`},
		{"ovos.tools.invoke", `{"name": "write_file", "args": {"path": "a.txt", "content": "hello"}}`},
		{"ovos.tools.invoke", `{"name": "read_file", "args": {"path": "a.txt"}}`},
		{"ovos.tools.invoke", `{"name": "read_file", "args": {"path": "/etc/passwd"}}`},
		{"ovos.tools.invoke", `{"name": "run_command", "args": {"command": "ls"}}`},
		{"ovos.tools.invoke", `{"name": "nothing"}`},
		{"ovos.persona.tools.ovos-math-tools.call", `{"name": "unit_convert", "kwargs": {"value": 10, "from_unit": "km", "to_unit": "mi"}}`},
		{"ovos.persona.tools.odd-tools.call", `{"name": "echo", "kwargs": {"text": 1}}`},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		m, err := a.client.Ask(ctx, bus.Message{Type: request.topic, Data: json.RawMessage(request.data)}, bus.Answer{})
		cancel()
		var got map[string]any
		if err != nil || json.Unmarshal(m.Data, &got) != nil {
			t.Fatalf("%s %s: %v, %s", request.topic, request.data, err, m.Data)
		}
		delete(got, "detail") // what only we say besides
		delete(got, "spoken")
		all[request.topic+" "+request.data] = got
	}
	maps.Copy(all, a.results(t))
	return all
}

// pageCalls are the calls that the page about all this has people make.
func pageCalls(t *testing.T) [][]string {
	t.Helper()
	text, err := os.ReadFile("../../docs/replacing-phal.md")
	if err != nil {
		t.Fatal(err)
	}
	var list [][]string
	for line := range strings.Lines(string(text)) {
		if call, is := strings.CutPrefix(strings.TrimSpace(line), "toolcrib bus call "); is {
			list = append(list, append([]string{"bus", "call"}, strings.Fields(strings.ReplaceAll(call, "'", ""))...))
		}
	}
	if len(list) != 3 {
		t.Fatalf("the page has %d calls", len(list))
	}
	return list
}

// results are what the calls of the page print.
func (a household) results(t *testing.T) map[string]any {
	t.Helper()
	all := map[string]any{}
	for _, call := range pageCalls(t) {
		var got any
		out := a.toolcrib(t, append(call, "--url", a.url, "--window", "30s")...)
		if err := json.Unmarshal([]byte(out), &got); err != nil {
			t.Fatalf("%v: %v: %s", call, err, out)
		}
		all[strings.Join(call, " ")] = got
	}
	return all
}

// TestGenuineAdopt: the genuine service with the plugin answers; after the move in, a
// toolcrib answers the same requests with the same results; after the undo the plugin
// answers again, and both files are as they were.
func TestGenuineAdopt(t *testing.T) {
	a := newHousehold(t)
	files := func() string {
		var all string
		for _, file := range []string{a.conf(), filepath.Join(a.home, "config.yaml")} {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			all += string(text) + "\x00"
		}
		return all
	}
	original := files()
	var before map[string]any
	t.Run("before", func(t *testing.T) {
		a.python(t, "ovos_PHAL").await(t, `(PHAL is ready)`)
		before = a.answers(t)
	})
	if len(before) == 0 {
		t.FailNow()
	}
	shown := a.toolcrib(t, "bus", "adopt", "--dry-run", "--no-service", "--python", a.env.dir)
	for _, want := range []string{"Toolcrib, box math", "odd-tools", "Toolcrib, the same Python code", "PHAL, ovos-agentic-loop"} {
		if !strings.Contains(shown, want) {
			t.Errorf("it does not show %q:\n%s", want, shown)
		}
	}
	if files() != original {
		t.Error("it was done without a word")
	}
	a.toolcrib(t, "bus", "adopt", "--yes", "--no-service", "--python", a.env.dir)
	t.Run("after", func(t *testing.T) {
		a.python(t, "ovos_PHAL").await(t, `(PHAL is ready)`)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if m, err := a.client.Ask(ctx, bus.Message{Type: "ovos.tools.list", Data: json.RawMessage(`{}`)}, bus.Answer{}); err == nil {
			t.Errorf("the plugin serves still: %s", m.Data)
		}
		cmd := exec.Command(toolcribPath(t), "bus", "serve")
		cmd.Env, cmd.Dir = a.vars, a.home
		serves := launch(t, cmd)
		for limit := time.Now().Add(time.Minute); ; { // it says so before it is connected
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			_, err := a.client.Ask(ctx, bus.Message{Type: "ovos.tools.get", Data: json.RawMessage(`{"name": "echo"}`)}, bus.Answer{})
			if cancel(); err == nil {
				break
			}
			if time.Now().After(limit) {
				t.Fatalf("nobody answers: %v\n%s", err, serves.log)
			}
		}
		after := a.answers(t)
		for request, want := range before {
			if got := after[request]; !reflect.DeepEqual(got, want) {
				t.Errorf("%s: got\n%v\nwant\n%v", request, got, want)
			}
		}
	})
	a.toolcrib(t, "bus", "adopt", "--undo")
	if got := files(); got != original {
		t.Errorf("undone, the files are\n%s", got)
	}
	t.Run("undone", func(t *testing.T) {
		a.python(t, "ovos_PHAL").await(t, `(PHAL is ready)`)
		if got := a.answers(t); !reflect.DeepEqual(got, before) {
			t.Errorf("got\n%v\nwant\n%v", got, before)
		}
	})
}
