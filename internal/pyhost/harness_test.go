package pyhost_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib/internal/pyhost"
)

// patience is how long a test waits for anything: far more than a loaded machine needs.
const patience = 60 * time.Second

// interpreter is the Python of this machine, by its own path: what is found in
// PATH may be a script that takes its time to choose one.
var interpreter = sync.OnceValue(func() string {
	for _, name := range []string{"python3", "python"} {
		if out, err := exec.Command(name, "-c", "import sys; print(sys.executable)").Output(); err == nil {
			return strings.TrimSpace(string(out))
		}
	}
	return ""
})

// python gives the interpreter. Without one the tests fail: they prove nothing then.
func python(t testing.TB) string {
	t.Helper()
	if interpreter() == "" {
		t.Fatal("the tests of the Python host need python3")
	}
	return interpreter()
}

// hostFile writes host.py to a folder of the test.
func hostFile(t testing.TB) string {
	t.Helper()
	return write(t, t.TempDir(), "host.py", pyhost.Source())
}

func write(t testing.TB, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// message is one line of the protocol.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result *result         `json:"result"`
	Error  *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
	line string
}

// result has the members of all results that the host gives.
type result struct {
	ProtocolVersion   string           `json:"protocolVersion"`
	Instructions      string           `json:"instructions"`
	Capabilities      map[string]any   `json:"capabilities"`
	ServerInfo        map[string]any   `json:"serverInfo"`
	Tools             []tool           `json:"tools"`
	Content           []map[string]any `json:"content"`
	StructuredContent json.RawMessage  `json:"structuredContent"`
	IsError           bool             `json:"isError"`
}

type tool struct {
	Name         string          `json:"name"`
	Title        string          `json:"title"`
	Description  string          `json:"description"`
	InputSchema  json.RawMessage `json:"inputSchema"`
	OutputSchema json.RawMessage `json:"outputSchema"`
	Annotations  map[string]any  `json:"annotations"`
	Meta         map[string]any  `json:"_meta"`
}

// text is the text of a result with one text.
func (r *result) text() string {
	if r == nil || len(r.Content) != 1 {
		return ""
	}
	text, _ := r.Content[0]["text"].(string)
	return text
}

// process is a host that runs.
type process struct {
	t      testing.TB
	cmd    *exec.Cmd
	in     io.WriteCloser
	lines  chan message
	exited chan error
	mu     sync.Mutex
	stderr bytes.Buffer
	next   int
}

func (p *process) Write(b []byte) (int, error) { // standard error
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stderr.Write(b)
}

func (p *process) log() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stderr.String()
}

// logged says whether the log has a text; it may come a little after an answer.
func (p *process) logged(want string) bool {
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if strings.Contains(p.log(), want) {
			return true
		}
	}
	return false
}

// serve starts a host for a file with this text.
func serve(t testing.TB, text string) *process {
	t.Helper()
	return start(t, "serve", "--file", write(t, t.TempDir(), "tools.py", text))
}

func start(t testing.TB, arguments ...string) *process {
	t.Helper()
	p := &process{t: t, lines: make(chan message, 5000), exited: make(chan error, 1)}
	p.cmd = exec.Command(python(t), append([]string{hostFile(t)}, arguments...)...)
	p.cmd.Stderr = p
	p.cmd.WaitDelay = patience
	in, err := p.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.in = in
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		defer close(p.lines)
		reader := bufio.NewReader(out)
		for {
			line, err := reader.ReadString('\n')
			if err != nil {
				return
			}
			m := message{line: line}
			if err := json.Unmarshal([]byte(line), &m); err != nil {
				m.Method = "not the protocol: " + line
			}
			p.lines <- m
		}
	}()
	go func() {
		<-read
		p.exited <- p.cmd.Wait()
		close(p.exited)
	}()
	t.Cleanup(func() {
		_ = in.Close()
		select {
		case <-p.exited:
		case <-time.After(patience):
			_ = p.cmd.Process.Kill()
			t.Error("the host did not end with its input")
		}
		if t.Failed() && p.log() != "" {
			t.Logf("standard error of the host:\n%s", p.log())
		}
	})
	return p
}

func (p *process) line(text string) {
	p.t.Helper()
	if _, err := io.WriteString(p.in, text+"\n"); err != nil {
		p.t.Fatal(err)
	}
}

// send sends a request and gives its id.
func (p *process) send(method string, params any) int {
	p.t.Helper()
	p.next++
	data, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": p.next, "method": method, "params": params})
	if err != nil {
		p.t.Fatal(err)
	}
	p.line(string(data))
	return p.next
}

// receive gives the next message.
func (p *process) receive() message {
	p.t.Helper()
	select {
	case m, ok := <-p.lines:
		if !ok {
			p.t.Fatalf("the host has ended:\n%s", p.log())
		}
		return m
	case <-time.After(patience):
		p.t.Fatalf("no answer from the host:\n%s", p.log())
	}
	return message{}
}

// ask sends a request and gives the answer; there must be no other message before it.
func (p *process) ask(method string, params any) message {
	p.t.Helper()
	id := p.send(method, params)
	m := p.receive()
	if want, _ := json.Marshal(id); !bytes.Equal(want, m.ID) {
		p.t.Fatalf("%s: wanted the answer %d, got %s", method, id, m.line)
	}
	return m
}

func (p *process) call(name string, arguments any) *result {
	p.t.Helper()
	m := p.ask("tools/call", map[string]any{"name": name, "arguments": arguments})
	if m.Result == nil {
		p.t.Fatalf("%s: %s", name, m.line)
	}
	return m.Result
}

// tools gives the tools by name, and their names in order.
func (p *process) tools() (map[string]tool, string) {
	p.t.Helper()
	m := p.ask("tools/list", map[string]any{})
	if m.Result == nil {
		p.t.Fatalf("tools/list: %s", m.line)
	}
	byName, names := map[string]tool{}, []string{}
	for _, one := range m.Result.Tools {
		byName[one.Name] = one
		names = append(names, one.Name)
	}
	return byName, strings.Join(names, " ")
}

// end waits for the process and gives its error.
func (p *process) end() error {
	p.t.Helper()
	select {
	case err := <-p.exited:
		return err
	case <-time.After(patience):
		p.t.Fatal("the host has not ended")
		return nil
	}
}

// sameJSON compares JSON texts as values.
func sameJSON(t testing.TB, what string, got json.RawMessage, want string) {
	t.Helper()
	var a, b any
	if err := json.Unmarshal([]byte(want), &b); err != nil {
		t.Fatalf("%s: the test's own JSON: %v", what, err)
	}
	if err := json.Unmarshal(got, &a); err != nil {
		t.Errorf("%s: %v in %s", what, err, got)
		return
	}
	one, _ := json.Marshal(a)
	other, _ := json.Marshal(b)
	if !bytes.Equal(one, other) {
		t.Errorf("%s:\n got %s\nwant %s", what, one, other)
	}
}

// raw is JSON that is sent as it is.
func raw(text string) json.RawMessage { return json.RawMessage(text) }

func onWindows() bool { return runtime.GOOS == "windows" }
