package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib/internal/ovos/bus"
)

// beside is a bus with the genuine PHAL plugin for tools and a toolcrib on it.
type beside struct {
	client     *bus.Client
	ours, phal *program

	mu      sync.Mutex
	answers map[int][]bus.Message // by the number of the request
	last    int
}

// besides starts all of them at once, on a bus that is genuine or that of the toolcrib. Tools
// get the directory root.
func besides(t *testing.T, e environment, b battery, root string, genuineBus bool) *beside {
	t.Helper()
	address := freeAddress(t)
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	vars := append(os.Environ(), "HOME="+dir, "XDG_CONFIG_HOME="+dir, "XDG_CACHE_HOME="+dir, "XDG_DATA_HOME="+dir, "XDG_STATE_HOME="+dir, "PYTHONUNBUFFERED=1")
	args := []string{"bus", "serve", "--set", "bus.url=ws://" + address + "/core"}
	if genuineBus {
		if err := os.MkdirAll(filepath.Join(dir, "mycroft"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "mycroft", "mycroft.conf"), fmt.Appendf(nil, `{"websocket":{"host":"127.0.0.1","port":%s}}`, port), 0o600); err != nil {
			t.Fatal(err)
		}
		messages := exec.Command(nextAssistant(t).python, "-m", "ovos_messagebus")
		messages.Env, messages.Dir = vars, dir
		launch(t, messages).await(t, `(service started)`)
	} else {
		args = append(args, "--listen", address)
	}
	config, err := json.Marshal(b.config)
	if err != nil {
		t.Fatal(err)
	}
	script, err := filepath.Abs("testdata/opm/phal.py")
	if err != nil {
		t.Fatal(err)
	}
	s := &beside{answers: map[int][]bus.Message{}}
	_, own := home(t, fmt.Sprintf("grant: {write: [%q]}\npermissions: {allow: [write_file]}\n", root))
	serve := exec.Command(toolcribPath(t), args...)
	serve.Env, serve.Dir = own, t.TempDir()
	s.ours = launch(t, serve)
	plugin := exec.Command(e.python, script, port, string(config))
	plugin.Env, plugin.Dir = vars, dir
	s.phal = mortal(t, plugin)
	if s.client, err = bus.Open(bus.ClientConfig{URL: "ws://" + address + "/core", ConnectWait: time.Minute, QueueFrames: 1 << 16}); err != nil {
		t.Fatal(err)
	}
	heard := s.client.Subscribe(bus.Filter{Prefixes: []string{"ovos.tools.", "ovos.persona.tools."}, Match: func(m bus.Message) bool {
		return strings.HasSuffix(m.Type, ".response") && m.Context["try"] != nil
	}})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			m, err := heard.Next(context.Background())
			if err != nil {
				return
			}
			var n int
			if json.Unmarshal(m.Context["try"], &n) == nil {
				s.mu.Lock()
				s.answers[n] = append(s.answers[n], m)
				s.mu.Unlock()
			}
		}
	}()
	t.Cleanup(func() {
		_ = s.client.Close() // the bus ends anyway
		<-done
	})
	return s
}

// mortal starts a program that the test kills, if only at its end.
func mortal(t *testing.T, cmd *exec.Cmd) *program {
	t.Helper()
	p := &program{cmd: cmd, log: &logged{}, done: make(chan struct{})}
	cmd.Stderr, cmd.Stdout, cmd.WaitDelay = p.log, p.log, 10*time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		p.err = cmd.Wait()
		close(p.done)
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may be gone
		<-p.done
	})
	return p
}

// send sends a request and gives its number.
func (s *beside) send(t *testing.T, typ string, data any) int {
	t.Helper()
	text, err := json.Marshal(data)
	if err != nil {
		t.Fatal(err)
	}
	s.last++
	m := bus.Message{Type: typ, Data: text}.With("try", fmt.Append(nil, s.last))
	if err := s.client.Send(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	return s.last
}

// await gives the answer to a request, and who gave it; ours says so.
func (s *beside) await(t *testing.T, n int, within time.Duration) (out reply, ours, ok bool) {
	t.Helper()
	for limit := time.Now().Add(within); ; time.Sleep(2 * time.Millisecond) {
		s.mu.Lock()
		all := s.answers[n]
		s.mu.Unlock()
		if len(all) > 0 {
			if err := json.Unmarshal(all[0].Data, &out); err != nil {
				t.Fatalf("%s: %v", all[0].Data, err)
			}
			return out, strings.HasPrefix(all[0].Text("source"), "toolcrib-"), true
		}
		if time.Now().After(limit) {
			return out, false, false
		}
	}
}

// until sends a request until the one who is meant answers it. While the genuine plugin
// starts, ours answers at once: a pause keeps the plugin from finding a million requests.
func (s *beside) until(t *testing.T, ours bool, typ string, data any) {
	t.Helper()
	for limit := time.Now().Add(2 * time.Minute); time.Now().Before(limit); time.Sleep(300 * time.Millisecond) {
		if _, by, ok := s.await(t, s.send(t, typ, data), 5*time.Second); ok && by == ours {
			return
		}
	}
	t.Fatalf("%s is never answered by the one who is meant\n%s\n%s", typ, s.ours.log, s.phal.log)
}

// TestGenuineBeside: the PHAL plugin for tools and a toolcrib on one bus, genuine and
// ours, started at once. Every request has one answer and it is the right one; what
// each of them says is what the genuine toolboxes say and were recorded with; and when
// the plugin is killed, the toolcrib answers everything.
func TestGenuineBeside(t *testing.T) {
	f := genuine(t)
	env := f.with(t, f.base, "odd")
	b := readBattery(t, env)
	root := recordedTree(t)
	rows := recordedRows(t, root)
	var calls []batteryCall
	for _, c := range b.calls {
		if c.entry == "ovos-math-tools" || c.entry == "ovos-clock-tools" || c.entry == "odd-tools" && c.tool == "echo" {
			calls = append(calls, c)
		}
	}
	b.config = map[string]map[string]any{"ovos-math-tools": {}, "ovos-clock-tools": {}, "ovos-filesystem-tools": {"root_path": root}, "odd-tools": b.config["odd-tools"]}
	want := b.alone(t, env)(calls, 0).Answers
	for name, tries := range map[string]int{"genuine bus": 200, "our bus": 40} {
		t.Run(name, func(t *testing.T) {
			s := besides(t, env, b, root, name == "genuine bus")
			s.until(t, false, "ovos.tools.get", map[string]any{"name": "echo"})
			s.until(t, true, "ovos.persona.tools.session_notes.call", map[string]any{"name": "nobody has it"})
			began := time.Now()
			s.oneRightAnswer(t, tries)
			t.Logf("%d tries took %v", tries, time.Since(began).Round(time.Second))
			s.firstIsRight(t)
			s.asAlone(t, false, calls, want)
			s.asRecorded(t, false, rows)
			t.Logf("the plugin has answered after %v", time.Since(began).Round(time.Second))
			if err := s.phal.cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			<-s.phal.done
			s.until(t, true, "ovos.tools.get", map[string]any{"name": "evaluate_expression"})
			for _, c := range []struct{ id, tool, kwargs string }{
				{"ovos-math-tools", "evaluate_expression", `{"expression": "1"}`},
				{"ovos-clock-tools", "get_current_datetime", `{}`},
				{"ovos-filesystem-tools", "find_files", `{"glob": "*.py"}`},
				{"ovos-shell-tools", "run_command", `{"command": "true"}`}, // it is off, and says so
			} {
				s.until(t, true, "ovos.persona.tools."+c.id+".call", map[string]any{"name": c.tool, "kwargs": json.RawMessage(c.kwargs)})
			}
			t.Logf("the toolcrib has taken over after %v", time.Since(began).Round(time.Second))
			s.asAlone(t, true, calls, want)
			s.asRecorded(t, true, rows)
			t.Logf("it has answered after %v", time.Since(began).Round(time.Second))
		})
	}
}

// firstIsRight calls as genuine clients do, which take the first answer of the type that
// they wait for: nothing that we ask the plugin may be answered before.
func (s *beside) firstIsRight(t *testing.T) {
	t.Helper()
	for topic, data := range map[string]map[string]any{
		"ovos.persona.tools.ovos-filesystem-tools.call": {"name": "search_in_files", "kwargs": map[string]any{"pattern": "foo", "path": "."}},
		"ovos.tools.get": {"name": "search_in_files"},
	} {
		first := s.client.Subscribe(bus.Filter{Types: []string{topic + ".response"}})
		wrong := 0
		for range 50 {
			n := s.send(t, topic, data)
			for answered := false; !answered; {
				ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
				m, err := first.Next(ctx)
				if cancel(); err != nil {
					t.Fatalf("%s %v is not answered: %v", topic, data, err)
				}
				// One may cross a question to a host that was not heard for long.
				if answered = string(m.Context["try"]) == fmt.Sprint(n); !answered {
					if wrong++; wrong > 1 {
						t.Fatalf("%s %v: the first answer is %s", topic, data, m.Data)
					}
				}
			}
		}
		first.Close()
	}
}

// bothWays sends calls by the two ways there are, not all at once, and gives the answers
// to each; who answers is checked.
func (s *beside) bothWays(t *testing.T, ours bool, calls []batteryCall, got func(i int, way string, r reply)) {
	t.Helper()
	type sent struct {
		n, i int
		way  string
	}
	var all []sent
	for i, c := range calls {
		for way, data := range map[string]any{
			"ovos.tools.invoke": map[string]any{"name": c.tool, "args": c.args},
			"ovos.persona.tools." + toolboxID(c.entry) + ".call": map[string]any{"name": c.tool, "kwargs": c.args},
		} {
			all = append(all, sent{s.send(t, way, data), i, way})
		}
		if len(all) > 40 {
			s.await(t, all[len(all)-40].n, 20*time.Second)
		}
	}
	for _, a := range all {
		r, by, ok := s.await(t, a.n, 20*time.Second)
		if !ok || by != ours {
			t.Errorf("%v by %s: answered: %v; by us: %v", calls[a.i], a.way, ok, by)
			continue
		}
		if strings.Contains(r.Error, "Out of range float values") {
			continue // the plugin cannot send what is no number
		}
		got(a.i, a.way, r)
	}
}

// asAlone compares answers with those of the genuine toolboxes without a bus.
func (s *beside) asAlone(t *testing.T, ours bool, calls []batteryCall, want []reply) {
	t.Helper()
	var list []batteryCall
	var answers []reply
	for i, c := range calls {
		if !ours || c.entry != "odd-tools" && c.tool != "solve_equation" { // ours solves as if there were sympy, which is not installed here
			list, answers = append(list, c), append(answers, want[i])
		}
	}
	s.bothWays(t, ours, list, func(i int, _ string, r reply) { compare(t, list[i], r, answers[i]) })
}

// oneRightAnswer sends requests of every kind, for tools that one of them has or both.
func (s *beside) oneRightAnswer(t *testing.T, tries int) {
	t.Helper()
	sum := map[string]any{"expression": "6*7"}
	kinds := []struct {
		typ   string
		data  any
		by    string // who answers: PHAL, ours, or, where the plugin does not hear the topic in all generations, one of them
		right string // in the answer
	}{
		{"ovos.tools.invoke", map[string]any{"name": "echo", "args": map[string]any{"text": "hello"}}, "PHAL", "hello"},
		{"ovos.tools.invoke", map[string]any{"name": "evaluate_expression", "args": sum}, "PHAL", "42"},
		{"ovos.tools.get", map[string]any{"name": "echo"}, "PHAL", "argument_schema"},
		{"ovos.tools.list", map[string]any{}, "PHAL", "unit_convert"},
		{"ovos.persona.tools.odd-tools.call", map[string]any{"name": "echo", "kwargs": map[string]any{"text": "hello"}}, "PHAL", "hello"},
		{"ovos.persona.tools.ovos-math-tools.call", map[string]any{"name": "evaluate_expression", "kwargs": sum}, "PHAL", "42"},
		{"ovos.persona.tools.call", map[string]any{"name": "evaluate_expression", "kwargs": sum, "toolbox_id": "ovos-math-tools"}, "one", "42"},
		{"ovos.persona.tools.session_notes.call", map[string]any{"name": "nobody has it"}, "ours", "ValueError: Unknown tool 'nobody has it' for ToolBox 'session_notes'."},
	}
	first := s.last + 1
	for range tries {
		for _, k := range kinds {
			s.send(t, k.typ, k.data)
		}
		if n := s.last - 10*len(kinds); n >= first { // not all at once: the plugin has a pool of few threads
			s.await(t, n, 10*time.Second)
		}
	}
	for n := first; n <= s.last; n++ {
		s.await(t, n, 10*time.Second)
	}
	s.until(t, false, "ovos.tools.get", map[string]any{"name": "echo"}) // time for an answer too many
	s.mu.Lock()
	defer s.mu.Unlock()
	wrong := 0
	for n := first; n <= s.last && wrong < 10; n++ {
		k := kinds[(n-first)%len(kinds)]
		all := s.answers[n]
		if n-first >= tries*len(kinds) {
			break
		}
		if len(all) != 1 || !strings.Contains(string(all[0].Data), k.right) || k.by != "one" && strings.HasPrefix(all[0].Text("source"), "toolcrib-") != (k.by == "ours") {
			wrong++
			t.Errorf("try %d: %s %v has %d answers: %s", (n-first)/len(kinds), k.typ, k.data, len(all), all)
		}
	}
}
