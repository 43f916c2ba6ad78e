package pyhost_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestPrintsStayOutOfTheProtocol(t *testing.T) {
	p := serve(t, `
print("while loading")
import ctypes, logging, os, subprocess, sys, warnings
logging.basicConfig(level=logging.INFO, stream=sys.stdout)

def noise() -> str:
    print("from print", flush=True)
    print("not flushed", end="")
    sys.stdout.buffer.write(b"from the buffer\n"); sys.stdout.buffer.flush()
    sys.__stdout__.write("from __stdout__\n"); sys.__stdout__.flush()
    os.write(1, b"from fd 1\n")
    logging.info("from logging")
    warnings.warn("from warnings")
    subprocess.run([sys.executable, "-c", "print('from a child')"], check=True)
    if sys.platform != "win32":
        ctypes.CDLL(None).puts(b"from C")
        ctypes.CDLL(None).fflush(None)
        if os.fork() == 0:
            print("from a fork", flush=True)
            os._exit(0)
        os.wait()
    return "quiet"

def close_all() -> str:
    sys.stdout.close()
    os.close(1)
    return "closed"

def read() -> str:
    return repr(sys.stdin.read())

def ask() -> str:
    return input("what? ")
`)
	if got := p.call("noise", nil).text(); got != "quiet" {
		t.Errorf("noise: %q", got)
	}
	if got := p.call("read", nil).text(); got != "''" {
		t.Errorf("read: %q", got)
	}
	if r := p.call("ask", nil); r.text() != "EOFError: EOF when reading a line" || !r.IsError {
		t.Errorf("ask: %q", r.text())
	}
	if got := p.call("close_all", nil).text(); got != "closed" {
		t.Errorf("close_all: %q", got)
	}
	if got := p.call("close_all", nil); !got.IsError {
		t.Errorf("close_all again: %q", got.text())
	}
	for _, want := range []string{"while loading", "from print", "not flushed", "from the buffer", "from __stdout__", "from fd 1", "from logging", "from warnings", "from a child"} {
		if !p.logged(want) {
			t.Errorf("the log lacks %q", want)
		}
	}
}

func TestErrorsAreOneSentence(t *testing.T) {
	p := serve(t, `
import sys, threading
class Odd(BaseException):
    def __str__(self): raise RuntimeError("no text")
class Quiet(Exception): pass
def value(): raise ValueError("no good")
def key(): return {}["a"]
def leave(): sys.exit(3)
def leave_quietly(): sys.exit()
def interrupt(): raise KeyboardInterrupt
def deep(): return deep()
def memory(): raise MemoryError
def odd(): raise Odd()
def quiet(): raise Quiet
def cause():
    try: 1 / 0
    except ZeroDivisionError as e: raise ValueError("outer") from e
async def later(): raise ValueError("async")
async def leave_async(): sys.exit(1)
def gen():
    yield 1
    raise ValueError("in the middle")
def thing(): return object()
def loop():
    x = []
    x.append(x)
    return x
def lies() -> dict: return [1]
def fine(): return "still here"
`)
	for name, want := range map[string]string{
		"value":         "ValueError: no good",
		"key":           "KeyError: 'a' is missing",
		"leave":         "SystemExit: the tool tried to end the process (3)",
		"leave_quietly": "SystemExit: the tool tried to end the process",
		"interrupt":     "KeyboardInterrupt: the tool was interrupted",
		"deep":          "RecursionError: the tool calls itself too deeply",
		"memory":        "MemoryError: not enough memory",
		"odd":           "Odd",
		"quiet":         "Quiet",
		"cause":         "ValueError: outer",
		"later":         "ValueError: async",
		"leave_async":   "SystemExit: the tool tried to end the process (1)",
		"gen":           "ValueError: in the middle",
		"thing":         "The result cannot be sent: an object has no JSON form.",
		"loop":          "The result cannot be sent: it is nested too deeply, or contains itself.",
		"lies":          "lies promises an object as its result, but returned an array.",
	} {
		r := p.call(name, nil)
		if r.text() != want || !r.IsError {
			t.Errorf("%s: got %q, want %q", name, r.text(), want)
		}
	}
	if got := p.call("fine", nil).text(); got != "still here" {
		t.Errorf("fine: %q", got)
	}
	for _, want := range []string{"toolcrib: value failed\nTraceback", "ZeroDivisionError", "ValueError: async"} {
		if !p.logged(want) {
			t.Errorf("the log lacks %q", want)
		}
	}
}

func TestResults(t *testing.T) {
	t.Parallel()
	p := serve(t, `
import collections, dataclasses, datetime, decimal, enum, pathlib, types, typing, uuid
class E(enum.Enum):
    A = "a"
@dataclasses.dataclass
class D:
    x: int
    e: E = E.A
class N(typing.NamedTuple):
    a: int
class S(str): pass
class I(int): pass
class Box:
    def to_dict(self): return {"in": "box"}

def text(): return "a\nb"
def typed_text() -> str: return "t"
def none(): return None
def number() -> int: return 5
def flag(): return True
def array(): return [1, "a", None, 2.5]
def obj() -> dict: return {"a": {"b": [1]}}
def keys(): return {1: "a", None: "b", True: "c", E.A: "d", (1, 2): "e"}
def dataclass() -> D: return D(1)
def datas() -> typing.List[D]: return [D(1)]
def named() -> N: return N(1)
def many(): return {"d": datetime.date(2030, 1, 2), "t": datetime.datetime(2030, 1, 2, 3), "x": decimal.Decimal("1.10"),
                    "u": uuid.UUID(int=1), "p": pathlib.PurePosixPath("/a"), "e": E.A, "s": {3, 1, 2}, "f": frozenset(["z"]),
                    "tu": (1, 2), "td": datetime.timedelta(seconds=1.5), "b": b"hi", "m": types.MappingProxyType({"a": 1}),
                    "dq": collections.deque([1]), "r": range(2), "S": S("s"), "I": I(3), "box": Box(), "g": (i for i in range(2)), "n": N(1)}
def nan(): return [float("nan"), float("inf"), -float("inf"), 1e308]
def surrogate(): return "a\ud800b\ud83d\ude00\udc00"
def surrogate_key(): return {"\udc80": 1}
def png() -> bytes: return b"\x89PNG\r\n\x1a\n123"
def jpeg(): return bytearray(b"\xff\xd8\xff\xe0")
def blob(): return b"\x00\x01"
def generator() -> typing.Iterator[int]:
    yield 1
    yield 2
async def stream():
    yield "a"
    yield "b"
def optional() -> typing.Optional[str]: return None
def big(): return 2 ** 70
def wrapped():
    async def inner(): return "from a coroutine"
    return inner()
`)
	for name, want := range map[string]string{
		"text":          `{"content":[{"type":"text","text":"a\nb"}]}`,
		"typed_text":    `{"content":[{"type":"text","text":"t"}]}`,
		"none":          `{"content":[{"type":"text","text":"null"}],"structuredContent":{"result":null}}`,
		"number":        `{"content":[{"type":"text","text":"5"}],"structuredContent":{"result":5}}`,
		"flag":          `{"content":[{"type":"text","text":"true"}],"structuredContent":{"result":true}}`,
		"array":         `{"content":[{"type":"text","text":"[1,\"a\",null,2.5]"}],"structuredContent":{"result":[1,"a",null,2.5]}}`,
		"obj":           `{"content":[{"type":"text","text":"{\"a\":{\"b\":[1]}}"}],"structuredContent":{"a":{"b":[1]}}}`,
		"keys":          `{"content":[{"type":"text","text":"{\"1\":\"c\",\"null\":\"b\",\"a\":\"d\",\"[1, 2]\":\"e\"}"}],"structuredContent":{"1":"c","null":"b","a":"d","[1, 2]":"e"}}`,
		"dataclass":     `{"content":[{"type":"text","text":"{\"x\":1,\"e\":\"a\"}"}],"structuredContent":{"x":1,"e":"a"}}`,
		"datas":         `{"content":[{"type":"text","text":"[{\"x\":1,\"e\":\"a\"}]"}],"structuredContent":{"result":[{"x":1,"e":"a"}]}}`,
		"named":         `{"content":[{"type":"text","text":"{\"a\":1}"}],"structuredContent":{"a":1}}`,
		"nan":           `{"content":[{"type":"text","text":"[null,null,null,1e+308]"}],"structuredContent":{"result":[null,null,null,1e308]}}`,
		"surrogate":     `{"content":[{"type":"text","text":"a�b😀�"}]}`,
		"surrogate_key": `{"content":[{"type":"text","text":"{\"�\":1}"}],"structuredContent":{"�":1}}`,
		"png":           `{"content":[{"type":"image","data":"iVBORw0KGgoxMjM=","mimeType":"image/png"}]}`,
		"jpeg":          `{"content":[{"type":"image","data":"/9j/4A==","mimeType":"image/jpeg"}]}`,
		"blob":          `{"content":[{"type":"resource","resource":{"uri":"data:application/octet-stream","mimeType":"application/octet-stream","blob":"AAE="}}]}`,
		"generator":     `{"content":[{"type":"text","text":"[1,2]"}],"structuredContent":{"result":[1,2]}}`,
		"stream":        `{"content":[{"type":"text","text":"[\"a\",\"b\"]"}],"structuredContent":{"result":["a","b"]}}`,
		"optional":      `{"content":[{"type":"text","text":"null"}],"structuredContent":{"result":null}}`,
		"big":           `{"content":[{"type":"text","text":"1180591620717411303424"}],"structuredContent":{"result":1180591620717411303424}}`,
		"wrapped":       `{"content":[{"type":"text","text":"from a coroutine"}]}`,
	} {
		m := p.ask("tools/call", map[string]any{"name": name})
		var got struct {
			Result json.RawMessage `json:"result"`
		}
		if err := json.Unmarshal([]byte(m.line), &got); err != nil {
			t.Fatal(err)
		}
		sameJSON(t, name, got.Result, want)
	}
	sameJSON(t, "many", p.call("many", nil).StructuredContent, `{"d":"2030-01-02","t":"2030-01-02T03:00:00","x":"1.10","u":"00000000-0000-0000-0000-000000000001","p":"/a","e":"a","s":[1,2,3],"f":["z"],"tu":[1,2],"td":1.5,"b":"aGk=","m":{"a":1},"dq":[1],"r":[0,1],"S":"s","I":3,"box":{"in":"box"},"g":[0,1],"n":{"a":1}}`)
	tools, _ := p.tools()
	for name, want := range map[string]string{
		"number":    `{"type":"object","properties":{"result":{"type":"integer"}},"required":["result"]}`,
		"obj":       `{"type":"object"}`,
		"dataclass": `{"type":"object","properties":{"x":{"type":"integer"},"e":{"enum":["a"],"type":"string","default":"a"}},"required":["x","e"]}`,
		"generator": `{"type":"object","properties":{"result":{"type":"array","items":{"type":"integer"}}},"required":["result"]}`,
		"optional":  `{"type":"object","properties":{"result":{"anyOf":[{"type":"string"},{"type":"null"}]}},"required":["result"]}`,
	} {
		sameJSON(t, "the output schema of "+name, tools[name].OutputSchema, want)
	}
	for _, name := range []string{"text", "typed_text", "none", "png", "many"} {
		if tools[name].OutputSchema != nil {
			t.Errorf("%s has the output schema %s", name, tools[name].OutputSchema)
		}
	}
}

func TestProgress(t *testing.T) {
	p := serve(t, `
import toolcrib
from toolcrib import progress, cancelled, log, Progress
def steps(n: int) -> str:
    for i in range(n):
        progress(i + 1, n, "step %d" % (i + 1))
    progress(n, n)      # does not grow: not sent
    progress("x")
    log("said to the log")
    return "cancelled" if cancelled() else "done"
def given(n: int, report: Progress) -> str:
    report(0.5, message="half")
    return "done"
async def items(n: int):
    for i in range(n):
        yield "item %d" % i
`)
	tools, _ := p.tools()
	if schema := string(tools["given"].InputSchema); strings.Contains(schema, "report") {
		t.Errorf("the schema shows the parameter for progress: %s", schema)
	}
	p.line(`{"jsonrpc":"2.0","id":100,"method":"tools/call","params":{"name":"steps","arguments":{"n":2},"_meta":{"progressToken":"T"}}}`)
	p.line(`{"jsonrpc":"2.0","method":"notifications/whatever"}`)
	for _, want := range []string{
		`{"progressToken":"T","progress":1,"total":2,"message":"step 1"}`,
		`{"progressToken":"T","progress":2,"total":2,"message":"step 2"}`,
	} {
		if m := p.receive(); m.Method != "notifications/progress" || string(m.Params) != want {
			t.Errorf("got %s, want %s", m.line, want)
		}
	}
	if m := p.receive(); m.Result.text() != "done" {
		t.Errorf("the answer: %s", m.line)
	}
	p.line(`{"jsonrpc":"2.0","id":101,"method":"tools/call","params":{"name":"given","arguments":{"n":2},"_meta":{"progressToken":7}}}`)
	if m := p.receive(); string(m.Params) != `{"progressToken":7,"progress":0.5,"message":"half"}` {
		t.Errorf("got %s", m.line)
	}
	p.receive()
	p.line(`{"jsonrpc":"2.0","id":102,"method":"tools/call","params":{"name":"items","arguments":{"n":1},"_meta":{"progressToken":8}}}`)
	if m := p.receive(); string(m.Params) != `{"progressToken":8,"progress":1,"message":"item 0"}` {
		t.Errorf("got %s", m.line)
	}
	p.receive()
	if got := p.call("steps", raw(`{"n":3}`)).text(); got != "done" { // no token, no progress
		t.Errorf("steps: %q", got)
	}
	if !p.logged("said to the log") {
		t.Error("log does not reach standard error")
	}
}

const cancellable = `
import asyncio, threading, time
from toolcrib import cancelled
seen = []
def patient() -> str:
    seen.append("patient began")
    while not cancelled():
        time.sleep(0.005)
    seen.append("patient noticed")
    return "late"
def deaf() -> str:
    seen.append("deaf began")
    try:
        while True:
            pass
    finally:
        seen.append("deaf stopped")
def stone() -> str:
    seen.append("stone began")
    while True:
        try:
            while True: time.sleep(0.005)
        except BaseException:
            seen.append("stone refused")
async def coroutine() -> str:
    seen.append("coroutine began")
    try:
        await asyncio.sleep(3600)
    except asyncio.CancelledError:
        seen.append("coroutine cancelled")
        raise
def story() -> list: return list(seen)
def threads() -> int: return threading.active_count()
`

func TestCancellation(t *testing.T) {
	t.Parallel()
	p := serve(t, cancellable)
	for name, end := range map[string]string{"patient": "patient noticed", "deaf": "deaf stopped", "stone": "stone refused", "coroutine": "coroutine cancelled"} {
		id := p.send("tools/call", map[string]any{"name": name})
		p.until(name + " began")
		p.line(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d,"reason":"test"}}`, id))
		p.until(end) // and no answer to the cancelled call comes in between
	}
}

// until asks the file for its story until it has a line; every answer must be that of the story.
func (p *process) until(want string) {
	p.t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if strings.Contains(p.call("story", nil).text(), `"`+want+`"`) {
			return
		}
	}
	p.t.Fatalf("never: %s\n%s", want, p.log())
}

// Cancelled calls that never end do not keep others from running.
func TestStuckCallsGiveTheirPlacesAway(t *testing.T) {
	t.Parallel()
	p := serve(t, `
import time
def stuck() -> str:
    time.sleep(3600)
def fine() -> str:
    return "fine"
`)
	for range 64 {
		p.send("tools/call", map[string]any{"name": "stuck"})
	}
	waiting := p.send("tools/call", map[string]any{"name": "fine"})
	p.ask("ping", nil) // the host still listens
	for id := 1; id <= 64; id++ {
		p.line(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, id))
	}
	if m := p.receive(); string(m.ID) != fmt.Sprint(waiting) || m.Result.text() != "fine" {
		t.Errorf("got %s", m.line)
	}
}

func TestAThousandCallsAtOnce(t *testing.T) {
	t.Parallel()
	p := serve(t, `
import asyncio, threading, time
lock = threading.Lock()
now = most = 0
def nap(i: int) -> int:
    global now, most
    with lock:
        now += 1
        most = max(most, now)
    time.sleep(0.002)
    with lock:
        now -= 1
    return i
async def anap(i: int) -> int:
    await asyncio.sleep(0.002)
    return i
def highest() -> int: return most
`)
	for _, name := range []string{"nap", "anap"} {
		want := map[string]bool{}
		go func() {
			for i := range 1000 {
				p.line(fmt.Sprintf(`{"jsonrpc":"2.0","id":"%s-%d","method":"tools/call","params":{"name":%q,"arguments":{"i":%d}}}`, name, i, name, i))
			}
		}()
		for range 1000 {
			m := p.receive()
			if m.Result == nil || m.Result.IsError || string(m.ID) != fmt.Sprintf(`"%s-%s"`, name, m.Result.text()) || want[string(m.ID)] {
				t.Fatalf("got %s", m.line)
			}
			want[string(m.ID)] = true
		}
	}
	if got := p.call("highest", nil).text(); got == "1" || len(got) > 2 || (len(got) == 2 && got > "64") {
		t.Errorf("%s calls ran at once", got)
	}
}

// Calls that wait are run in the order in which they came.
func TestWaitingCallsKeepTheirOrder(t *testing.T) {
	p := serve(t, `
import threading
gate = threading.Event()
def hold() -> None: gate.wait()
def note(i: int) -> int: return i
async def release() -> None: gate.set()
`)
	for range 63 { // one place is left
		p.send("tools/call", map[string]any{"name": "hold"})
	}
	for i := range 20 {
		p.send("tools/call", map[string]any{"name": "note", "arguments": map[string]any{"i": i}})
	}
	for i := range 20 {
		if m := p.receive(); m.Result.text() != fmt.Sprint(i) {
			t.Fatalf("wanted the answer %d, got %s", i, m.line)
		}
	}
	p.send("tools/call", map[string]any{"name": "release"})
	for range 64 {
		if m := p.receive(); m.Result == nil || m.Result.IsError {
			t.Fatalf("got %s", m.line)
		}
	}
}

func TestChildrenOfMultiprocessing(t *testing.T) {
	t.Parallel()
	if onWindows() {
		return // the same way, but slow to start
	}
	p := serve(t, `
import concurrent.futures, multiprocessing
def square(x: int) -> int: return x * x
def squares(n: int) -> list:
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=context) as pool:
        return list(pool.map(square, range(n)))
`)
	if got := p.call("squares", raw(`{"n":4}`)).text(); got != "[0,1,4,9]" {
		t.Errorf("squares: %q", got)
	}
}

// Whatever a tool or a library gives, the line is JSON and the caller is answered.
func TestWhatCannotBeWritten(t *testing.T) {
	t.Parallel()
	p := serve(t, `
import os, sys
from toolcrib import tool
host = sys.modules["__main__"]
@tool
def huge(): return 10 ** 5000
@tool
def library(): return host.Answer([{"type": "text", "text": "t"}], {"x": float("nan"), "y": {1, 2}})
@tool
def infinite(x: float = float("inf")): return x
@tool(name=5)
def number(): ...
@tool(description=7, annotations={"a": object()})
def odd(): ...
@tool
def fork() -> str:
    if sys.platform != "win32" and os.fork() == 0:
        sys.exit(3)  # comes back into the host, in the child
    return str(os.waitstatus_to_exitcode(os.wait()[1])) if sys.platform != "win32" else "3"
`)
	if _, names := p.tools(); names != "huge library infinite fork" {
		t.Errorf("tools: %s", names)
	}
	if r := p.call("huge", nil); r.text() == "" { // some Pythons write such a number, others refuse
		t.Errorf("huge: %v", r)
	}
	sameJSON(t, "library", p.call("library", nil).StructuredContent, `{"x":null,"y":[1,2]}`)
	sameJSON(t, "infinite", p.call("infinite", nil).StructuredContent, `{"result":null}`)
	if got := p.call("fork", nil).text(); got != "3" {
		t.Errorf("fork: %q", got)
	}
	if m := p.ask("ping", nil); m.Error != nil {
		t.Errorf("ping: %s", m.line)
	}
}
