package pyhost_test

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"
)

// What stands in for the packages of OpenVoiceOS: as much of them as the host uses.
// The genuine ones are in internal/conformance.
const (
	standInBus = `
class FakeBus:
    def __init__(self):
        self.handlers = {}
    def on(self, topic, handler):
        self.handlers.setdefault(topic, []).append(handler)
    def once(self, topic, handler):
        self.on(topic, handler)
    def remove(self, topic, handler):
        self.handlers[topic].remove(handler)
    def emit(self, topic):
        for handler in self.handlers.get(topic, []):
            handler(topic)
`
	standInBoxes = `
import os
class Schema:
    def __init__(self, text):
        self.text = text
    def model_json_schema(self):
        if self.text is None:
            raise TypeError("no schema")
        return self.text
class Dumped:
    def __init__(self, **data):
        self.data = data
    def model_dump(self, mode):
        assert mode == "json"
        return self.data
class AgentTool:
    def __init__(self, name, call, schema={"title": "Z", "properties": {}, "type": "object"}):
        self.name, self.description, self.tool_call = name, "What " + str(name) + " does.", call
        self.argument_schema = self.output_schema = Schema(schema)
class Base:
    def __init__(self, toolbox_id, config=None, bus=None):
        self.toolbox_id, self.config, self.bus, self.tools, self.asked = toolbox_id, config or {}, None, {}, 0
        try:
            self.refresh_tools()
        except Exception:
            pass
        if bus:
            self.bind(bus)
    def bind(self, bus):
        self.bus = bus
        bus.on("ovos.persona.tools.discover", self.answers)
        bus.on("ovos.persona.tools.call", self.answers)
        bus.on("ovos.persona.tools." + self.toolbox_id + ".call", self.answers)
    def answers(self, message):
        raise AssertionError("it answers on the bus")
    def refresh_tools(self):
        self.asked += 1
        self.tools = {t.name: t for t in self.discover_tools()}
    def call_tool(self, name, arguments):
        return self.tools[name].tool_call(arguments)
    def discover_tools(self):
        return [AgentTool("made", lambda a: Dumped(id=self.toolbox_id, config=self.config, asked=self.asked, bus=self.bus is not None))]

class NoConstructor(Base): pass
class OnlyBus(Base):
    def __init__(self, bus=None):
        super().__init__("by_bus", bus=bus)
class ConfigAndBus(Base):
    def __init__(self, config=None, bus=None):
        super().__init__("config-and-bus", config, bus)
class ConfigAndBrain(Base):
    toolbox_id = "brainy"
    def __init__(self, config=None, brain=None):
        super().__init__(self.toolbox_id, config)
        self.late = True
    def discover_tools(self):
        assert self.late  # the base's constructor asks too early
        return super().discover_tools()
class PassedOn(Base):
    def __init__(self, toolbox_id, **kwargs):
        super().__init__(toolbox_id=toolbox_id, **kwargs)
class OwnAndPassedOn(Base):
    def __init__(self, **kwargs):
        super().__init__("own-and-passed", **kwargs)
class WithDefault(Base):
    def __init__(self, config=None, bus=None, toolbox_id="default-id"):
        super().__init__(toolbox_id, config, bus)

class Odd(Base):
    def __init__(self, config=None, bus=None):
        super().__init__("odd", config, bus)
    def fail(self, a):
        try:
            raise KeyError("the cause")
        except KeyError as cause:
            raise ValueError("  as it is:\nspaces and all ") from cause
    def listen(self, a):
        heard = []
        self.bus.on("topic", heard.append)
        for topic in ("topic", "ovos.persona.tools.discover", "ovos.persona.tools.call", "ovos.persona.tools.odd.call"):
            self.bus.emit(topic)
        self.bus.remove("ovos.persona.tools.discover", self.answers)
        return Dumped(heard=heard)
    def discover_tools(self):
        return [AgentTool("fail", self.fail), AgentTool("listen", self.listen), AgentTool("", self.fail), AgentTool("bare", self.fail, None),
                AgentTool("numbers", lambda a: Dumped(nan=float("nan"), deep=[float("inf"), 1.5]))] + (
                [AgentTool("later", self.fail)] if self.asked > 1 else [])
class Unmade(Base):
    def __init__(self, config=None, bus=None):
        raise RuntimeError("it needs a key")
class Lost(Base):
    def __init__(self, config=None, bus=None):
        super().__init__("lost", config, bus)
    def discover_tools(self):
        raise OSError("away")
not_a_class = 5
SKILL = os.path.join(os.path.dirname(__file__), "SKILL.md")
`
	standInEntries = `[opm.agents.toolbox]
broken-import = boxes.nowhere:X
broken-kind = boxes:not_a_class
by-bus = boxes:OnlyBus
config-and-bus = boxes:ConfigAndBus
brainy = boxes:ConfigAndBrain
ends = ends:X
lost = boxes:Lost
no-constructor = boxes:NoConstructor
odd = boxes:Odd
own-and-passed = boxes:OwnAndPassedOn
passed-on = boxes:PassedOn
unmade = boxes:Unmade
with-default = boxes:WithDefault

[opm.agents.skill_md]
no-skill = boxes:not_a_class
skill = boxes:SKILL
`
)

// assistant is a folder with the packages.
func assistant(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, "ovos_utils/__init__.py", "")
	write(t, dir, "ovos_utils/fakebus.py", standInBus)
	write(t, dir, "boxes/__init__.py", standInBoxes)
	write(t, dir, "boxes/SKILL.md", "---\nname: x\ndescription: y\n---\n")
	write(t, dir, "ends.py", "import os\nprint('noise')\nos._exit(3)\n")
	write(t, dir, "boxes-1.2.dist-info/METADATA", "Metadata-Version: 2.1\nName: boxes\nVersion: 1.2\n")
	write(t, dir, "boxes-1.2.dist-info/entry_points.txt", standInEntries)
	return dir
}

// TestOPMList: every entry point is listed with its real id; what is broken is told,
// also one whose import ends the process, and the others are there.
func TestOPMList(t *testing.T) {
	t.Parallel()
	dir := assistant(t)
	cmd := exec.CommandContext(t.Context(), python(t), hostFile(t), "list", "--opm", "--path", dir)
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	var list struct {
		Toolboxes []struct {
			Entry string `json:"entry_point"`
			ID    string `json:"toolbox_id"`
			From  string `json:"distribution"`
			As    string `json:"version"`
			Error string `json:"error"`
		} `json:"toolboxes"`
		Skills []struct{ Name, Path, Distribution, Error string } `json:"skills"`
	}
	if jerr := json.Unmarshal(out, &list); err != nil || jerr != nil {
		t.Fatalf("%v, %v: %s\n%s", err, jerr, out, &errs)
	}
	ids, faults := map[string]string{}, map[string]string{}
	for _, b := range list.Toolboxes {
		if b.From == "boxes" && b.As == "1.2" {
			ids[b.Entry], faults[b.Entry] = b.ID, b.Error
		}
	}
	for entry, id := range map[string]string{
		"by-bus": "by_bus", "config-and-bus": "config-and-bus", "brainy": "brainy", "no-constructor": "no-constructor", "odd": "odd", "passed-on": "passed-on",
		"own-and-passed": "own-and-passed", "with-default": "default-id", "unmade": "unmade", "lost": "lost",
	} {
		if ids[entry] != id || faults[entry] != "" {
			t.Errorf("%s has the id %q: %s", entry, ids[entry], faults[entry])
		}
	}
	for entry, want := range map[string]string{
		"broken-import": "it cannot be imported: ModuleNotFoundError: No module named 'boxes.nowhere'", "broken-kind": "it is no toolbox, but an int", "ends": "it ends the process when it is imported, or does not come to an end",
	} {
		if faults[entry] != want {
			t.Errorf("%s: %q", entry, faults[entry])
		}
	}
	found := 0
	for _, s := range list.Skills {
		switch {
		case s.Name == "skill" && s.Error == "" && strings.HasSuffix(s.Path, "SKILL.md"), s.Name == "no-skill" && s.Error == "it cannot be found: boxes:not_a_class names no file":
			found++
		}
	}
	if found != 2 {
		t.Errorf("skills: %+v", list.Skills)
	}
}

// TestOPMConstructors: a toolbox is made whatever its generation, and bound to a bus.
func TestOPMConstructors(t *testing.T) {
	t.Setenv("TOOLCRIB_CONFIG_0", "from a variable")
	dir := assistant(t)
	for entry, want := range map[string]string{
		"no-constructor": `{"id":"no-constructor","config":{"key":"from a variable"},"asked":1,"bus":true}`,
		"by-bus":         `{"id":"by_bus","config":{},"asked":1,"bus":true}`,
		"config-and-bus": `{"id":"config-and-bus","config":{"key":"from a variable"},"asked":1,"bus":true}`,
		"brainy":         `{"id":"brainy","config":{"key":"from a variable"},"asked":2,"bus":true}`,
		"passed-on":      `{"id":"passed-on","config":{"key":"from a variable"},"asked":1,"bus":true}`,
		"own-and-passed": `{"id":"own-and-passed","config":{"key":"from a variable"},"asked":1,"bus":true}`,
		"with-default":   `{"id":"default-id","config":{"key":"from a variable"},"asked":1,"bus":true}`,
	} {
		t.Run(entry, func(t *testing.T) {
			p := start(t, "serve", "--path", dir, "--opm", entry, "--config", `{"key":{"$env":"TOOLCRIB_CONFIG_0"}}`)
			sameJSON(t, entry, p.call("made", map[string]any{}).StructuredContent, want)
		})
	}
}

// TestOPMTools: schemas and words as they are, no answers on the bus, and what cannot
// be listed is left out.
func TestOPMTools(t *testing.T) {
	t.Parallel()
	p := start(t, "serve", "--path", assistant(t), "--opm", "odd")
	tools, _ := p.tools()
	if len(tools) != 3 || !p.logged("the tool 'bare' of the toolbox odd is left out: TypeError: no schema") {
		t.Errorf("tools: %v", tools)
	}
	if got := string(tools["fail"].InputSchema); got != `{"title":"Z","properties":{},"type":"object"}` {
		t.Errorf("the schema is %s", got)
	}
	if r := p.call("fail", map[string]any{}); !r.IsError || r.text() != "ValueError:   as it is:\nspaces and all " || !p.logged("KeyError: 'the cause'") {
		t.Errorf("a failure: %+v", r)
	}
	sameJSON(t, "the bus", p.call("listen", map[string]any{}).StructuredContent, `{"heard":["topic"]}`)
	sameJSON(t, "numbers", p.call("numbers", map[string]any{}).StructuredContent, `{"nan":null,"deep":[null,1.5]}`)
	if tools, _ := p.tools(); len(tools) != 4 {
		t.Errorf("the toolbox is not asked anew: %v", tools)
	}
}

// TestOPMBroken: one sentence says what is wrong.
func TestOPMBroken(t *testing.T) {
	t.Parallel()
	dir := assistant(t)
	for entry, want := range map[string]string{
		"broken-import": "The toolbox broken-import of boxes 1.2 cannot be served: it cannot be imported: ModuleNotFoundError: No module named 'boxes.nowhere'",
		"unmade":        "The toolbox unmade of boxes 1.2 cannot be served: it cannot be made: RuntimeError: it needs a key",
		"lost":          "The toolbox lost cannot say what it has: OSError: away",
		"oddd":          "(did you mean odd?).",
	} {
		p := start(t, "serve", "--path", dir, "--opm", entry)
		m := p.ask("initialize", map[string]any{"protocolVersion": "2025-11-25", "capabilities": map[string]any{}})
		if m.Error == nil || !strings.Contains(m.Error.Message, want) {
			t.Errorf("%s: %+v", entry, m.Error)
		}
	}
}
