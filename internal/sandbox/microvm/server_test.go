//go:build unix

package microvm

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// server speaks the interface of a microsandbox server, over a real socket. A
// machine is a process group of this one, which is enough to see what is asked
// of it and what becomes of the answers.
type server struct {
	*httptest.Server
	flaw string

	mu      sync.Mutex
	asked   []request
	running map[string]machine
	groups  map[string][]int
	left    []string // names of machines that run from before
}

func newServer(t *testing.T, flaw string) *server {
	t.Helper()
	s := &server{flaw: flaw, running: map[string]machine{}, groups: map[string][]int{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/v1/health", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, `{"message":"Service is healthy"}`)
	})
	mux.HandleFunc("POST /api/v1/rpc", s.rpc)
	s.Server = httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

const testKey = "the-key"

func (s *server) open(t *testing.T) *Sandbox {
	t.Helper()
	box, err := Open(t.Context(), Config{URL: s.URL, Key: testKey})
	if err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = nil
	return box
}

func (s *server) rpc(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	if r.Header.Get("Authorization") != "Bearer "+testKey {
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprintln(w, `{"error":"Invalid credentials","code":1001}`)
		return
	}
	var q struct {
		Version string          `json:"jsonrpc"`
		Method  string          `json:"method"`
		Params  json.RawMessage `json:"params"`
		ID      json.RawMessage `json:"id"`
	}
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil || q.Version != "2.0" || len(q.ID) == 0 {
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprintln(w, `{"jsonrpc":"2.0","error":{"code":-32600,"message":"Invalid or missing jsonrpc version field"}}`)
		return
	}
	var params struct {
		place
		Config  machine  `json:"config"`
		Command string   `json:"command"`
		Args    []string `json:"args"`
		Timeout int64    `json:"timeout"`
	}
	if err := json.Unmarshal(q.Params, &params); err != nil || !plainName(params.Namespace) {
		s.fail(w, http.StatusBadRequest, "Namespace cannot be empty")
		return
	}
	s.mu.Lock()
	s.asked = append(s.asked, request{Method: q.Method, Params: params.Config})
	s.mu.Unlock()
	result, ok := any(nil), true
	switch q.Method {
	case "sandbox.start":
		result, ok = s.start(w, r, params.Sandbox, params.Config)
	case "sandbox.stop":
		result, ok = s.stop(w, params.Sandbox)
	case "sandbox.command.run":
		result, ok = s.run(w, params.Sandbox, params.Command, params.Args)
	case "sandbox.metrics.get":
		result = s.metrics()
	default:
		s.fail(w, http.StatusNotFound, "Method not found: "+q.Method)
		return
	}
	if ok {
		_ = json.NewEncoder(w).Encode(map[string]any{"jsonrpc": "2.0", "result": result, "id": q.ID})
	}
}

func (s *server) fail(w http.ResponseWriter, status int, message string) {
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"error": message, "code": 2001})
}

func (s *server) start(w http.ResponseWriter, r *http.Request, name string, m machine) (any, bool) {
	if !plainName(name) || m.Image == "" {
		s.fail(w, http.StatusBadRequest, "Sandbox name can only contain alphanumeric characters, hyphens, or underscores")
		return nil, false
	}
	switch s.flaw {
	case "start hangs":
		s.mu.Lock()
		s.running[name] = m
		s.mu.Unlock()
		<-r.Context().Done()
		return nil, false
	case "start fails":
		s.fail(w, http.StatusInternalServerError, "Internal server error")
		return nil, false
	case "redirect":
		w.Header().Set("Location", "http://127.0.0.1:1/elsewhere")
		w.WriteHeader(http.StatusTemporaryRedirect)
		return nil, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running[name] = m
	return "Sandbox " + name + " started successfully", true
}

func (s *server) stop(w http.ResponseWriter, name string) (any, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left = slices.DeleteFunc(s.left, func(n string) bool { return n == name })
	for _, group := range s.groups[name] {
		_ = syscall.Kill(-group, syscall.SIGKILL)
	}
	if s.flaw == "stop fails" {
		s.fail(w, http.StatusInternalServerError, "Internal server error")
		return nil, false
	}
	delete(s.running, name)
	return "Sandbox " + name + " stopped successfully", true
}

func (s *server) run(w http.ResponseWriter, name, command string, args []string) (any, bool) {
	s.mu.Lock()
	_, running := s.running[name]
	s.mu.Unlock()
	if !running {
		s.fail(w, http.StatusBadRequest, "Sandbox not found")
		return nil, false
	}
	switch s.flaw {
	case "garbage":
		fmt.Fprint(w, "<html>")
		return nil, false
	case "no result":
		fmt.Fprint(w, `{"jsonrpc":"2.0","id":"1"}`)
		return nil, false
	case "rpc error":
		fmt.Fprint(w, `{"jsonrpc":"2.0","id":"1","error":{"code":-32603,"message":"Command execution failed","data":null}}`)
		return nil, false
	case "endless":
		for range maxAnswer/(1<<16) + 2 {
			_, _ = w.Write(bytes.Repeat([]byte(" "), 1<<16))
		}
		return nil, false
	}
	c := exec.Command(command, args...)
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	if err := c.Start(); err != nil {
		s.fail(w, http.StatusBadRequest, "Failed to spawn command")
		return nil, false
	}
	s.mu.Lock()
	s.groups[name] = append(s.groups[name], c.Process.Pid)
	s.mu.Unlock()
	_ = c.Wait()
	text := out.String()
	switch s.flaw {
	case "cut off":
		text = text[:len(text)/2]
	case "text": // the form of the documentation
		return map[string]any{"exit_code": c.ProcessState.ExitCode(), "success": true, "output": text, "error": errs.String()}, true
	}
	lines := []map[string]string{{"stream": "stderr", "text": "noise"}}
	for line := range strings.Lines(text) {
		lines = append(lines, map[string]string{"stream": "stdout", "text": strings.TrimSuffix(line, "\n")})
	}
	return map[string]any{"command": command, "args": args, "exit_code": c.ProcessState.ExitCode(), "success": c.ProcessState.Success(), "output": lines}, true
}

func (s *server) metrics() any {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := []map[string]any{{"namespace": "toolcrib", "name": "someone-elses", "running": true, "cpu_usage": nil}}
	for _, name := range s.left {
		list = append(list, map[string]any{"namespace": "toolcrib", "name": name, "running": true})
	}
	return map[string]any{"sandboxes": list}
}

// methods are what was asked since the sandbox was opened.
func (s *server) methods() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for _, q := range s.asked {
		out = append(out, q.Method)
	}
	return out
}
