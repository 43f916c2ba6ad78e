package pyhost_test

import (
	"fmt"
	"strings"
	"testing"
)

// The libraries themselves are not on every machine: here are stand-ins with
// the interfaces that the host uses. Package conformance has the genuine ones.
const (
	standInModel = `
class Field:
    def __init__(self, description=None): self.description = description
class Model:
    fields = {}
    model_fields = {}
    def __init__(self, **given):
        for name, kind in self.fields.items():
            if name not in given or not isinstance(given[name], kind):
                raise ValueError("%s does not fit" % name)
        self.given = {n: v for n, v in given.items() if n in self.fields}
    def model_dump(self): return self.given
    @classmethod
    def model_json_schema(cls):
        names = {str: "string", int: "integer"}
        return {"type": "object", "properties": {n: {"type": names[k]} for n, k in cls.fields.items()}, "required": list(cls.fields)}
`
	standInAgenticX = `
import asyncio, inspect
class ToolError(Exception): pass
class BaseTool:
    def __init__(self, name=None, description=None, args_schema=None, timeout=None, organization_id=None):
        self.name, self.description, self.args_schema = name or type(self).__name__, description or self.__doc__, args_schema
        self.timeout, self.organization_id, self._is_running = timeout, organization_id, False
    def _run(self, **kwargs): raise NotImplementedError
    async def _arun(self, **kwargs):
        return await asyncio.get_running_loop().run_in_executor(None, lambda: self._run(**kwargs))
    def _check(self, kwargs):
        if self._is_running: raise ToolError("Tool %s is already running" % self.name)
        self._is_running = not self.args_schema or bool(self.args_schema(**kwargs))
        return self.args_schema(**kwargs).model_dump() if self.args_schema else kwargs
    def run(self, **kwargs):
        if self.timeout: raise ValueError("signal only works in the main thread")
        kwargs = self._check(kwargs)
        try: return self._run(**kwargs)
        finally: self._is_running = False
    async def arun(self, **kwargs):
        kwargs = self._check(kwargs)
        try: return await asyncio.wait_for(self._arun(**kwargs), self.timeout)
        except asyncio.TimeoutError: raise ToolError("Tool %s timed out" % self.name)
        finally: self._is_running = False
`
	standInFunctionTool = `
import inspect
from .base import BaseTool
class FunctionTool(BaseTool):
    def __init__(self, func, **more):
        self.func = func
        super().__init__(name=more.pop("name", None) or func.__name__, description=(func.__doc__ or "").split("\n")[0], **more)
    @property
    def is_async(self): return inspect.iscoroutinefunction(self.func)
    def _run(self, **kwargs): return self.func(**kwargs)
    async def _arun(self, **kwargs):
        return await self.func(**kwargs) if self.is_async else await super()._arun(**kwargs)
def tool(**more): return lambda func: FunctionTool(func, **more)
`
	standInLangChain = `
class ToolMessage:
    def __init__(self, content, artifact, status, tool_call_id):
        self.content, self.artifact, self.status, self.tool_call_id = content, artifact, status, tool_call_id
class ToolException(Exception): pass
class InjectedToolCallId: pass
class BaseTool:
    name = description = ""
    args_schema = None
    response_format = "content"
    handle_tool_error = False
    @property
    def tool_call_schema(self): return self.args_schema
    def _run(self, **kwargs): raise NotImplementedError
    async def _arun(self, **kwargs): return self._run(**kwargs)
    def invoke(self, given):
        call = given if given.get("type") == "tool_call" else None
        try:
            value = self._run(**(call["args"] if call else given))
        except ToolException as error:
            if not self.handle_tool_error: raise
            return ToolMessage(str(error), None, "error", call["id"]) if call else str(error)
        if not call: return value
        content, artifact = value if self.response_format == "content_and_artifact" else (str(value), None)
        return ToolMessage(content, artifact, "success", call["id"])
    async def ainvoke(self, given):
        return await self._arun(**given)
class BaseToolkit:
    pass
`
)

func standIns(t *testing.T) string {
	dir := t.TempDir()
	write(t, dir, "agenticx/__init__.py", "")
	write(t, dir, "agenticx/tools/__init__.py", "from .base import BaseTool\nfrom .function_tool import FunctionTool, tool\n")
	write(t, dir, "agenticx/tools/base.py", standInAgenticX)
	write(t, dir, "agenticx/tools/function_tool.py", standInFunctionTool)
	write(t, dir, "langchain_core/__init__.py", "")
	write(t, dir, "langchain_core/tools/__init__.py", "from .base import *\n")
	write(t, dir, "langchain_core/tools/base.py", standInLangChain)
	write(t, dir, "model.py", standInModel)
	return dir
}

func TestAgenticX(t *testing.T) {
	t.Parallel()
	dir := standIns(t)
	p := start(t, "serve", "--path", dir, "--file", write(t, t.TempDir(), "tools.py", `
import asyncio, time
from agenticx.tools import tool, BaseTool
from model import Model, Field
from toolcrib import progress
class In(Model):
    fields = {"q": str}
    model_fields = {"q": Field("The query.")}
class AddIn(Model):
    fields = {"a": int, "b": int}
    model_fields = {"a": Field(), "b": Field()}
@tool(args_schema=AddIn, timeout=30.0, organization_id="acme")
def add(a, b):
    """Adds.

    Args:
        a: The first.
    """
    progress(1)
    return a + b
@tool(name="nap")
def rest(): time.sleep(0.05); return "rested"
@tool()
async def later(): await asyncio.sleep(0); return "later"
@tool(timeout=0.05)
async def late(): await asyncio.sleep(60)
class Search(BaseTool):
    "Searches."
    def __init__(self): super().__init__(name="search", args_schema=In)
    def _run(self, q): time.sleep(0.01); return {"q": q}
class NeedsMore(BaseTool):
    def __init__(self, more): super().__init__()
def helper(): "Not a tool: the file has tools of a library."
`))
	tools, names := p.tools()
	if names != "add nap later late search" {
		t.Errorf("tools: %s", names)
	}
	sameJSON(t, "add", tools["add"].InputSchema, `{"type":"object","properties":{"a":{"type":"integer","description":"The first."},"b":{"type":"integer"}},"required":["a","b"]}`)
	sameJSON(t, "search", tools["search"].InputSchema, `{"type":"object","properties":{"q":{"type":"string","description":"The query."}},"required":["q"]}`)
	if meta := tools["add"].Meta; meta["agenticx/timeout"] != 30.0 || meta["agenticx/organization_id"] != "acme" {
		t.Errorf("meta: %v", meta)
	}
	if !p.logged("NeedsMore is left out: it could not be made without arguments") {
		t.Errorf("the log says nothing of NeedsMore: %s", p.log())
	}
	p.line(`{"jsonrpc":"2.0","id":500,"method":"tools/call","params":{"name":"add","arguments":{"a":1,"b":2},"_meta":{"progressToken":1}}}`)
	if m := p.receive(); m.Method != "notifications/progress" {
		t.Errorf("no progress out of a thread of the library: %s", m.line)
	}
	if m := p.receive(); m.Result.text() != "3" {
		t.Errorf("add: %s", m.line)
	}
	for name, want := range map[string]string{"later": "later", "late": "ToolError: Tool late timed out", "search": "ValueError: q does not fit"} {
		if got := p.call(name, nil).text(); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	// One object runs one call at a time, and nobody is told that it is already running.
	for _, name := range []string{"search", "nap"} {
		for range 10 {
			p.send("tools/call", map[string]any{"name": name, "arguments": map[string]any{"q": "x"}})
			if name == "nap" {
				p.line(fmt.Sprintf(`{"jsonrpc":"2.0","id":"n%d","method":"tools/call","params":{"name":"nap"}}`, p.next))
			}
		}
	}
	rested := 0
	for range 30 {
		m := p.receive()
		if strings.Contains(m.line, "already running") {
			t.Fatalf("got %s", m.line)
		}
		if m.Result.text() == "rested" {
			rested++
		}
	}
	if rested != 10 { // the other ten got an argument that the function does not know
		t.Errorf("%d calls of nap were right", rested)
	}
}

func TestLangChain(t *testing.T) {
	t.Parallel()
	dir := standIns(t)
	p := start(t, "serve", "--path", dir, "--file", write(t, t.TempDir(), "tools.py", `
from langchain_core.tools import BaseTool, BaseToolkit, ToolException
from model import Model
class In(Model):
    fields = {"x": int}
class Twice(BaseTool):
    name, description, args_schema = "twice", "Doubles.", In
    def _run(self, x): return {"twice": 2 * x}
class Raw(BaseTool):
    name, description, args_schema = "raw", "A schema as a dict.", {"type": "object", "properties": {"x": {"type": "string"}}}
    def _run(self, x): return x
class Later(BaseTool):
    name, description, args_schema = "later", "Async.", In
    async def _arun(self, x): return "later %d" % x
class Made(BaseTool):
    name, description, args_schema, response_format = "made", "Makes.", In, "content_and_artifact"
    def _run(self, x): return [{"type": "text", "text": "made"}, "more"], {"items": x}
class Bad(BaseTool):
    name, description, args_schema, handle_tool_error = "bad", "Fails.", In, True
    def _run(self, x): raise ToolException("handled %d" % x)
class Worse(BaseTool):
    name, description, args_schema = "worse", "Fails.", In
    def _run(self, x): raise ToolException("raised %d" % x)
class Kit(BaseToolkit):
    def get_tools(self): return [Worse()]
kit = Kit()
tools = [Twice(), Raw()]
`))
	tools, names := p.tools()
	if names != "twice raw worse later made bad" {
		t.Errorf("tools: %s", names)
	}
	sameJSON(t, "twice", tools["twice"].InputSchema, `{"type":"object","properties":{"x":{"type":"integer"}},"required":["x"]}`)
	sameJSON(t, "raw", tools["raw"].InputSchema, `{"type":"object","properties":{"x":{"type":"string"}}}`)
	r := p.call("twice", raw(`{"x":4}`))
	sameJSON(t, "twice", r.StructuredContent, `{"twice":8}`)
	if got := p.call("later", raw(`{"x":4}`)).text(); got != "later 4" {
		t.Errorf("later: %q", got)
	}
	r = p.call("made", raw(`{"x":4}`))
	sameJSON(t, "made", r.StructuredContent, `{"items":4}`)
	if len(r.Content) != 2 || r.Content[0]["text"] != "made" || r.Content[1]["text"] != "more" {
		t.Errorf("made: %v", r.Content)
	}
	if r := p.call("bad", raw(`{"x":4}`)); r.text() != "handled 4" || !r.IsError {
		t.Errorf("bad: %v", r)
	}
	if r := p.call("worse", raw(`{"x":4}`)); r.text() != "ToolException: raised 4" || !r.IsError {
		t.Errorf("worse: %v", r)
	}
}

// A server object of FastMCP is asked through a client in the same process.
func TestFastMCP(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "fastmcp/__init__.py", `
from .server.server import FastMCP
class Dumps:
    def __init__(self, **told): self.told = told
    def model_dump(self, **_): return self.told
class Client:
    def __init__(self, server, log_handler=None): self.server, self.log = server, log_handler
    async def __aenter__(self): return self
    async def __aexit__(self, *_): pass
    async def list_tools(self):
        return [Dumps(name=n, description=f.__doc__, inputSchema={"type": "object"}) for n, f in self.server.functions.items()]
    async def call_tool_mcp(self, name, arguments, progress_handler=None):
        await progress_handler(1.0, 2.0, "half")
        try: text, bad = await self.server.functions[name](**arguments), False
        except Exception as error: text, bad = str(error), True
        return Dumps(content=[{"type": "text", "text": text}], structuredContent={"result": text}, isError=bad)
`)
	write(t, dir, "fastmcp/server/__init__.py", "")
	write(t, dir, "fastmcp/server/server.py", `
class FastMCP:
    def __init__(self, name): self.name, self.functions = name, {}
    def tool(self, function): self.functions[function.__name__] = function; return function
    def add_tool(self, function): self.tool(function)
`)
	p := start(t, "serve", "--path", dir, "--file", write(t, t.TempDir(), "tools.py", `
from fastmcp import FastMCP
mcp = FastMCP("demo")
@mcp.tool
async def greet(name: str) -> str:
    "Greets."
    return "hello " + name
@mcp.tool
async def fail() -> str:
    "Fails."
    raise ValueError("their words")
async def loose() -> str:
    "Marked, and of no server."
    return "loose"
loose.__fastmcp__ = object()
`))
	if _, names := p.tools(); names != "greet fail loose" {
		t.Errorf("tools: %s", names)
	}
	p.line(`{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"greet","arguments":{"name":"Ann"},"_meta":{"progressToken":1}}}`)
	if m := p.receive(); string(m.Params) != `{"progressToken":1,"progress":1.0,"total":2.0,"message":"half"}` {
		t.Errorf("progress: %s", m.line)
	}
	if m := p.receive(); m.Result.text() != "hello Ann" || m.Result.IsError {
		t.Errorf("greet: %s", m.line)
	}
	if r := p.call("fail", nil); r.text() != "their words" || !r.IsError {
		t.Errorf("fail: %v", r)
	}
}
