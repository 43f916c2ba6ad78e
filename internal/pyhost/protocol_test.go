package pyhost_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

const oneTool = `
def add(a: int, b: int = 2) -> int:
    """Adds."""
    return a + b
`

// The host must run on Python 3.9, wherever the test runs.
func TestGrammarOfPython39(t *testing.T) {
	check := "import ast, sys\nast.parse(open(sys.argv[1], encoding='utf-8').read(), feature_version=(3, 9))"
	if out, err := exec.Command(python(t), "-c", check, hostFile(t)).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

func TestOnlyTheStandardLibrary(t *testing.T) {
	// -I and -S: no site packages at all.
	file := write(t, t.TempDir(), "tools.py", oneTool)
	cmd := exec.Command(python(t), "-I", "-S", hostFile(t), "serve", "--file", file)
	cmd.Stdin = strings.NewReader("")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

func TestVersionNegotiation(t *testing.T) {
	p := serve(t, `"""What this file is for."""`+oneTool)
	for asked, want := range map[string]string{
		"2025-11-25": "2025-11-25",
		"2025-06-18": "2025-06-18",
		"2025-03-26": "2025-03-26",
		"2024-11-05": "2024-11-05",
		"2099-01-01": "2025-11-25",
		"":           "2025-11-25",
	} {
		m := p.ask("initialize", map[string]any{"protocolVersion": asked, "capabilities": map[string]any{}})
		if m.Result == nil || m.Result.ProtocolVersion != want {
			t.Errorf("asked for %q: %s", asked, m.line)
			continue
		}
		if m.Result.ServerInfo["name"] != "tools" || m.Result.Instructions != "What this file is for." || m.Result.Capabilities["tools"] == nil {
			t.Errorf("initialize: %s", m.line)
		}
	}
	p.line(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	if m := p.ask("ping", nil); m.line != `{"jsonrpc":"2.0","id":7,"result":{}}`+"\n" {
		t.Errorf("ping: %s", m.line)
	}
}

func TestLinesThatAreWrong(t *testing.T) {
	p := serve(t, oneTool)
	for line, code := range map[string]int{
		`{`:                                   -32700,
		`nonsense`:                            -32700,
		`1`:                                   -32600,
		`[]`:                                  -32600,
		`{}`:                                  -32600,
		`{"jsonrpc":"2.0","id":1,"method":5}`: -32600,
		`{"jsonrpc":"2.0","id":{},"method":"ping"}`:                                              -32600,
		`{"jsonrpc":"2.0","id":null,"method":"ping"}`:                                            -32600,
		`{"jsonrpc":"2.0","id":1,"method":"nope"}`:                                               -32601,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call"}`:                                         -32602,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[]}`:                             -32602,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"adds"}}`:                -32602,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":["add"]}}`:               -32602,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","arguments":[1]}}`: -32602,
		`[1]`:                       -32600,
		"\xff\xfe{":                 -32700,
		strings.Repeat("[", 100000): -32700,
	} {
		p.line(line)
		m := p.receive()
		if m.Error == nil || m.Error.Code != code || m.Error.Message == "" {
			t.Errorf("%.80q: wanted the error %d, got %.200s", line, code, m.line)
		}
	}
	for _, line := range []string{
		``, `   `,
		`{"jsonrpc":"2.0","id":1,"result":{}}`,
		`{"jsonrpc":"2.0","method":"notifications/whatever","params":7}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":[]}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":12345}}`,
	} {
		p.line(line)
	}
	if m := p.ask("ping", nil); m.Error != nil { // and nothing came before it
		t.Errorf("ping: %s", m.line)
	}
	p.line(`{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"adds"}}`)
	if m := p.receive(); m.Error == nil || !strings.Contains(m.Error.Message, "did you mean add?") {
		t.Errorf("an unknown tool: %s", m.line)
	}
}

func TestBatch(t *testing.T) {
	p := serve(t, oneTool)
	p.line(`[{"jsonrpc":"2.0","id":"a","method":"ping"},{"jsonrpc":"2.0","id":"b","method":"tools/call","params":{"name":"add","arguments":{"a":1}}}]`)
	got := map[string]bool{}
	for range 2 {
		got[string(p.receive().ID)] = true
	}
	if !got[`"a"`] || !got[`"b"`] {
		t.Errorf("answered: %v", got)
	}
}

func TestFileThatCannotBeLoaded(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"syntax":    {"x = 1\ndef f(:\n", "tools.py, line 2 could not be loaded: SyntaxError:"},
		"raise":     {"\n\nraise ValueError('no luck')\n", "tools.py, line 3 could not be loaded: ValueError: no luck"},
		"import":    {"import there_is_no_such_module\n", "tools.py, line 1 could not be loaded: ModuleNotFoundError: No module named 'there_is_no_such_module'"},
		"exit":      {"import sys\nsys.exit(4)\n", "tools.py, line 2 could not be loaded: SystemExit: the tool tried to end the process (4)"},
		"interrupt": {"raise KeyboardInterrupt\n", "KeyboardInterrupt"},
		"null":      {"x = '\x00'", "could not be loaded"},
	} {
		t.Run(name, func(t *testing.T) {
			p := serve(t, c.text)
			m := p.ask("initialize", map[string]any{"protocolVersion": "2025-11-25"})
			if m.Error == nil || !strings.Contains(m.Error.Message, c.want) {
				t.Errorf("initialize: %s", m.line)
			}
			if strings.Contains(m.line, "Traceback") || strings.Contains(m.line, t.Name()) {
				t.Errorf("the answer shows a traceback or a place: %s", m.line)
			}
			if m := p.ask("ping", nil); m.Error != nil {
				t.Errorf("ping: %s", m.line)
			}
			_ = p.in.Close()
			if err := p.end(); err == nil || p.cmd.ProcessState.ExitCode() != 1 {
				t.Errorf("the host ended with %v", err)
			}
			if !p.logged("Traceback") {
				t.Errorf("the log has no traceback: %s", p.log())
			}
		})
	}
	p := start(t, "serve", "--file", filepath.Join(t.TempDir(), "gone.py"))
	if m := p.ask("initialize", nil); m.Error == nil || !strings.Contains(m.Error.Message, "gone.py could not be read") {
		t.Errorf("a file that is not there: %s", m.line)
	}
}

func TestModule(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "mytools/__init__.py", "__version__ = '4.5'\nfrom .inner import double\n__all__ = ['double']\n")
	write(t, dir, "mytools/inner.py", "def double(x: float) -> float:\n    'Doubles.'\n    return 2 * x\n")
	p := start(t, "serve", "--module", "mytools", "--path", dir)
	if m := p.ask("initialize", nil); m.Result == nil || m.Result.ServerInfo["version"] != "4.5" || m.Result.ServerInfo["name"] != "mytools" {
		t.Errorf("initialize: %s", m.line)
	}
	if got := p.call("double", map[string]any{"x": 4}).text(); got != "8.0" {
		t.Errorf("double: %q", got)
	}
}

// A folder may hold files that nobody has trusted: what lies beside a tool file is not imported.
func TestTheFoldersBesideAreNotImported(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "json.py", "raise SystemExit('the wrong json')\n")
	write(t, dir, "beside.py", "x = 1\n")
	file := write(t, dir, "tools.py", "import json\ntry:\n    import beside\nexcept ImportError:\n    beside = None\ndef found() -> bool:\n    json.dumps(1)\n    return beside is not None\n")
	p := start(t, "serve", "--file", file)
	if got := p.call("found", nil).text(); got != "false" {
		t.Errorf("a file beside was imported: %q", got)
	}
	p = start(t, "serve", "--file", file, "--path", dir)
	if got := p.call("found", nil).text(); got != "true" {
		t.Errorf("--path: %q", got)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 4 {
		t.Errorf("the folder was written to: %v %v", entries, err)
	}
}

func TestListOPMIsOneObject(t *testing.T) {
	out, err := exec.Command(python(t), hostFile(t), "list", "--opm").Output()
	var listed struct {
		Toolboxes []json.RawMessage `json:"toolboxes"`
		Skills    []json.RawMessage `json:"skills"`
	}
	if err != nil || json.Unmarshal(out, &listed) != nil || listed.Toolboxes == nil || listed.Skills == nil {
		t.Errorf("%v: %s", err, out)
	}
}

// busy has threads that never stop and a child that would stay.
const busy = `
import threading, time, subprocess, sys

def spin():
    while True:
        pass

threading.Thread(target=spin).start()
child = None

def hang() -> str:
    try:
        time.sleep(3600)
    finally:
        pass

def hatch() -> int:
    global child
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"])
    return child.pid
`

func TestEndOfInputEndsTheProcess(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(p *process){
		"end of input": func(p *process) { _ = p.in.Close() },
		"SIGTERM":      func(p *process) { _ = p.cmd.Process.Signal(syscall.SIGTERM) },
	} {
		t.Run(name, func(t *testing.T) {
			if onWindows() {
				return // signals and /proc are not there
			}
			p := serve(t, busy)
			child := p.call("hatch", nil).text()
			p.send("tools/call", map[string]any{"name": "hang"})
			p.ask1("ping")
			began := time.Now()
			end(p)
			if err := p.end(); err != nil {
				t.Errorf("the host ended with %v", err)
			}
			t.Logf("ended after %v", time.Since(began))
			if gone := waitGone(child); !gone {
				t.Errorf("the child %s is still there", child)
			}
		})
	}
}

func TestEndOfInputWhileLoading(t *testing.T) {
	t.Parallel()
	p := serve(t, "import time\ntime.sleep(3600)\n")
	_ = p.in.Close()
	if err := p.end(); err != nil {
		t.Errorf("the host ended with %v", err)
	}
}

// ask1 asks when other answers may come first.
func (p *process) ask1(method string) {
	p.t.Helper()
	id, _ := json.Marshal(p.send(method, nil))
	for {
		if m := p.receive(); string(m.ID) == string(id) {
			return
		}
	}
}

// waitGone says whether a process of Linux has ended; elsewhere it cannot be told this way.
func waitGone(pid string) bool {
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		stat, err := os.ReadFile("/proc/" + pid + "/stat")
		if err != nil || strings.Contains(string(stat), ") Z ") {
			return true
		}
	}
	return false
}
