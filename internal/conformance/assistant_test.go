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
	"testing"
	"time"

	"github.com/toolcrib/toolcrib/internal/modeltest"
	"github.com/toolcrib/toolcrib/internal/ovos/bus"
)

// assistantPackages are the genuine message bus and intent service, and all that they need, in
// two generations: as released, and the next, which names many messages anew.
func assistantPackages() map[string]string {
	return map[string]string{"assistant": "testdata/assistant/released.txt", "assistant-next": "testdata/assistant/next.txt"}
}

// nextAssistant has PHAL, its plugin for tools and the toolboxes of the field besides.
func nextAssistant(t testing.TB) environment {
	t.Helper()
	return packagesOf(t, "assistant-next", assistantPackages()["assistant-next"])
}

// assistant is a voice assistant: the genuine bus and the genuine intent service, and
// this program on it, with a model that is a script.
type assistant struct {
	t      *testing.T
	client *bus.Client
	heard  *bus.Subscription
	dir    string // where it may write
	model  *modeltest.Server
	ours   *program
	routed *bus.Subscription // answers as the intent service hands them on
}

// assistantBus starts the genuine message bus, and the genuine intent service on it.
func assistantBus(t *testing.T, e environment, pipeline ...string) (url string) {
	t.Helper()
	address := freeAddress(t)
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	conf := fmt.Sprintf(`{"lang":"en-US","websocket":{"host":"127.0.0.1","port":%s},"intents":{"pipeline":%s}}`, port, jsonText(t, pipeline))
	if err := os.MkdirAll(filepath.Join(dir, "mycroft"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "mycroft", "mycroft.conf"), []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	vars := append(os.Environ(), "HOME="+dir, "XDG_CONFIG_HOME="+dir, "XDG_CACHE_HOME="+dir, "XDG_DATA_HOME="+dir, "XDG_STATE_HOME="+dir, "PYTHONUNBUFFERED=1")
	messages := exec.Command(e.python, "-m", "ovos_messagebus")
	messages.Env, messages.Dir = vars, dir
	launch(t, messages).await(t, `(service started)`)
	core := exec.Command(e.python, absoluteFile(t, "testdata/assistant/core.py"))
	core.Env, core.Dir = vars, dir
	launch(t, core).await(t, `(IntentService is ready)`)
	return "ws://" + address + "/core"
}

func absoluteFile(t testing.TB, file string) string {
	t.Helper()
	file, err := filepath.Abs(file)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// newAssistant has the agent answer what no skill wants.
func newAssistant(t *testing.T, e environment, script func(modeltest.Request) modeltest.Turn) *assistant {
	t.Helper()
	url := assistantBus(t, e, "ovos-stop-pipeline-plugin-high", "ovos-converse-pipeline-plugin", "ovos-fallback-pipeline-plugin-low")
	a := &assistant{t: t, model: modeltest.NewFunc(t, script)}
	var err error
	if a.dir, err = filepath.EvalSymlinks(t.TempDir()); err != nil {
		t.Fatal(err)
	}
	_, vars := home(t, fmt.Sprintf(`
models: {script: {base_url: %q, model: m, context: 32000}}
agents: {butler: {model: script, instructions: You are a butler.}}
grant: {write: [%q]}
bus:
  url: %s
  voice: {enabled: true, agent: butler, utterances: fallback}
  approvals: {voice: harmless}
`, a.model.Base("openai"), a.dir, url))
	cmd := exec.Command(toolcribPath(t), "bus", "serve")
	cmd.Env, cmd.Dir = vars, a.dir
	if a.client, err = bus.Open(bus.ClientConfig{URL: url, Source: "audio", ConnectWait: time.Minute}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.client.Close() }) // the bus ends anyway
	a.routed = a.client.Subscribe(bus.Filter{Types: []string{"toolcrib.voice.converse.get_response"}})
	a.heard = a.client.Subscribe(bus.Filter{Types: []string{"speak", "ovos.utterance.handled", "ovos.skills.fallback.register", "toolcrib.voice.stop.response"}})
	ready, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := a.client.Ready(ready); err != nil {
		t.Fatal(err)
	}
	a.ours = launch(t, cmd)
	a.next("ovos.skills.fallback.register")
	return a
}

// next waits for a message.
func (a *assistant) next(typ string) (bus.Message, map[string]any) {
	a.t.Helper()
	ctx, cancel := context.WithTimeout(a.t.Context(), time.Minute)
	defer cancel()
	for {
		m, err := a.heard.Next(ctx)
		if err != nil {
			a.t.Fatalf("no %s: %v\n%s", typ, err, a.ours.log)
		}
		if m.Type != typ {
			continue
		}
		var data map[string]any
		if err := json.Unmarshal(m.Data, &data); err != nil {
			a.t.Fatal(err)
		}
		return m, data
	}
}

// say is what a listener sends when it has recognised something. The session is as a
// client has it: the default one by its name, others as they were last heard of.
func (a *assistant) say(words string, session json.RawMessage) {
	a.t.Helper()
	data, err := json.Marshal(map[string]any{"utterances": []string{words}, "lang": "en-US"})
	if err != nil {
		a.t.Fatal(err)
	}
	m := bus.Message{Type: "recognizer_loop:utterance", Data: data, Context: map[string]json.RawMessage{
		"session": session, "source": json.RawMessage(`"audio"`), "destination": json.RawMessage(`["skills"]`),
	}}
	if err := a.client.Send(a.t.Context(), m); err != nil {
		a.t.Fatal(err)
	}
}

// hears waits for a sentence, and gives the session it is said in.
func (a *assistant) hears(want string, question bool) json.RawMessage {
	a.t.Helper()
	m, data := a.next("speak")
	if data["utterance"] != want || data["expect_response"] != question {
		a.t.Fatalf("heard %v, want %q", data, want)
	}
	if to := m.Text("destination"); to != "audio" && to != "" {
		a.t.Errorf("it is said to %s", m.Context["destination"])
	}
	return m.Context["session"]
}

// TestGenuineAssistant: an utterance in on the genuine bus, a spoken sentence out, with a call
// and a spoken yes between, by way of the genuine intent service.
func TestGenuineAssistant(t *testing.T) {
	for name, packages := range assistantPackages() {
		e := packagesOf(t, name, packages)
		t.Run(name, func(t *testing.T) { speakWith(t, e) })
	}
}

func speakWith(t *testing.T, e environment) {
	a := newAssistant(t, e, func(r modeltest.Request) modeltest.Turn {
		switch last := r.Last(); {
		case strings.HasPrefix(last, "write "):
			name := strings.TrimPrefix(last, "write ")
			return modeltest.Turn{Calls: []modeltest.Call{{Name: "write_file", Arguments: `{"path":` + string(jsonText(t, name)) + `,"content":"milk"}`}}}
		case strings.Contains(last, "said no"):
			return modeltest.Turn{Text: "Then I leave it."}
		}
		return modeltest.Turn{Text: "I have **written** it down.\n\n- See [the file](file:///x)"}
	})
	for _, session := range []json.RawMessage{json.RawMessage(`{"session_id":"default"}`), json.RawMessage(`{"session_id":"kitchen","lang":"en-US"}`)} {
		// On a busy machine the intent service may hear the answer before it has dealt with
		// the question, and then brings it to us as something new.
		for try := 1; !a.allowed(fmt.Sprintf("list-%d-%d.txt", len(session), try), session); try++ {
			if try == 3 {
				t.Fatalf("the intent service never hands on the answer in %s\n%s", session, a.ours.log)
			}
		}
	}
	// And a no.
	a.say("write no.txt", json.RawMessage(`{"session_id":"default"}`))
	asked := a.hears("May I change a file on this computer? Please say yes or no.", true)
	a.pause()
	a.say("no", asked)
	a.hears("Then I leave it.", false)
	if _, err := os.Stat(filepath.Join(a.dir, "no.txt")); err == nil {
		t.Error("it was done though the person said no")
	}
	// And a stop: a yes after it is none.
	a.say("write stopped.txt", json.RawMessage(`{"session_id":"default"}`))
	asked = a.hears("May I change a file on this computer? Please say yes or no.", true)
	a.pause()
	a.say("stop", asked)
	if _, data := a.next("toolcrib.voice.stop.response"); data["result"] != true {
		t.Error(data)
	}
	a.calls()
	if _, err := os.Stat(filepath.Join(a.dir, "stopped.txt")); err == nil {
		t.Error("it was done though it was stopped")
	}
}

// allowed has a file written with a person's yes, and reports whether the intent service
// has handed on the yes as the answer to a question.
func (a *assistant) allowed(name string, session json.RawMessage) bool {
	t := a.t
	t.Helper()
	a.say("write "+name, session)
	asked := a.hears("May I change a file on this computer? Please say yes or no.", true)
	if _, err := os.Stat(filepath.Join(a.dir, name)); err == nil {
		t.Fatal("it did not wait for the answer")
	}
	a.pause()
	a.say("yes please", asked)
	a.hears("I have written it down.", false)
	a.hears("See the file.", false)
	a.next("ovos.utterance.handled")
	if text, err := os.ReadFile(filepath.Join(a.dir, name)); err != nil || string(text) != "milk" {
		t.Errorf("%q, %v", text, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	m, err := a.routed.Next(ctx)
	return err == nil && strings.Contains(string(m.Data), "yes please")
}

// pause is how long a person takes to hear a question, at the least.
func (a *assistant) pause() { time.Sleep(500 * time.Millisecond) }

func jsonText(t testing.TB, v any) []byte {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// calls: a client of the bus that gives up after three seconds is told in time, and its
// repeated call is made once.
func (a *assistant) calls() {
	t := a.t
	invoke := func() (answer string) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second) // a quiet machine needs two seconds; a test of the host holds it to them
		defer cancel()
		m, err := a.client.Ask(ctx, bus.Message{Type: "ovos.tools.invoke", Data: json.RawMessage(`{"name":"write_file","args":{"path":"called.txt","content":"eggs"}}`)}, bus.Answer{})
		if err != nil {
			t.Fatalf("it was not told in time: %v\n%s", err, a.ours.log)
		}
		return string(m.Data)
	}
	if told := invoke(); !strings.Contains(told, "asked aloud") || !strings.Contains(told, `"success":false`) || !strings.Contains(told, `"message":"I need permission for that."`) {
		t.Error(told)
	}
	a.hears("May I change a file on this computer? Please say yes or no.", true)
	time.Sleep(3 * time.Second) // a yes that follows another question closely may be one to that
	// The client that calls has the source audio too; who speaks must be another.
	speaker := bus.Message{Type: "recognizer_loop:utterance", Data: json.RawMessage(`{"utterances":["yes"],"lang":"en-US"}`), Context: map[string]json.RawMessage{"source": json.RawMessage(`"listener"`), "session": json.RawMessage(`{"session_id":"default"}`)}}
	if err := a.client.Send(t.Context(), speaker); err != nil {
		t.Fatal(err)
	}
	a.hears("You have allowed it. Please ask me again.", false)
	if _, err := os.Stat(filepath.Join(a.dir, "called.txt")); err == nil {
		t.Fatal("it was done though the caller had given up")
	}
	if told := invoke(); strings.Contains(told, "asked aloud") {
		t.Error(told)
	}
	if text, err := os.ReadFile(filepath.Join(a.dir, "called.txt")); err != nil || string(text) != "eggs" {
		t.Errorf("%q, %v", text, err)
	}
}
