package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib/internal/ovos/bus"
)

// onBus is a plain client of a bus that a toolcrib serves.
type onBus struct {
	client  *bus.Client
	program *program
}

// busOf starts a toolcrib with a bus of its own.
func busOf(t testing.TB, vars []string, args ...string) onBus {
	t.Helper()
	return busAt(t, "127.0.0.1:0", vars, args...)
}

func busAt(t testing.TB, address string, vars []string, args ...string) onBus {
	t.Helper()
	cmd := exec.Command(toolcribPath(t), append([]string{"bus", "serve", "--listen", address, "--set", "bus.ask_around=0s"}, args...)...)
	cmd.Dir, cmd.Env = t.TempDir(), vars
	p := launch(t, cmd)
	url := p.await(t, `on a bus at (ws://\S+?/core)`)
	client, err := bus.Open(bus.ClientConfig{URL: url, Source: "test", ConnectWait: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })          // the bus ends anyway
	for limit := time.Now().Add(2 * time.Minute); ; { // the bus is there before the host has joined it
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		_, err := client.Ask(ctx, bus.Message{Type: "ovos.tools.get", Data: json.RawMessage(`{"name":"none"}`)}, bus.Answer{})
		if cancel(); err == nil {
			return onBus{client, p}
		}
		if time.Now().After(limit) {
			t.Fatalf("nobody answers on the bus: %v\n%s", err, p.log)
		}
	}
}

// ask sends a request and reads the answer into out.
func (o onBus) ask(t testing.TB, topic string, data, out any) {
	t.Helper()
	text, err := json.Marshal(data)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	m, err := o.client.Ask(ctx, bus.Message{Type: topic, Data: text}, bus.Answer{})
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", topic, text, err, o.program.log)
	}
	if err := json.Unmarshal(m.Data, out); err != nil {
		t.Fatalf("%s: %v", m.Data, err)
	}
}

// contract is a tool as it is told over a bus.
type contract struct {
	Name    string          `json:"name"`
	Box     string          `json:"toolbox_id"`
	Input   json.RawMessage `json:"argument_schema"`
	Output  json.RawMessage `json:"output_schema"`
	Says    string          `json:"description"`
	Faulted string          `json:"error"`
}

// discover collects what the toolboxes tell of themselves, by id, until these are there.
func (o onBus) discover(t testing.TB, want map[string][]json.RawMessage) map[string][]contract {
	t.Helper()
	for limit := time.Now().Add(2 * time.Minute); ; {
		list, err := o.client.Collect(t.Context(), bus.Message{Type: "ovos.persona.tools.discover", Data: json.RawMessage(`{}`)}, bus.Answer{}, 3*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		found := map[string][]contract{}
		for _, m := range list {
			var is struct {
				ID    string     `json:"toolbox_id"`
				Tools []contract `json:"tools"`
			}
			if err := json.Unmarshal(m.Data, &is); err != nil {
				t.Fatalf("%s: %v", m.Data, err)
			}
			if _, twice := found[is.ID]; twice {
				t.Errorf("the toolbox %s answers twice", is.ID)
			}
			found[is.ID] = is.Tools
		}
		all := true
		for id, contracts := range want {
			all = all && len(found[id]) >= len(contracts)
		}
		if all || time.Now().After(limit) {
			return found
		}
	}
}

func (b battery) overBus(t *testing.T, vars []string, want directly) {
	b.clean(t)
	// Ours of the same ids are off, but for those that cannot be: the genuine ones
	// have the place then.
	o := busOf(t, vars, "--set", "toolboxes.math.enabled=false", "--set", "toolboxes.clock.enabled=false", "--set", "toolboxes.files.enabled=false", "--set", "toolboxes.skill.enabled=false")
	// Those that run are asked anew at a discovery: this one has one more tool then.
	var when reply
	if o.ask(t, "ovos.persona.tools.odd-tools.call", map[string]any{"name": "when"}, &when); when.Error != "" {
		t.Errorf("%+v", when)
	}
	found := o.discover(t, want.Contracts)
	for id, contracts := range want.Contracts {
		byName := map[string]contract{}
		for _, c := range found[id] {
			byName[c.Name] = c
		}
		for _, text := range contracts {
			var w contract
			if err := json.Unmarshal(text, &w); err != nil {
				t.Fatal(err)
			}
			got, is := byName[w.Name]
			if !is || got.Says != w.Says || got.Box != id {
				t.Errorf("%s of %s: %+v", w.Name, id, got)
				continue
			}
			// To the byte, but for spaces, which no two programs write alike.
			if !bytes.Equal(compacted(t, got.Input), compacted(t, w.Input)) || !bytes.Equal(compacted(t, got.Output), compacted(t, w.Output)) {
				t.Errorf("%s of %s has other schemas:\n%s\n%s\nwant\n%s\n%s", w.Name, id, got.Input, got.Output, w.Input, w.Output)
			}
		}
	}
	var listed struct {
		Tools []contract `json:"tools"`
	}
	o.ask(t, "ovos.tools.list", map[string]any{}, &listed)
	shown := shownAs{}
	for _, c := range listed.Tools {
		shown[c.Name] = c.Box
	}
	for i, c := range b.calls {
		id := toolboxID(c.entry)
		var got reply
		o.ask(t, "ovos.persona.tools."+id+".call", map[string]any{"name": c.tool, "kwargs": c.args}, &got)
		compare(t, c, got, want.Answers[i])
	}
	b.clean(t)
	for i, c := range b.calls {
		if shown[c.tool] != toolboxID(c.entry) {
			continue // two toolboxes have it, and this is the other one
		}
		var got reply
		o.ask(t, "ovos.tools.invoke", map[string]any{"name": c.tool, "args": c.args}, &got)
		if !strings.Contains(string(c.args), b.dir) && c.entry != "ovos-filesystem-tools" { // files were not written in this round
			compare(t, c, got, want.Answers[i])
		}
		var is contract
		if o.ask(t, "ovos.tools.get", map[string]any{"name": c.tool}, &is); is.Box != toolboxID(c.entry) || len(is.Input) == 0 {
			t.Errorf("%s is shown as %+v", c.tool, is)
		}
	}
	for kwargs, want := range map[string]string{
		`null`: "RuntimeError: Tool 'add' called with unexpected type arguments: NoneType. Must be Dict[str, Any] or ToolArguments.",
		`[1]`:  "RuntimeError: Tool 'add' called with unexpected type arguments: list. Must be Dict[str, Any] or ToolArguments.",
	} {
		var got reply
		if o.ask(t, "ovos.persona.tools.my-math-tools.call", map[string]any{"name": "add", "kwargs": json.RawMessage(kwargs)}, &got); got.Error != want {
			t.Errorf("%s: %+v", kwargs, got)
		}
	}
	var unknown reply
	if o.ask(t, "ovos.persona.tools.odd-tools.call", map[string]any{"name": "nope"}, &unknown); unknown.Error != "ValueError: Unknown tool 'nope' for ToolBox 'odd-tools'." {
		t.Errorf("an unknown tool: %+v", unknown)
	}
}

func compacted(t testing.TB, text json.RawMessage) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := json.Compact(&out, text); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestGenuineToolboxesReload: what pip installs while a toolcrib runs is there after a
// reload over the bus; what is broken is told, and the others work; and where ours has
// the id of a genuine one, ours is on the bus, which is told too.
func TestGenuineToolboxesReload(t *testing.T) {
	f := genuine(t)
	env := f.with(t, f.base, "math")
	b := battery{dir: t.TempDir()}
	vars := b.home(t, map[string]environment{"field": env}, "")
	o := busOf(t, vars)
	type reloaded struct {
		Loaded []string `json:"loaded"`
		Total  int      `json:"total_tools"`
		Faults []string `json:"faults"`
		Detail string   `json:"detail"`
	}
	// Reading everything anew may take longer than an answer waits.
	limit := time.Now().Add(3 * time.Minute)
	reload := func() (out reloaded) {
		t.Helper()
		for {
			out = reloaded{}
			if o.ask(t, "ovos.tools.reload", map[string]any{}, &out); !strings.Contains(out.Detail, "takes longer") {
				return out
			}
			if time.Now().After(limit) {
				t.Fatalf("it takes too long: %+v\n%s", out, o.program.log)
			}
		}
	}
	reload()
	env.add(t, "late", "broken")
	after := reload()
	for {
		var got reply
		if o.ask(t, "ovos.tools.invoke", map[string]any{"name": "late", "args": map[string]any{}}, &got); toText(t, got.Result) == `{"said":"better late"}` {
			break
		}
		if time.Now().After(limit) {
			t.Fatalf("it is not there after a reload: %+v; %+v\n%s", got, after, o.program.log)
		}
		after = reload()
	}
	var sum reply
	if o.ask(t, "ovos.persona.tools.my-math-tools.call", map[string]any{"name": "add", "kwargs": map[string]any{"a": 1, "b": 2}}, &sum); toText(t, sum.Result) != `{"result":3}` {
		t.Errorf("beside broken ones: %+v", sum)
	}
	after = reload()
	all := strings.Join(after.Faults, "\n")
	for _, want := range []string{
		`broken-import\b.*it cannot be imported: ModuleNotFoundError: No module named 'a_module_that_nobody_has'`,
		`broken-kind\b.*it is no toolbox, but a function`,
		`broken-exit\b.*it ends the process when it is imported`,
		`broken-made\b.*it cannot be made: ValueError: a key is needed`,
		`broken-discovery\b.*cannot say what it has: ConnectionError: the server of the tools is away`,
		`broken-skill\b.*names no file`,
		`opm-ovos-math-tools\b.*on the bus the box math has the same id`,
	} {
		if !regexp.MustCompile(want).MatchString(all) {
			t.Errorf("%s is not told in:\n%s", want, all)
		}
	}
	var ours reply
	if o.ask(t, "ovos.persona.tools.ovos-math-tools.call", map[string]any{"name": "evaluate_expression", "kwargs": map[string]any{"expression": "6*7"}}, &ours); toText(t, ours.Result) != `{"error":null,"expression":"6*7","result":42}` {
		t.Errorf("ours: %+v", ours)
	}
}

// TestGenuineToolboxOnBus: a toolbox that is connected to the bus uses it as any
// program does, and does not answer there a second time.
func TestGenuineToolboxOnBus(t *testing.T) {
	f := genuine(t)
	env := f.with(t, f.next, "odd")
	b := battery{dir: t.TempDir()}
	address := freeAddress(t)
	vars := b.home(t, map[string]environment{"field": env}, "bus: {url: \"ws://"+address+"/core\"}", "bus: true", "sandbox: host", "toolboxes: [odd-tools]")
	o := busAt(t, address, vars)
	var got reply
	if o.ask(t, "ovos.persona.tools.odd-tools.call", map[string]any{"name": "on_bus"}, &got); toText(t, got.Result) != `{"value":142}` {
		t.Errorf("on the bus: %+v", got)
	}
}
