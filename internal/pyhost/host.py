# Toolcrib's Python host: Python tools as an MCP server on standard input and output.
#
# One file, standard library only, Python 3.9 or later. Toolcrib starts it as
#
#     python host.py serve --file TOOLS.py      functions and tool objects of a file
#     python host.py serve --module PACKAGE     the same of an installed module
#     python host.py serve --opm ENTRYPOINT     one installed OPM toolbox [--config JSON]
#     python host.py list  --opm                what OPM entry points are installed, as JSON
#
# Sections, in this order:
#
#     1  standard streams   the protocol's own descriptors, before anything can print
#     2  errors             one sentence for the model, the traceback for the log
#     3  results            Python values as MCP content
#     4  the toolcrib module  what a tool file may import: tool, progress, cancelled, log
#     5  tools and sources  the classes that every kind of tool implements
#     6  running calls      threads, coroutines, cancellation
#     7  protocol           reading and answering MCP messages
#     8  docstrings         Google, NumPy, reST and Epytext
#     9  schemas from types JSON Schema and conversion of arguments
#    10  sources            plain functions, AgenticX, LangChain, FastMCP, pydantic
#    11  OPM                toolboxes of OpenVoiceOS
#    12  command line
#
# The file must also parse on Python 3.9: no match, no X | Y outside strings.

# ---------------------------------------------------------------------------
# 1  Standard streams
#
# Descriptors 0 and 1 belong to the protocol. They are copied and replaced
# before anything else is imported: what a tool, a C library or a child
# process prints goes to standard error (the log), and what reads standard
# input finds its end.

import os
import sys


def _claim_streams():
    try:
        os.fstat(2)
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    wire_in, wire_out = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    if os.name == "nt":
        import msvcrt

        msvcrt.setmode(wire_in, os.O_BINARY)
        msvcrt.setmode(wire_out, os.O_BINARY)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.reconfigure(line_buffering=True, errors="backslashreplace")
        except Exception:
            pass
    # A child that is forked and not replaced must not hold the protocol open.
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=lambda: (_close(wire_in), _close(wire_out)))
    return wire_in, wire_out


def _close(fd):
    try:
        os.close(fd)
    except OSError:
        pass


WIRE_IN = WIRE_OUT = -1
CHILD_FILE = "TOOLCRIB_PYTHON_FILE"  # for children of multiprocessing: the tool file's module name and path
if __name__ == "__main__":
    WIRE_IN, WIRE_OUT = _claim_streams()
    # The folder of this file is not a place to import from.
    if sys.path and os.path.abspath(sys.path[0] or ".") == os.path.dirname(os.path.abspath(__file__)):
        del sys.path[0]

import base64
import collections
import contextvars
import itertools
import json
import signal
import threading
import time
import traceback
import types

# ---------------------------------------------------------------------------
# 2  Errors


class Failure(Exception):
    """An error whose text is already the sentence for the caller."""


class Refused(Failure):
    """Arguments that do not fit."""


class _Stop(BaseException):
    """Put into a thread whose call was cancelled and that did not notice."""


def sentence(error):
    """Says an exception in one line, without a traceback and without places in files."""
    if isinstance(error, Failure):
        return str(error)
    if isinstance(error, SystemExit):
        code = error.code
        return "SystemExit: the tool tried to end the process" + ("" if code in (None, 0) else " (%s)" % (code,))
    if isinstance(error, KeyboardInterrupt):
        return "KeyboardInterrupt: the tool was interrupted"
    if isinstance(error, RecursionError):
        return "RecursionError: the tool calls itself too deeply"
    if isinstance(error, MemoryError):
        return "MemoryError: not enough memory"
    name = type(error).__name__
    try:
        if is_pydantic_error(error):
            return "%s: %s" % (name, join_problems(pydantic_problems(error)))
        text = str(error).strip()
        parts = getattr(error, "exceptions", None)  # an ExceptionGroup
        if isinstance(parts, tuple) and parts and isinstance(parts[0], BaseException):
            text = "; ".join(sentence(part) for part in parts[:10])
    except BaseException:
        text = ""
    if isinstance(error, KeyError) and len(error.args) == 1:
        text = "%r is missing" % (error.args[0],)
    return "%s: %s" % (name, text) if text else name


def log_error(where, error):
    """Writes the whole traceback to standard error."""
    try:
        lines = traceback.format_exception(type(error), error, error.__traceback__)
        sys.stderr.write("toolcrib: %s failed\n%s" % (where, "".join(lines)))
        sys.stderr.flush()
    except BaseException:
        pass


def log_line(text):
    try:
        sys.stderr.write("toolcrib: %s\n" % text)
        sys.stderr.flush()
    except BaseException:
        pass


# ---------------------------------------------------------------------------
# 3  Results


class Answer:
    """A ready MCP result, for sources that build their own."""

    __slots__ = ("content", "structured", "is_error")

    def __init__(self, content, structured=None, is_error=False):
        self.content, self.structured, self.is_error = content, structured, is_error


def jsonable(value, _depth=0):
    """Gives the JSON form of a Python value, or raises Failure with a sentence."""
    kind = type(value)
    if value is None or kind is str or kind is bool or kind is int:
        return value
    if kind is float:
        return value if value - value == 0.0 else None
    if _depth > 200:
        raise Failure("The result cannot be sent: it is nested too deeply, or contains itself.")
    depth = _depth + 1
    if kind is dict:
        return {_key(k): jsonable(v, depth) for k, v in value.items()}
    if kind is list or kind is tuple:
        return [jsonable(v, depth) for v in value]
    return _jsonable_object(value, depth)


def _key(key):
    if type(key) is str:
        return key
    key = jsonable(key, 1)
    if isinstance(key, str):
        return key
    return json.dumps(key)


def _jsonable_object(value, depth):
    import dataclasses
    import datetime
    import decimal
    import enum
    import pathlib
    import uuid

    if isinstance(value, enum.Enum):
        return jsonable(value.value, depth)
    dump = getattr(type(value), "model_dump", None)
    if dump is not None:
        try:
            return jsonable(value.model_dump(mode="json"), depth)
        except Failure:
            raise
        except Exception:
            return jsonable(value.model_dump(), depth)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: jsonable(getattr(value, f.name), depth) for f in dataclasses.fields(value)}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return {name: jsonable(item, depth) for name, item in zip(value._fields, value)}
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, bool):
        return bool(value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return jsonable(float(value), depth)
    if isinstance(value, decimal.Decimal):
        return str(value)
    if isinstance(value, (datetime.datetime, datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, datetime.timedelta):
        return value.total_seconds()
    if isinstance(value, (uuid.UUID, pathlib.PurePath)):
        return str(value)
    if isinstance(value, (bytes, bytearray, memoryview)):
        return base64.b64encode(bytes(value)).decode("ascii")
    if isinstance(value, collections.abc.Mapping):
        return {_key(k): jsonable(v, depth) for k, v in value.items()}
    if isinstance(value, (set, frozenset)):
        items = [jsonable(v, depth) for v in value]
        try:
            return sorted(items)
        except TypeError:
            return items
    if isinstance(value, (list, tuple, collections.deque, range)) or isinstance(value, collections.abc.Iterator):
        return [jsonable(v, depth) for v in value]
    for name in ("isoformat", "tolist", "to_dict", "dict", "_asdict"):
        method = getattr(value, name, None)
        if callable(method) and not isinstance(value, type):
            try:
                return jsonable(method(), depth)
            except Failure:
                raise
            except Exception:
                continue
    if isinstance(value, (collections.abc.Sequence, collections.abc.Set)):
        return [jsonable(v, depth) for v in value]
    raise Failure("The result cannot be sent: %s has no JSON form." % _article(type(value).__name__))


def _article(noun):
    return ("an " if noun[:1] in "aeiouAEIOU" else "a ") + noun


_dumps = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


def encode(value):
    """Gives the bytes of one message; lone surrogates become U+FFFD."""
    try:
        text = _dumps(value)
    except (TypeError, ValueError, RecursionError):
        text = _dumps(jsonable(value))  # what libraries give may have NaN and objects in it
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        return mend(text).encode("utf-8")


def mend(text):
    """Joins surrogate pairs and replaces lone surrogates."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def result_of(value, tool):
    """Makes the MCP result of what a tool returned."""
    wrap = tool.wrap
    if type(value) is str and not wrap:
        return {"content": [{"type": "text", "text": value}]}
    if isinstance(value, Answer):
        result = {"content": value.content}
        if value.structured is not None:
            result["structuredContent"] = value.structured
        if value.is_error:
            result["isError"] = True
        return result
    picture = _picture(value)
    if picture is not None:
        return {"content": [picture]}
    data = jsonable(value)
    if isinstance(data, str):
        text = data
    else:
        text = _dumps(data)
    result = {"content": [{"type": "text", "text": text}]}
    if type(data) is dict and not wrap:
        result["structuredContent"] = data
    elif tool.output_schema is not None and not wrap:
        raise Failure("%s promises an object as its result, but returned %s." % (tool.name, shown(data)))
    elif wrap or not isinstance(data, str):
        result["structuredContent"] = {"result": data}
    return result


def _picture(value):
    """Gives image or resource content for bytes and for images of known libraries."""
    if isinstance(value, (bytes, bytearray, memoryview)):
        raw = bytes(value)
    elif callable(getattr(value, "save", None)) and type(value).__module__.startswith("PIL."):
        import io

        buffer = io.BytesIO()
        value.save(buffer, format="PNG")
        raw = buffer.getvalue()
    else:
        return None
    for magic, mime in _MAGIC:
        if raw.startswith(magic):
            return {"type": "image", "data": base64.b64encode(raw).decode("ascii"), "mimeType": mime}
    if raw[:4] == b"RIFF" and raw[8:12] == b"WEBP":
        return {"type": "image", "data": base64.b64encode(raw).decode("ascii"), "mimeType": "image/webp"}
    return {
        "type": "resource",
        "resource": {
            "uri": "data:application/octet-stream",
            "mimeType": "application/octet-stream",
            "blob": base64.b64encode(raw).decode("ascii"),
        },
    }


_MAGIC = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)

# ---------------------------------------------------------------------------
# 4  The toolcrib module
#
# A tool file may import these names. Outside a call they do nothing, so the
# functions work the same when a person calls them.

_current = contextvars.ContextVar("toolcrib_call", default=None)


class Progress:
    """What a tool knows of its own call: progress out, cancellation in."""

    __slots__ = ("_call",)

    def __init__(self, call=None):
        self._call = call

    def __call__(self, done, total=None, message=None):
        call = self._call or _current.get()
        if call is not None:
            call.progress(done, total, message)

    def cancelled(self):
        call = self._call or _current.get()
        return call is not None and call.cancelled

    def log(self, message):
        log_line(message)


def tool(function=None, *, name=None, title=None, description=None, annotations=None):
    """Marks a function as a tool. If a file marks any, only those are tools."""

    def mark(function):
        mark_of = {"name": name, "title": title, "description": description, "annotations": annotations}
        try:
            function.__toolcrib_tool__ = mark_of
        except AttributeError:
            raise TypeError("toolcrib.tool marks functions, not %s" % _article(type(function).__name__)) from None
        return function

    return mark if function is None else mark(function)


def toolcrib_module():
    module = types.ModuleType("toolcrib", "Names for tool files that run under Toolcrib.")
    module.tool = tool
    module.Progress = Progress
    module.progress = Progress()
    module.cancelled = module.progress.cancelled
    module.log = log_line
    module.__all__ = ["tool", "Progress", "progress", "cancelled", "log"]
    return module


# ---------------------------------------------------------------------------
# 5  Tools and sources


class Tool:
    """One tool. A source makes these; the protocol lists and calls them.

    call(arguments, context) returns any Python value or an Answer and may
    raise anything. If is_async is true, call returns a coroutine, which runs
    on the host's event loop; otherwise call runs in a thread of the pool.
    context is the Call: context.progress(done, total, message), context.cancelled.
    """

    is_async = False
    serial = False  # true: one call at a time, the others wait in order

    def __init__(self, name, description="", input_schema=None, title=None, output_schema=None, wrap=False,
                 annotations=None, meta=None):
        self.name = name
        self.title = title
        self.description = description
        self.input_schema = input_schema or {"type": "object", "properties": {}}
        self.output_schema = output_schema
        self.wrap = wrap  # the output schema is {"result": …}
        self.annotations = annotations
        self.meta = meta
        self.waiting = None  # calls of a serial tool that wait, while one runs

    def call(self, arguments, context):
        raise NotImplementedError

    def describe(self):
        entry = {"name": self.name, "description": self.description or "", "inputSchema": self.input_schema}
        if self.title:
            entry["title"] = self.title
        if self.output_schema:
            entry["outputSchema"] = self.output_schema
        if self.annotations:
            entry["annotations"] = self.annotations
        if self.meta:
            entry["_meta"] = self.meta
        return entry


class Source:
    """Where tools come from: a file, a module, an OPM toolbox.

    load() runs once in the main thread before the first message is answered
    and may raise; tools() is asked after load() and again after changed().
    """

    name = "python"
    version = "1"
    instructions = None
    changed = staticmethod(lambda: None)  # the server replaces it: tells the client that tools() differs now
    loop = None  # the server's Loop, for sources with coroutines of their own

    def load(self):
        pass

    def tools(self):
        return []

    refresh = None  # a source that is asked anew whenever its tools are listed has a method here

    def close(self):
        """Runs once when the process ends; it has about 0.3 seconds."""


# ---------------------------------------------------------------------------
# 6  Running calls
#
# Threads take turns at reading. The thread that reads a call hands the
# reading over to an idle thread and runs the call itself, so that no call
# waits for a second thread to wake up. At most LIMIT calls run in threads;
# further ones wait in order. Coroutines run on one event loop in a thread of
# its own and do not count.

LIMIT = 64
ABANDONED_LIMIT = 256
GRACE = 1.0  # seconds a cancelled function has to notice by itself


class Call:
    """One running tools/call request."""

    __slots__ = ("server", "id", "tool", "arguments", "token", "cancelled", "done", "lock", "thread", "task",
                 "abandoned", "stopped", "left", "_sent", "_last")

    def __init__(self, server, id, tool, arguments, token):
        self.server, self.id, self.tool, self.arguments, self.token = server, id, tool, arguments, token
        self.cancelled = self.done = self.abandoned = self.stopped = self.left = False
        self.lock = threading.Lock()
        self.thread = self.task = None
        self._sent = 0
        self._last = None

    def progress(self, done, total=None, message=None):
        """Sends a progress notification, if the caller asked for them. The number must grow."""
        if self.token is None or self.cancelled or self.done:
            return
        try:
            done = float(done) if not isinstance(done, (int, float)) or isinstance(done, bool) else done
            total = None if total is None else float(total) if not isinstance(total, (int, float)) else total
        except (TypeError, ValueError):
            return
        if done - done != 0 or (self._last is not None and done <= self._last):
            return
        self._sent += 1
        if self._sent > 1000 and self._sent % 100 and done != total:
            return  # a loop that reports each of a million steps must not flood the caller
        self._last = done
        params = {"progressToken": self.token, "progress": done}
        if total is not None and total - total == 0:
            params["total"] = total
        if message is not None:
            params["message"] = str(message)
        self.server.send({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})

    def run(self):
        """Runs the tool in this thread and answers."""
        with self.lock:
            if self.cancelled:
                self.done = True
            self.thread = threading.get_ident()
        result = failed = None
        if not self.done:
            token = _current.set(self)
            try:
                result = result_of(self.collect(self.tool.call(self.arguments, self)), self.tool)
            except BaseException as error:
                failed = error
            while not self._close_call():
                pass
            _current.reset(token)
            if os.getpid() != self.server.pid:
                # The tool forked, and this is the child that came back from it.
                os._exit(failed.code if isinstance(failed, SystemExit) and isinstance(failed.code, int) else 0)
        self.answer(result, failed)

    def _close_call(self):
        """Marks the call as done; afterwards no exception of interrupt() can come any more."""
        try:
            with self.lock:
                self.done = True
            if self.stopped:
                import ctypes

                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self.thread), None)
            return True
        except _Stop:
            return False

    async def run_async(self):
        """Runs the tool on the event loop and answers."""
        _current.set(self)
        result = failed = None
        try:
            outcome = await self.tool.call(self.arguments, self)
            if hasattr(outcome, "__aiter__") and hasattr(outcome, "__anext__"):
                items = []
                async for item in outcome:
                    items.append(item)
                    self.progress(len(items), None, item if isinstance(item, str) else None)
                outcome = items
            result = result_of(self.collect(outcome), self.tool)
        except BaseException as error:
            failed = error
        with self.lock:
            self.done = True
        self.answer(result, failed)

    def collect(self, outcome):
        """Runs a generator to its end; every item is a step of progress. A coroutine runs on the event loop."""
        if isinstance(outcome, types.CoroutineType):
            import asyncio

            future = asyncio.run_coroutine_threadsafe(outcome, self.server.loop.get())
            ended = threading.Event()
            future.add_done_callback(lambda _: ended.set())
            while not ended.wait(0.1):
                if self.cancelled:
                    future.cancel()
            return future.result()
        if not isinstance(outcome, types.GeneratorType):
            return outcome
        items = []
        for item in outcome:
            items.append(item)
            self.progress(len(items), None, item if isinstance(item, str) else None)
            if self.cancelled:
                outcome.close()
                break
        return items

    def answer(self, result, failed):
        if failed is not None:
            if self.cancelled:
                log_line("%s was cancelled" % self.tool.name)
            else:
                if not isinstance(failed, Refused):
                    log_error(self.tool.name, failed)
                result = {"content": [{"type": "text", "text": sentence(failed)}], "isError": True}
        self.server.finish(self, result)

    def cancel(self):
        """Marks the call as cancelled. Returns true if it still runs."""
        with self.lock:
            if self.done or self.cancelled:
                return False
            self.cancelled = True
            return True

    def interrupt(self):
        """Raises _Stop in the thread of a cancelled function that did not notice."""
        import ctypes

        with self.lock:
            if self.done or self.thread is None:
                return
            self.stopped = True
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self.thread), ctypes.py_object(_Stop))


class _Seat:
    """Where an idle thread waits: for its turn at reading, or for a call."""

    __slots__ = ("turn", "call")

    def __init__(self):
        self.turn = threading.Lock()
        self.turn.acquire()
        self.call = None


class Crew:
    """The threads that read and run."""

    def __init__(self, read_call, limit=LIMIT):
        self.read_call = read_call  # returns the next Call, or None at the end of input
        self.limit = limit
        self.lock = threading.Lock()
        self.idle = []  # seats of threads that wait
        self.queue = collections.deque()
        self.busy = 0
        self.abandoned = 0
        self.numbers = itertools.count(1)

    def start(self):
        self._spawn(None)

    def _spawn(self, call):
        threading.Thread(target=self._thread, args=(call,), name="toolcrib-%d" % next(self.numbers), daemon=True).start()

    def _thread(self, call):
        seat = _Seat()
        while True:
            if call is None:
                call = self.read_call()
                if call is None:
                    return
                with self.lock:
                    if self.busy >= self.limit:
                        self.queue.append(call)
                        call = None
                        continue
                    self.busy += 1
                    reader = self.idle.pop() if self.idle else None
                if reader is not None:
                    reader.turn.release()
                else:
                    self._spawn(None)
            while call is not None:
                call.run()
                with self.lock:
                    if call.abandoned:
                        self.abandoned -= 1
                        return
                    call = self._next()
                    if call is None:
                        if len(self.idle) >= self.limit:
                            return
                        self.idle.append(seat)
            seat.turn.acquire()
            call, seat.call = seat.call, None

    def _next(self):
        """Under the lock: the next waiting call, or the place is free."""
        while self.queue:
            call = self.queue.popleft()
            if not call.cancelled:
                return call
        self.busy -= 1
        return None

    def run_elsewhere(self, call):
        """Runs a call in another thread than the one that reads."""
        with self.lock:
            if self.busy >= self.limit:
                self.queue.append(call)
                return
            self.busy += 1
        self._give(call)

    def _give(self, call):
        with self.lock:
            seat = self.idle.pop() if self.idle else None
        if seat is None:
            self._spawn(call)
            return
        seat.call = call
        seat.turn.release()

    def abandon(self, call):
        """Gives the place of a cancelled call that does not end to the next one."""
        with self.lock:
            if call.done or call.thread is None or call.abandoned or self.abandoned >= ABANDONED_LIMIT:
                return
            call.abandoned = True
            self.abandoned += 1
            call = self._next()
        if call is not None:
            self._give(call)


def context_executor():
    """Threads for libraries that run functions beside the event loop; they know the call they belong to."""
    import concurrent.futures

    class Executor(concurrent.futures.ThreadPoolExecutor):
        def submit(self, function, *arguments, **named):
            return super().submit(contextvars.copy_context().run, function, *arguments, **named)

    return Executor(max_workers=LIMIT, thread_name_prefix="toolcrib-beside")


class Loop:
    """One asyncio event loop in a thread, started with the first coroutine."""

    def __init__(self):
        self.loop = None
        self.lock = threading.Lock()

    def get(self):
        if self.loop is None:
            with self.lock:
                if self.loop is None:
                    import asyncio

                    loop = asyncio.new_event_loop()
                    loop.set_default_executor(context_executor())
                    threading.Thread(target=self._run, args=(loop,), name="toolcrib-loop", daemon=True).start()
                    self.loop = loop
        return self.loop

    def _run(self, loop):
        import asyncio

        asyncio.set_event_loop(loop)
        while True:
            try:
                loop.run_forever()
                return
            except BaseException as error:  # SystemExit in a task ends run_forever
                log_error("the event loop", error)

    def start(self, call):
        loop = self.get()

        def begin():
            call.task = loop.create_task(call.run_async())

        loop.call_soon_threadsafe(begin)

    def cancel(self, call):
        def end():
            if call.task is not None:
                call.task.cancel()

        self.get().call_soon_threadsafe(end)


# ---------------------------------------------------------------------------
# 7  Protocol

VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS, INTERNAL = -32700, -32600, -32601, -32602, -32603
NOT_LOADED = -32000


class Server:
    """Speaks MCP for one source."""

    def __init__(self, source, wire_in, wire_out):
        self.source = source
        self.wire_out = wire_out
        self.pid = os.getpid()
        self.readline = os.fdopen(wire_in, "rb", 1 << 16).readline
        self.write_lock = threading.Lock()
        self.list_lock = threading.Lock()
        self.calls = {}
        self.serial_lock = threading.Lock()
        self.cancelled = collections.deque()  # calls to interrupt: (when, Call)
        self.insisting = False
        self.loading = True
        self.loop = Loop()
        self.crew = Crew(self.read_call)
        self.tools = {}
        self.listed = []
        self.failure = None
        self.backlog = []  # lines that came while the source was loading; None afterwards
        self.backlog_lock = threading.Lock()
        self.ended = threading.Event()
        self.exit_code = 0

    # Life

    def serve(self):
        """Loads the source in this, the main thread, while another one reads; returns the exit code."""
        for name in ("SIGTERM", "SIGINT", "SIGHUP"):
            if hasattr(signal, name):
                try:
                    signal.signal(getattr(signal, name), lambda *_: self.end(0))
                except (ValueError, OSError):
                    pass
        self.source.changed = self.tools_changed
        self.source.loop = self.loop
        self.crew.start()
        try:
            self.source.load()
            self.take_tools()
        except BaseException as error:
            if not isinstance(error, Failure):
                log_error("loading", error)
            self.failure = sentence(error)
            log_line(self.failure)
        self.loading = False
        with self.backlog_lock:
            lines, self.backlog = self.backlog, None
            for line in lines:
                self.take(line)
        while not self.ended.wait(3600):
            pass
        return self.exit_code

    def end(self, code=0):
        if self.loading:
            finish(self, code)  # the main thread is busy in the code of others
        self.exit_code = code
        self.ended.set()

    def take_tools(self):
        tools = {}
        for entry in self.source.tools():
            if not isinstance(entry.name, str) or not entry.name:
                log_line("a tool is left out: its name is %r" % (entry.name,))
                continue
            if entry.name in tools:
                log_line("two tools are named %s; only the first one is served" % entry.name)
                continue
            tools[entry.name] = entry
        self.tools = tools
        self.listed = []
        for entry in list(tools.values()):
            try:
                told = entry.describe()
                self.listed.append(json.loads(encode(told)))
            except Exception as error:
                log_error("describing " + entry.name, error)
                del tools[entry.name]

    def tools_changed(self):
        self.take_tools()
        self.send({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})

    # In

    def read_call(self):
        """Reads and answers messages until one is a call for a thread."""
        while True:
            try:
                line = self.readline()
            except (OSError, ValueError):
                line = b""
            if not line:
                self.end(1 if self.failure else 0)
                return None
            if self.backlog is not None:
                with self.backlog_lock:
                    if self.backlog is not None:
                        self.backlog.append(line)
                        continue
            try:
                call = self.handle_line(line)
            except BaseException as error:
                log_error("the protocol", error)
                continue
            if call is not None:
                return call

    def take(self, line):
        """Handles a line in a thread that does not read."""
        try:
            call = self.handle_line(line)
        except BaseException as error:
            log_error("the protocol", error)
            return
        if call is not None:
            self.crew.run_elsewhere(call)

    def handle_line(self, line):
        try:
            message = _decode(line.decode("utf-8"))
        except (ValueError, RecursionError):
            if line.strip():
                self.send_error(None, PARSE_ERROR, "The line is not JSON.")
            return None
        if type(message) is dict:
            return self.handle(message)
        if type(message) is list and message:  # a batch, as of 2025-03-26
            for item in message:
                call = self.handle(item) if type(item) is dict else self.send_error(None, INVALID_REQUEST, "Not a request.")
                if call is not None:
                    self.crew.run_elsewhere(call)
            return None
        self.send_error(None, INVALID_REQUEST, "The line is not a request.")
        return None

    def handle(self, message):
        try:
            return self.handle_request(message)
        except Exception as error:
            log_error("the protocol", error)
            id = message.get("id")
            if _is_id(id):
                self.send_error(id, INTERNAL, sentence(error))
            return None

    def handle_request(self, message):
        method = message.get("method")
        id = message.get("id")
        params = message.get("params")
        if method is None and ("result" in message or "error" in message):
            return None
        if type(method) is not str:
            return self.send_error(id if _is_id(id) else None, INVALID_REQUEST, "The request has no method.")
        if params is None:
            params = {}
        if "id" not in message:
            if method == "notifications/cancelled" and type(params) is dict:
                self.cancel(params.get("requestId"))
            return None
        if not _is_id(id):
            return self.send_error(None, INVALID_REQUEST, "The id of a request is a string or a number.")
        if type(params) is not dict:
            return self.send_error(id, INVALID_PARAMS, "params must be an object.")
        if method == "ping":
            return self.send_result(id, {})
        if self.failure is not None:
            return self.send_error(id, NOT_LOADED, self.failure)
        if method == "tools/call":
            return self.call(id, params)
        if method == "tools/list":
            if self.source.refresh is not None:
                threading.Thread(target=self.list_anew, args=(id,), daemon=True).start()
                return None
            return self.send_result(id, {"tools": self.listed})
        if method == "initialize":
            return self.send_result(id, self.initialize(params))
        return self.send_error(id, METHOD_NOT_FOUND, "There is no method %s." % method[:100])

    def list_anew(self, id):
        """Lists the tools of a source that is asked first, in a thread: it may take its time."""
        try:
            with self.list_lock:
                self.source.refresh()
                self.take_tools()
        except BaseException as error:
            log_error("listing the tools", error)
            return self.send_error(id, INTERNAL, sentence(error))
        self.send_result(id, {"tools": self.listed})

    def initialize(self, params):
        version = params.get("protocolVersion")
        result = {
            "protocolVersion": version if version in VERSIONS else VERSIONS[0],
            "capabilities": {"tools": {"listChanged": True}},
            "serverInfo": {"name": self.source.name, "version": self.source.version},
        }
        if self.source.instructions:
            result["instructions"] = self.source.instructions
        return result

    def call(self, id, params):
        name, arguments = params.get("name"), params.get("arguments")
        entry = self.tools.get(name) if type(name) is str else None
        if entry is None:
            return self.send_error(id, INVALID_PARAMS, "There is no tool %s%s." % (
                name if type(name) is str else "without a name", did_you_mean(name, self.tools)))
        if arguments is None:
            arguments = {}
        elif type(arguments) is not dict:
            return self.send_error(id, INVALID_PARAMS, "arguments must be an object.")
        meta = params.get("_meta")
        token = meta.get("progressToken") if type(meta) is dict else None
        if not _is_id(token):
            token = None
        if id in self.calls:
            return self.send_error(id, INVALID_REQUEST, "A call with this id is running.")
        call = Call(self, id, entry, arguments, token)
        self.calls[id] = call
        if entry.serial:
            with self.serial_lock:
                if entry.waiting is not None:
                    entry.waiting.append(call)
                    return None
                entry.waiting = collections.deque()
        if entry.is_async:
            self.loop.start(call)
            return None
        return call

    def leave(self, call):
        """Starts the next waiting call of a serial tool."""
        entry = call.tool
        if not entry.serial:
            return
        with self.serial_lock:
            if call.left:
                return
            call.left = True
            call = None
            while entry.waiting and call is None:
                call = entry.waiting.popleft()
                if call.cancelled:
                    call = None
            if call is None:
                entry.waiting = None
                return
        if entry.is_async:
            self.loop.start(call)
        else:
            self.crew.run_elsewhere(call)

    def cancel(self, id):
        call = self.calls.get(id) if _is_id(id) else None
        if call is None or not call.cancel():
            return
        self.calls.pop(id, None)
        if call.tool.is_async:
            self.loop.cancel(call)
            return

        with self.serial_lock:
            self.cancelled.append((time.monotonic() + GRACE, call))
            if self.insisting:
                return
            self.insisting = True
        threading.Thread(target=self.insist, name="toolcrib-cancel", daemon=True).start()

    def insist(self):
        """Interrupts functions that did not notice that their call was cancelled, and gives their places away."""
        while True:
            with self.serial_lock:
                if not self.cancelled:
                    self.insisting = False
                    return
                due, call = self.cancelled.popleft()
            if call.done:
                continue
            time.sleep(max(0.0, due - time.monotonic()))
            if call.stopped:
                self.crew.abandon(call)
                self.leave(call)
            else:
                call.interrupt()
                with self.serial_lock:
                    self.cancelled.append((time.monotonic() + GRACE, call))

    # Out

    def finish(self, call, result):
        """Sends the answer of a call, unless it was cancelled."""
        if self.calls.get(call.id) is call:
            del self.calls[call.id]
        try:
            if not call.cancelled:
                self.send_result(call.id, result)
        except Exception as error:
            log_error("sending the result of " + call.tool.name, error)
            said = "The result cannot be sent: %s" % sentence(error)
            self.send_result(call.id, {"content": [{"type": "text", "text": said}], "isError": True})
        finally:
            self.leave(call)

    def send_result(self, id, result):
        self.send({"jsonrpc": "2.0", "id": id, "result": result})

    def send_error(self, id, code, text):
        self.send({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": text}})

    def send(self, message):
        data = encode(message) + b"\n"
        try:
            with self.write_lock:
                sent = os.write(self.wire_out, data)
                while sent < len(data):
                    data = data[sent:]
                    sent = os.write(self.wire_out, data)
        except OSError:
            self.end(0)


def _not_json(constant):
    raise ValueError(constant)  # NaN and Infinity, which Python's reader would take


_decode = json.JSONDecoder(parse_constant=_not_json).decode


def _is_id(id):
    return type(id) is str or type(id) is int or (type(id) is float and id - id == 0)


def did_you_mean(name, names):
    import difflib

    close = difflib.get_close_matches(name, list(names), 1, 0.6) if type(name) is str and len(name) < 200 else []
    return " (did you mean %s?)" % close[0] if close else ""


# ---------------------------------------------------------------------------
# 8  Docstrings
#
# One reader for Google, NumPy, reST and Epytext. It goes through the lines
# once and takes out the sections and fields that it knows; everything else is
# the description. So a docstring may even mix styles.

_ARGUMENTS = frozenset(("args", "arguments", "parameters", "params", "parameter", "argument", "keyword args", "attributes",
                        "keyword arguments", "other parameters", "kwargs", "keywords"))
_RETURNS = frozenset(("returns", "return", "yields", "yield"))
_RAISES = frozenset(("raises", "raise", "except", "exceptions", "raised"))
_FIELD_ARGUMENT = frozenset(("param", "parameter", "arg", "argument", "key", "keyword", "kwarg", "ivar", "var", "cvar"))
_FIELD_RETURN = frozenset(("return", "returns", "yield", "yields"))
_FIELD_RAISE = frozenset(("raise", "raises", "except", "exception", "throws"))
_FIELD_IGNORED = frozenset(("type", "rtype", "vartype", "kwtype", "ytype"))


class Doc:
    """A docstring that was read."""

    __slots__ = ("summary", "details", "arguments", "returns", "raises")

    def __init__(self):
        self.summary = self.details = self.returns = ""
        self.arguments = {}
        self.raises = []

    def description(self):
        """The text for the model: summary, details, what it returns, what it raises."""
        parts = [part for part in (self.summary, self.details) if part]
        if self.returns:
            parts.append("Returns: " + self.returns)
        if self.raises:
            parts.append("Raises: " + "; ".join(self.raises))
        return "\n\n".join(parts)


def read_docstring(text):
    """Reads a docstring of any style. It never fails: what it does not know is description."""
    doc = Doc()
    if not isinstance(text, str):
        return doc
    import inspect

    lines = [line.rstrip() for line in inspect.cleandoc(text).splitlines()]
    if lines and lines[0].endswith(":") and _known(_section_name(lines[0])):
        # A section on the very first line: what follows has lost its indentation.
        after = next((line for line in lines[1:] if line), "")
        if after and not _indent(after) and not (after.endswith(":") and _known(_section_name(after))):
            lines[1:] = ["    " + line if line else line for line in lines[1:]]
    kept = []
    at = 0
    while at < len(lines):
        line = lines[at]
        field = _field(line)
        if field is not None:
            at = _read_field(doc, field, lines, at + 1)
            continue
        end = _underlined(lines, at)
        if end:
            body, at = lines[at + 2:end], end
            _read_numpy(doc, _section_name(line), body)
            continue
        name = _google_header(lines, at)
        if name:
            body, at = _indented(lines, at + 1)
            _read_google(doc, name, body)
            continue
        kept.append(line)
        at += 1
    paragraphs = "\n".join(kept).strip().split("\n\n", 1)
    doc.summary = " ".join(paragraphs[0].split()) if not _is_list(paragraphs[0]) else paragraphs[0].strip()
    doc.details = paragraphs[1].strip() if len(paragraphs) > 1 else ""
    return doc


def _is_list(text):
    return any(line.lstrip().startswith(("- ", "* ", "1. ", ">>> ")) for line in text.splitlines())


def _section_name(line):
    return line.strip().rstrip(":").strip().lower()


def _known(name):
    return name in _ARGUMENTS or name in _RETURNS or name in _RAISES


def _indent(line):
    return len(line) - len(line.lstrip())


def _plain(words):
    return " ".join(" ".join(words).split())


def _add(doc, names, text):
    for name in names.split(","):
        name = name.strip().lstrip("\\").lstrip("*").strip("`'\"").replace("\\*", "")
        if name.isidentifier() and (text or name not in doc.arguments):
            doc.arguments[name] = text


# reST (":param int name: text") and Epytext ("@param name: text")


def _field(line):
    """Gives (kind, argument, text) of a field line, or None."""
    if line[:1] not in (":", "@") or len(line) < 4:
        return None
    sign = line[0]
    end = line.find(":", 1)
    while sign == ":" and 0 < end < len(line) - 1 and line[end + 1] not in (" ", "\t"):
        end = line.find(":", end + 1)
    if end < 0:
        return None
    words = line[1:end].split()
    if not words:
        return None
    kind = words[0].lower()
    if kind not in _FIELD_ARGUMENT and kind not in _FIELD_RETURN and kind not in _FIELD_RAISE and kind not in _FIELD_IGNORED:
        return None
    return kind, words[1:], line[end + 1:].strip()


def _read_field(doc, field, lines, at):
    kind, words, text = field
    parts = [text]
    while at < len(lines):
        line = lines[at]
        if not line:
            rest = next((one for one in lines[at:] if one), "")
            if _indent(rest) == 0:
                break
        elif _field(line) or _underlined(lines, at) or _google_header(lines, at):
            break
        parts.append(line.strip())
        at += 1
    text = _plain(parts)
    if kind in _FIELD_ARGUMENT and words:
        _add(doc, words[-1], text)
    elif kind in _FIELD_RETURN:
        doc.returns = doc.returns or text
    elif kind in _FIELD_RAISE:
        doc.raises.append(_plain([" ".join(words) + ":" if words else "", text]).rstrip(":"))
    return at


# NumPy: a name, a line of dashes, entries with deeper text


def _underlined(lines, at):
    """If a known NumPy section begins here, gives the line after its end, else 0."""
    if at + 1 >= len(lines) or not lines[at] or len(lines[at + 1]) < 3 or set(lines[at + 1].strip()) - set("-=~"):
        return 0
    if not _known(_section_name(lines[at])):
        return 0
    end = at + 2
    while end < len(lines):
        ahead = lines[end + 1].strip() if end + 1 < len(lines) else ""
        if lines[end] and len(ahead) >= 3 and not set(ahead) - set("-=~"):
            break
        if _field(lines[end]):
            break
        end += 1
    return end


def _read_numpy(doc, section, body):
    base = min((_indent(line) for line in body if line), default=0)
    entries = []
    for line in body:
        if line and _indent(line) == base:
            entries.append((line.strip(), []))
        elif entries and line:
            entries[-1][1].append(line.strip())
    if section in _ARGUMENTS:
        for head, text in entries:
            names, _, rest = head.partition(":")
            if not text and rest and names == names.rstrip() and not names.endswith(" "):
                text = [rest]  # "name: text", which is not NumPy's, but common
            _add(doc, names, _plain(text))
    elif section in _RETURNS:
        texts = [_plain(text) if text else head for head, text in entries]
        doc.returns = doc.returns or "; ".join(texts)
    else:
        doc.raises.extend(_plain([head + ":", " ".join(text)]).rstrip(":") if text else head for head, text in entries)


# Google: "Args:" and indented entries "name (type): text"


def _google_header(lines, at):
    line = lines[at]
    if not line.endswith(":") or _indent(line):
        return ""
    name = _section_name(line)
    if not _known(name):
        return ""
    rest = next((one for one in lines[at + 1:] if one), "")
    return name if _indent(rest) else ""


def _indented(lines, at):
    body = []
    while at < len(lines) and (not lines[at] or _indent(lines[at])):
        body.append(lines[at])
        at += 1
    return body, at


def _read_google(doc, section, body):
    if section in _RETURNS:
        text = _plain(body)
        head, colon, rest = text.partition(":")
        if colon and rest[:1] == " " and _looks_like_type(head):
            text = rest.strip()
        doc.returns = doc.returns or text
        return
    base = min((_indent(line) for line in body if line), default=0)
    entries = []
    for line in body:
        if line and (_indent(line) == base or not entries):
            entries.append([line.strip()])
        elif line:
            entries[-1].append(line.strip())
    for entry in entries:
        head, text = _split_entry(_plain(entry))
        if section in _RAISES:
            doc.raises.append(_plain([head + ":", text]).rstrip(":") if text else head)
            continue
        name = head.split("(", 1)[0].strip() if "(" in head else head
        _add(doc, name, text)


def _looks_like_type(text):
    depth = 0
    for char in text:
        if char in "[(":
            depth += 1
        elif char in "])":
            depth -= 1
        elif char == " " and depth == 0 and " | " not in text and " or " not in text and " of " not in text:
            return False
    return bool(text)


def _split_entry(text):
    """Splits "name (type): text" at the colon outside brackets; also "name - text"."""
    depth = 0
    for at, char in enumerate(text):
        if char in "[({":
            depth += 1
        elif char in "])}":
            depth -= 1
        elif char == ":" and depth <= 0:
            return text[:at].strip(), text[at + 1:].strip()
    for sign in (" -- ", " - ", " – "):
        head, found, rest = text.partition(sign)
        if found and " " not in head.split("(", 1)[0].strip():
            return head.strip(), rest.strip()
    return text, ""


# ---------------------------------------------------------------------------
# 9  Schemas from types
#
# A Kind is a type that was understood: its JSON Schema, and a function that
# makes a Python value of a JSON value and notes what does not fit. Types of
# pydantic are left to pydantic.


class Unsupported(Exception):
    """A type that JSON cannot express."""


class Kind:
    __slots__ = ("schema", "convert", "text")

    def __init__(self, schema, convert, text):
        self.schema = schema
        self.convert = convert  # convert(value, where, problems) -> value
        self.text = text  # for errors: "an integer"


def shown(value):
    """A JSON value, short, for an error."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "an array"
    text = _dumps(value) if isinstance(value, str) else repr(value)
    return text if len(text) <= 60 else text[:57] + '…"' if isinstance(value, str) else text[:57] + "…"


def _kind(schema, text, accept):
    """A Kind whose accept(value) returns the converted value or raises TypeError or ValueError."""

    def convert(value, where, problems):
        try:
            return accept(value)
        except (TypeError, ValueError, ArithmeticError):
            problems.append((where, "must be %s, not %s" % (text, shown(value))))

    return Kind(schema, convert, text)


def _accept_any(value, where, problems):
    return value


def _accept_str(value, where, problems):
    if type(value) is str:
        return value
    problems.append((where, "must be a string, not %s" % shown(value)))


def _accept_int(value, where, problems):
    if type(value) is int:
        return value
    if type(value) is float and value - value == 0 and value == int(value):
        return int(value)
    problems.append((where, "must be an integer, not %s" % shown(value)))


def _accept_float(value, where, problems):
    if type(value) is float:
        return value
    if type(value) is int:
        try:
            return float(value)
        except OverflowError:
            pass
    problems.append((where, "must be a number, not %s" % shown(value)))


def _accept_bool(value, where, problems):
    if type(value) is bool:
        return value
    problems.append((where, "must be true or false, not %s" % shown(value)))


def _accept_null(value, where, problems):
    if value is not None:
        problems.append((where, "must be null, not %s" % shown(value)))


ANY = Kind({}, _accept_any, "anything")
NULL = Kind({"type": "null"}, _accept_null, "null")

_simple_kinds = None


def simple_kinds():
    """Kinds of types that have no parts; made when first needed."""
    global _simple_kinds
    if _simple_kinds is not None:
        return _simple_kinds
    import datetime
    import decimal
    import pathlib
    import re
    import uuid

    def text(value):
        if type(value) is not str:
            raise TypeError
        return value

    def number(value):
        if type(value) not in (int, float):
            raise TypeError
        return value

    def exact(value):
        if type(value) not in (int, float, str):
            raise TypeError
        value = decimal.Decimal(str(value).strip())
        return value

    def moment(value):
        value = text(value).strip()
        if value[-1:] in "zZ" and value:
            value = value[:-1] + "+00:00"
        return datetime.datetime.fromisoformat(value)

    def clock(value):
        value = text(value).strip()
        if value[-1:] in "zZ" and value:
            value = value[:-1] + "+00:00"
        return datetime.time.fromisoformat(value)

    def pattern(value):
        try:
            return re.compile(text(value))
        except re.error:
            raise ValueError from None

    def path(kind):
        def accept(value):
            if "\0" in text(value):
                raise ValueError
            return kind(value)

        return _kind({"type": "string"}, "a path", accept)

    kinds = {
        str: Kind({"type": "string"}, _accept_str, "a string"),
        int: Kind({"type": "integer"}, _accept_int, "an integer"),
        float: Kind({"type": "number"}, _accept_float, "a number"),
        bool: Kind({"type": "boolean"}, _accept_bool, "true or false"),
        type(None): NULL,
        object: ANY,
        bytes: _kind({"type": "string", "contentEncoding": "base64"}, "base64 text",
                     lambda value: base64.b64decode(text(value), validate=True)),
        bytearray: _kind({"type": "string", "contentEncoding": "base64"}, "base64 text",
                         lambda value: bytearray(base64.b64decode(text(value), validate=True))),
        datetime.datetime: _kind({"type": "string", "format": "date-time"}, "a date and time such as 2030-01-31T12:00:00Z", moment),
        datetime.date: _kind({"type": "string", "format": "date"}, "a date such as 2030-01-31",
                             lambda value: datetime.date.fromisoformat(text(value).strip())),
        datetime.time: _kind({"type": "string", "format": "time"}, "a time such as 12:30:00", clock),
        datetime.timedelta: _kind({"type": "number", "description": "Seconds."}, "a number of seconds",
                                  lambda value: datetime.timedelta(seconds=number(value))),
        decimal.Decimal: _kind({"type": ["string", "number"]}, "a decimal number", exact),
        uuid.UUID: _kind({"type": "string", "format": "uuid"}, "a UUID", lambda value: uuid.UUID(text(value))),
        re.Pattern: _kind({"type": "string", "format": "regex"}, "a regular expression", pattern),
    }
    for one in (pathlib.Path, pathlib.PurePath, pathlib.PosixPath, pathlib.PurePosixPath, pathlib.PureWindowsPath):
        kinds[one] = path(one)
    _simple_kinds = kinds
    return kinds


class Types:
    """Understands the type hints of one function."""

    def __init__(self, names, output=False):
        self.names = names  # the global names of the module
        self.output = output  # schemas of results, not of arguments
        self.definitions = {}
        self._open = {}  # classes that are being read: class -> its definition's name once it is needed

    # Hints

    def evaluate(self, text, names=None):
        """The object that a hint in quotes means."""
        names = self.names if names is None else names
        try:
            return eval(text, names)
        except Exception:
            import ast

            try:
                tree = ast.parse(text.strip(), mode="eval").body
            except SyntaxError:
                raise Unsupported(text) from None
            return self._evaluate_tree(tree, names, text)

    def _evaluate_tree(self, node, names, text):
        """Reads X | Y where this Python cannot evaluate it."""
        import ast
        import typing

        def value(node):
            return self._evaluate_tree(node, names, text)

        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            return typing.Union[value(node.left), value(node.right)]
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Tuple):
            return tuple(value(one) for one in node.elts)
        if isinstance(node, ast.List):
            return [value(one) for one in node.elts]
        try:
            if isinstance(node, ast.Subscript):
                inner = node.slice
                inner = inner.value if type(inner).__name__ == "Index" else inner
                return value(node.value)[value(inner)]
            return eval(compile(ast.Expression(node), "<hint>", "eval"), names)
        except Unsupported:
            raise
        except Exception:
            raise Unsupported(text) from None

    def kind(self, hint):
        """The Kind of a hint; raises Unsupported."""
        import inspect
        import typing

        if hint is inspect.Parameter.empty or hint is typing.Any:
            return ANY
        if hint is None:
            return NULL
        if isinstance(hint, str):
            return self.kind(self.evaluate(hint))
        if isinstance(hint, typing.ForwardRef):
            return self.kind(self.evaluate(hint.__forward_arg__))
        if needs_pydantic(hint):
            return self.pydantic(hint)
        try:
            found = simple_kinds().get(hint)
        except TypeError:
            found = None
        if found is not None:
            return found
        origin, arguments = typing.get_origin(hint), typing.get_args(hint)
        name = getattr(origin, "__name__", None) or getattr(origin, "_name", None) or ""
        if hasattr(hint, "__metadata__"):
            return self.annotated(arguments[0], hint.__metadata__)
        if name in ("Required", "NotRequired", "ReadOnly", "Final", "ClassVar", "InitVar"):
            return self.kind(arguments[0])
        if name in ("Union", "UnionType") or origin is typing.Union:
            return self.union(arguments)
        if name == "Literal" or origin is typing.Literal:
            return self.literal(arguments)
        if hasattr(hint, "__supertype__"):
            return self.kind(hint.__supertype__)
        if type(hint).__name__ == "TypeAliasType":
            return self.kind(hint.__value__)
        if isinstance(hint, typing.TypeVar):
            if hint.__bound__ is not None:
                return self.kind(hint.__bound__)
            return self.union(hint.__constraints__) if hint.__constraints__ else ANY
        if isinstance(origin if origin is not None else hint, type):
            return self.of_class(origin if origin is not None else hint, arguments)
        raise Unsupported(_type_name(hint))

    def annotated(self, hint, metadata):
        """Annotated[type, "a description"]; other metadata is left to those who know it."""
        kind = self.kind(hint)
        for one in metadata:
            text = one if isinstance(one, str) else getattr(one, "documentation", None) or getattr(one, "description", None)
            if isinstance(text, str) and text:
                return Kind(dict(kind.schema, description=text), kind.convert, kind.text)
        return kind

    def union(self, hints):
        kinds = [self.kind(hint) for hint in hints]
        if any(kind is ANY for kind in kinds):
            return ANY
        text = " or ".join(dict.fromkeys(kind.text for kind in kinds))

        def convert(value, where, problems):
            nearest = None
            for kind in kinds:
                found = []
                result = kind.convert(value, where, found)
                if not found:
                    return result
                if any(one[0] != where for one in found):
                    nearest = found  # it was the right form with a wrong part
            problems.extend(nearest or [(where, "must be %s, not %s" % (text, shown(value)))])

        return Kind({"anyOf": [kind.schema for kind in kinds]}, convert, text)

    def literal(self, values):
        import enum

        table = {}
        for value in values:
            plain = value.value if isinstance(value, enum.Enum) else value
            if not isinstance(plain, (str, int, bool, type(None))):
                raise Unsupported("Literal[%r]" % (value,))
            table[(type(plain), plain)] = value
        return _choice(table, [key[1] for key in table])

    # Classes

    def of_class(self, cls, arguments):
        import collections.abc
        import dataclasses
        import enum

        if issubclass(cls, enum.Enum):
            return self.enumeration(cls)
        if dataclasses.is_dataclass(cls):
            return self.record(cls, self.dataclass)
        if issubclass(cls, dict) and hasattr(cls, "__total__"):
            return self.record(cls, self.typed_dict)
        if issubclass(cls, tuple):
            if hasattr(cls, "_fields"):
                return self.record(cls, self.named_tuple)
            return self.tuple_of(arguments)
        if issubclass(cls, collections.abc.Mapping):
            return self.mapping(arguments, cls)
        if self.output and issubclass(cls, (collections.abc.Iterator, collections.abc.AsyncIterator)):
            return self.array(arguments[:1], list, False)
        if cls in (collections.abc.AsyncIterable,) and self.output:
            return self.array(arguments[:1], list, False)
        if issubclass(cls, (set, frozenset)) or cls in (collections.abc.Set, collections.abc.MutableSet):
            make = frozenset if issubclass(cls, frozenset) else set
            return self.array(arguments, make, True)
        if issubclass(cls, (list, collections.deque)):
            return self.array(arguments, cls, False)
        if cls in (collections.abc.Sequence, collections.abc.MutableSequence, collections.abc.Iterable,
                   collections.abc.Collection, collections.abc.Iterator, collections.abc.Generator):
            return self.array(arguments[:1], iter if issubclass(cls, collections.abc.Iterator) else list, False)
        for base in (str, bool, int, float):  # a class of one's own that is a string or a number
            if issubclass(cls, base):
                kind = simple_kinds()[base]
                return _kind(kind.schema, kind.text, _narrow(kind, cls))
        raise Unsupported(_type_name(cls))

    def enumeration(self, cls):
        table, values = {}, []
        plain = all(type(member.value) in (str, int, float, bool) for member in cls)
        for member in cls:
            value = member.value if plain else member.name
            values.append(value)
            table[(type(value), value)] = member
        for name, member in cls.__members__.items():
            table.setdefault((str, name), member)
        kind = _choice(table, values)
        if plain and not all(isinstance(value, str) for value in values):
            kind.schema["description"] = ", ".join("%s is %s" % (shown(m.value), m.name) for m in cls)
        return kind

    def array(self, arguments, make, unique):
        item = self.kind(arguments[0]) if arguments else ANY
        schema = {"type": "array"}
        if item.schema:
            schema["items"] = item.schema
        if unique:
            schema["uniqueItems"] = True
        inner = item.convert

        def convert(value, where, problems):
            if type(value) is not list:
                problems.append((where, "must be an array, not %s" % shown(value)))
                return None
            items = [inner(one, "%s[%d]" % (where, at), problems) for at, one in enumerate(value)]
            if make is list:
                return items
            try:
                return make(items)
            except TypeError:
                problems.append((where, "has items that cannot be in a set"))

        return Kind(schema, convert, "an array")

    def tuple_of(self, arguments):
        if not arguments or (len(arguments) == 2 and arguments[1] is Ellipsis):
            return self.array(arguments[:1], tuple, False)
        if arguments == ((),):
            arguments = ()
        kinds = [self.kind(one) for one in arguments]
        schema = {"type": "array", "prefixItems": [kind.schema for kind in kinds], "minItems": len(kinds), "maxItems": len(kinds)}
        if not kinds:
            del schema["prefixItems"]
        text = "an array of %d items" % len(kinds)

        def convert(value, where, problems):
            if type(value) is not list or len(value) != len(kinds):
                problems.append((where, "must be %s, not %s" % (text, shown(value) if type(value) is not list else len(value))))
                return None
            return tuple(kind.convert(one, "%s[%d]" % (where, at), problems) for at, (kind, one) in enumerate(zip(kinds, value)))

        return Kind(schema, convert, text)

    def mapping(self, arguments, cls):
        import collections.abc

        key = self.kind(arguments[0]) if arguments else ANY
        item = self.kind(arguments[1]) if len(arguments) > 1 else ANY
        if issubclass(cls, collections.Counter):
            item = simple_kinds()[int]
        schema = {"type": "object"}
        if item.schema:
            schema["additionalProperties"] = item.schema
        keys = simple_kinds()
        plain = key is ANY or key is keys[str]
        numeric = key in (keys[int], keys[float])
        make = cls if cls in (collections.OrderedDict, collections.Counter) else dict

        def convert_key(name, where, problems):
            if numeric:
                try:
                    return int(name) if key is keys[int] else float(name)
                except ValueError:
                    problems.append((where, "must have keys that are %ss" % key.text.split()[-1]))
                    return None
            return key.convert(name, "a key of " + where, problems)

        def convert(value, where, problems):
            if type(value) is not dict:
                problems.append((where, "must be an object, not %s" % shown(value)))
                return None
            result = make()
            for name, one in value.items():
                result[name if plain else convert_key(name, where, problems)] = item.convert(one, "%s.%s" % (where, name), problems)
            if cls is collections.defaultdict:
                return collections.defaultdict(None, result)
            return result

        return Kind(schema, convert, "an object")

    # Records: objects with named fields

    def record(self, cls, read):
        """Reads a class once. If it contains itself, it becomes a definition of its own."""
        if cls in self._open:
            name = self._open[cls][0]
            self._open[cls] = name, True
            self.definitions.setdefault(name, {})  # holds the name until the class is read
            found = []

            def later(value, where, problems):
                if not found:
                    found.append(Types(self.names, self.output).kind(cls))
                return found[0].convert(value, where, problems)

            return Kind({"$ref": "#/$defs/" + name}, later, "an object")
        name = cls.__name__
        while name in self.definitions:
            name += "_"
        self._open[cls] = name, False
        try:
            fields, build = read(cls)
            kind = self.fields(fields, build, cls)
            if self._open[cls][1]:
                self.definitions[name] = kind.schema
                return Kind({"$ref": "#/$defs/" + name}, kind.convert, kind.text)
            return kind
        finally:
            del self._open[cls]

    def fields(self, fields, build, cls):
        """fields: name -> (hint, required, default, description)."""
        properties, required, kinds = {}, [], {}
        for name, (hint, needed, default, description) in fields.items():
            kind = self.kind(hint)
            kinds[name] = kind
            properties[name] = with_default(kind.schema, default, description)
            if needed:
                required.append(name)
        schema = {"type": "object", "properties": properties}
        if required:
            schema["required"] = required
        if not self.output:
            schema["additionalProperties"] = False
        text = read_docstring(cls.__dict__.get("__doc__")).summary
        if text and not text.startswith(cls.__name__ + "("):  # the docstring that dataclass and NamedTuple make
            schema["description"] = text
        title = "an object"

        def convert(value, where, problems):
            if type(value) is not dict:
                problems.append((where, "must be an object, not %s" % shown(value)))
                return None
            before, result = len(problems), {}
            for name, one in value.items():
                kind = kinds.get(name)
                if kind is None:
                    problems.append(("%s.%s" % (where, name), "is unknown" + did_you_mean(name, kinds)))
                else:
                    result[name] = kind.convert(one, "%s.%s" % (where, name), problems)
            for name in required:
                if name not in value:
                    problems.append(("%s.%s" % (where, name), "is missing"))
            if len(problems) > before:
                return None
            try:
                return build(result)
            except (TypeError, ValueError) as error:
                problems.append((where, str(error) or "does not fit"))

        return Kind(schema, convert, title)

    def _hints(self, cls):
        """The hints of a class's fields, with those of its bases."""
        hints = {}
        for base in reversed(cls.__mro__):
            own = annotations_of(base) if base is not object else {}
            names = getattr(sys.modules.get(base.__module__), "__dict__", None) or self.names
            for name, hint in own.items():
                if isinstance(hint, str):
                    try:
                        hint = self.evaluate(hint, dict(names, **{base.__name__: base}))
                    except Unsupported:
                        hint = self.evaluate(hint)
                hints[name] = hint
        return hints

    def dataclass(self, cls):
        import dataclasses

        hints, doc = self._hints(cls), read_docstring(cls.__doc__)
        fields = {}
        for field in dataclasses.fields(cls):
            if not field.init and not self.output:
                continue
            default, needed = _NONE, True
            if field.default is not dataclasses.MISSING:
                default, needed = field.default, False
            elif field.default_factory is not dataclasses.MISSING:
                needed = False
            text = field.metadata.get("description") or doc.arguments.get(field.name)
            fields[field.name] = hints.get(field.name, field.type), needed or self.output, default, text
        return fields, lambda values: cls(**values)

    def typed_dict(self, cls):
        import typing

        doc = read_docstring(cls.__doc__)
        required = getattr(cls, "__required_keys__", frozenset())
        fields = {}
        for name, hint in self._hints(cls).items():
            if isinstance(hint, typing.ForwardRef):
                hint = self.evaluate(hint.__forward_arg__, getattr(sys.modules.get(cls.__module__), "__dict__", self.names))
            mark = getattr(typing.get_origin(hint), "_name", None) or getattr(typing.get_origin(hint), "__name__", "")
            needed = mark == "Required" or (mark != "NotRequired" and name in required)
            fields[name] = hint, needed, _NONE, doc.arguments.get(name)
        return fields, dict

    def named_tuple(self, cls):
        hints, doc = self._hints(cls), read_docstring(cls.__doc__)
        defaults = cls._field_defaults
        fields = {}
        for name in cls._fields:
            fields[name] = (hints.get(name, object), name not in defaults or self.output,
                            defaults.get(name, _NONE), doc.arguments.get(name))
        return fields, lambda values: cls(**values)

    # pydantic

    def pydantic(self, hint):
        """Leaves a hint with parts of pydantic to pydantic."""
        import pydantic

        first = getattr(sys.modules.get("pydantic.v1"), "BaseModel", None) or (pydantic.BaseModel if pydantic.VERSION[0] == "1" else None)
        if first is not None and (not hasattr(pydantic, "TypeAdapter") or (isinstance(hint, type) and issubclass(hint, first))):
            return self.pydantic1(hint)
        adapter = pydantic.TypeAdapter(hint)
        schema = adapter.json_schema(mode="serialization" if self.output else "validation")

        def convert(value, where, problems):
            try:
                return adapter.validate_python(value)
            except pydantic.ValidationError as error:
                problems.extend(pydantic_problems(error, where))

        return Kind(self.adopt(schema), convert, "an object" if schema.get("type") == "object" else "a fitting value")

    def pydantic1(self, hint):
        if not isinstance(hint, type):
            raise Unsupported(_type_name(hint))

        def convert(value, where, problems):
            try:
                return hint.parse_obj(value)
            except ValueError as error:
                problems.extend(pydantic_problems(error, where))

        return Kind(self.adopt(json.loads(_dumps(hint.schema()).replace("#/definitions/", "#/$defs/"))), convert, "an object")

    def adopt(self, schema):
        """Moves the definitions of a foreign schema to the root of ours."""
        schema = dict(schema)
        theirs = schema.pop("$defs", None) or schema.pop("definitions", None) or {}
        for name, definition in theirs.items():
            if self.definitions.setdefault(name, definition) != definition:
                raise Unsupported("two different classes are named %s" % name)
        return schema


_NONE = object()


def with_default(schema, default=_NONE, description=None):
    """Adds what is known of a parameter to the schema of its type."""
    added = {}
    if description:
        added["description"] = description
    if default is not _NONE:
        try:
            value = jsonable(default)
            if len(_dumps(value)) <= 2000:
                added["default"] = value
        except Exception:
            pass
    if not added:
        return schema
    if "$ref" in schema:
        return dict({"allOf": [schema]}, **added)
    return dict(schema, **added)


def _narrow(kind, cls):
    def accept(value):
        problems = []
        value = kind.convert(value, "", problems)
        if problems:
            raise ValueError
        return cls(value)

    return accept


def _choice(table, values):
    """One of some values. table: (type, value) -> what the function gets."""
    kinds = {str: "string", int: "integer", bool: "boolean", float: "number", type(None): "null"}
    schema = {"enum": values}
    types_of = list(dict.fromkeys(kinds[type(value)] for value in values))
    if len(types_of) == 1:
        schema["type"] = types_of[0]
    text = ("one of " if len(values) > 1 else "") + ", ".join(shown(value) for value in values)

    def convert(value, where, problems):
        try:
            found = table.get((type(value), value), _NONE)
        except TypeError:
            found = _NONE
        if found is _NONE:
            problems.append((where, "must be %s, not %s" % (text, shown(value))))
            return None
        return found

    return Kind(schema, convert, text)


def _type_name(hint):
    return getattr(hint, "__qualname__", None) or str(hint).replace("typing.", "")


def annotations_of(thing):
    """The annotations of a function or class, as far as they can be had."""
    if isinstance(thing, type) and sys.version_info < (3, 10):
        return thing.__dict__.get("__annotations__") or {}
    try:
        if isinstance(thing, type):
            import inspect

            return inspect.get_annotations(thing)
        return thing.__annotations__ or {}
    except AttributeError:
        return {}
    except NameError:  # since 3.14 annotations are evaluated when asked for
        import annotationlib

        return annotationlib.get_annotations(thing, format=annotationlib.Format.FORWARDREF)


def needs_pydantic(hint, depth=0):
    """Says whether a hint has a part that belongs to pydantic, which the file must have imported then."""
    if "pydantic" not in sys.modules or depth > 8:
        return False
    import typing

    if isinstance(hint, type) and typing.get_origin(hint) is None:
        return (_is_model(hint) or hasattr(hint, "__pydantic_validator__")
                or hasattr(hint, "__get_pydantic_core_schema__") and hint.__module__.split(".")[0] in ("pydantic", "pydantic_core"))
    for one in getattr(hint, "__metadata__", ()):
        if type(one).__module__.split(".")[0] in ("pydantic", "annotated_types"):
            return True
    return any(needs_pydantic(one, depth + 1) for one in typing.get_args(hint) if not isinstance(one, (str, int)))


def _is_model(hint):
    for name in ("pydantic", "pydantic.v1"):
        base = getattr(sys.modules.get(name), "BaseModel", None)
        if base is not None and isinstance(hint, type) and issubclass(hint, base):
            return True
    return False


def pydantic_problems(error, where=""):
    problems = []
    for one in error.errors():
        place = where
        for part in one.get("loc", ()):
            place += "[%d]" % part if isinstance(part, int) else ("." if place else "") + str(part)
        problems.append((place, one.get("msg", "does not fit")))
    return problems


def is_pydantic_error(error):
    for name in ("pydantic", "pydantic.v1"):
        kind = getattr(sys.modules.get(name), "ValidationError", None)
        if isinstance(kind, type) and isinstance(error, kind):
            return True
    return False


def say_problems(name, problems):
    return "%s was not called: %s." % (name, join_problems(problems))


def join_problems(problems):
    parts = []
    for where, what in problems[:20]:
        parts.append(what if not where else "%s: %s" % (where, what) if what[:1].isupper() else "%s %s" % (where, what))
    if len(problems) > 20:
        parts.append("and %d more" % (len(problems) - 20))
    return "; ".join(part.rstrip(".") for part in parts)


# ---------------------------------------------------------------------------
# 10  Sources


# Plain functions


class FunctionTool(Tool):
    """A typed Python function."""

    def __init__(self, function, mark=None, run=None):
        import inspect

        mark = mark or {}
        doc = read_docstring(inspect.getdoc(function))
        Tool.__init__(self, mark.get("name") or function.__name__, mark.get("description") or doc.description())
        self.title = mark.get("title")
        self.annotations = mark.get("annotations")
        self.function = run or function
        inner = inspect.unwrap(function)
        self.is_async = run is None and (inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function))
        self.is_stream = inspect.isasyncgenfunction(function)
        self.names = getattr(inner, "__globals__", {})
        self.kinds = {}
        self.required = []
        self.positional = []  # names of parameters that have no keyword
        self.injected = []  # names of parameters that get the Progress
        self.filled = {}  # name -> pydantic's Field(…), whose default the function expects from its caller
        self.rest = self.named_rest = None  # *args: (name, Kind); **kwargs: Kind
        self._read_parameters(function, inner, doc)
        self._read_result(inner)

    def _read_parameters(self, function, inner, doc):
        import inspect

        types = Types(self.names)
        hints = annotations_of(inner)
        properties, required, extra = {}, [], False
        defaults = {}
        for name, parameter in signature_of(function).parameters.items():
            hint = hints.get(name, parameter.annotation)
            default = _NONE if parameter.default is parameter.empty else parameter.default
            try:
                if isinstance(hint, str):
                    hint = _PROGRESS if hint in ("Progress", "toolcrib.Progress") else types.evaluate(hint)
                if hint is Progress or hint is _PROGRESS:
                    self.injected.append(name)
                    self._place(parameter, defaults, None)
                    continue
                if _is_field(default):
                    self.filled[name] = default
                    hint, default = _field_default(hint, default)
                    if default is _NONE:
                        del self.filled[name]
                kind = types.kind(hint)
                if default is None and kind is not ANY and not _takes_null(kind.schema):
                    kind = types.union((hint, None))
            except Unsupported as error:
                if default is _NONE and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                    raise Failure("its parameter %s has the type %s, which JSON cannot express" % (name, error)) from None
                if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                    kind = ANY
                else:
                    self._place(parameter, defaults, default)
                    continue  # the default is used
            if parameter.kind == parameter.VAR_KEYWORD:
                self.named_rest = kind
                extra = kind.schema or True
                continue
            if parameter.kind == parameter.VAR_POSITIONAL:
                kind = _array_of(kind)
                self.rest = name
                self.positional.extend(n for n, p in defaults.items() if n not in self.positional)
            elif default is _NONE:
                required.append(name)
            self._place(parameter, defaults, default)
            self.kinds[name] = kind
            properties[name] = with_default(kind.schema, default, kind.schema.get("description") or doc.arguments.get(name))
        self.required = required
        self.defaults = defaults
        schema = {"type": "object", "properties": properties}
        if required:
            schema["required"] = required
        schema["additionalProperties"] = extra
        if types.definitions:
            schema["$defs"] = types.definitions
        self.input_schema = schema

    def _place(self, parameter, defaults, default):
        """Notes a parameter that may be given by its position."""
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            defaults[parameter.name] = default
        if parameter.kind == parameter.POSITIONAL_ONLY:
            self.positional.append(parameter.name)

    def _read_result(self, inner):
        hint = annotations_of(inner).get("return", _NONE)
        if hint is _NONE:
            return
        types = Types(self.names, output=True)
        try:
            if isinstance(hint, str):
                hint = types.evaluate(hint)
            if hint in (None, str, bytes, bytearray, Answer):
                return
            kind = types.kind(hint)
        except (Unsupported, TypeError):
            return
        except Exception as error:
            log_line("the result type of %s is not used: %s" % (self.name, sentence(error)))
            return
        if not kind.schema or kind is NULL:
            return
        whole = kind.schema
        if set(whole) == {"$ref"} and whole["$ref"].startswith("#/$defs/"):
            whole = types.definitions.get(whole["$ref"][len("#/$defs/"):], whole)
        if whole.get("type") == "object":
            schema = dict(whole)
        else:
            self.wrap = True
            schema = {"type": "object", "properties": {"result": kind.schema}, "required": ["result"]}
        if types.definitions:
            schema["$defs"] = types.definitions
        self.output_schema = schema

    def bind(self, arguments, context):
        """Gives positional and keyword arguments for the function, or raises Refused."""
        problems, values, kinds = [], {}, self.kinds
        for name, value in arguments.items():
            kind = kinds.get(name)
            if kind is not None:
                values[name] = kind.convert(value, name, problems)
            elif self.named_rest is not None and name not in self.injected:
                values[name] = self.named_rest.convert(value, name, problems)
            else:
                problems.append((name, "is not an argument" + did_you_mean(name, kinds)))
        for name in self.required:
            if name not in arguments:
                problems.append((name, "is missing"))
        if problems:
            raise Refused(say_problems(self.name, problems))
        for name in self.injected:
            values[name] = Progress(context)
        for name, field in self.filled.items():
            if name not in values:
                values[name] = _field_default(None, field)[1]
        if not self.positional and self.rest is None:
            return (), values
        return self._split(values), values

    def _split(self, values):
        """Takes positional arguments out of values."""
        rest = values.pop(self.rest, None) if self.rest else None
        names = list(self.positional)
        last = -1
        for at, name in enumerate(names):
            if name in values:
                last = at
        if rest:
            last = len(names) - 1
        result = [values.pop(name) if name in values else self.defaults[name] for name in names[:last + 1]]
        return result + list(rest or ())

    def call(self, arguments, context):
        positional, values = self.bind(arguments, context)
        if self.is_stream:
            return _ready(self.function(*positional, **values))
        return self.function(*positional, **values)


_PROGRESS = object()


async def _ready(value):
    return value


def signature_of(function):
    import inspect

    try:
        return inspect.signature(function)
    except NameError:  # since 3.14 annotations are evaluated when asked for
        import annotationlib

        return inspect.signature(function, annotation_format=annotationlib.Format.FORWARDREF)


def _array_of(kind):
    def convert(value, where, problems):
        if type(value) is not list:
            problems.append((where, "must be an array, not %s" % shown(value)))
            return []
        return [kind.convert(one, "%s[%d]" % (where, at), problems) for at, one in enumerate(value)]

    return Kind({"type": "array", "items": kind.schema} if kind.schema else {"type": "array"}, convert, "an array")


def _takes_null(schema):
    kind = schema.get("type")
    if kind == "null" or (isinstance(kind, list) and "null" in kind) or None in schema.get("enum", ()):
        return True
    return any(_takes_null(one) for one in schema.get("anyOf", ()))


def _is_field(default):
    return type(default).__name__ == "FieldInfo" and type(default).__module__.startswith("pydantic")


def _field_default(hint, default):
    """pydantic's Field(…) as a default says the default and more about the type."""
    import inspect
    import typing

    hint = typing.Any if hint is inspect.Parameter.empty else hint
    plain = default.get_default(call_default_factory=True) if hasattr(default, "get_default") else default.default
    required = default.is_required() if hasattr(default, "is_required") else plain is Ellipsis
    return typing.Annotated[hint, default], _NONE if required else plain


# Where they lie


class ModuleSource(Source):
    """The tools of an installed module."""

    def __init__(self, module_name):
        self.module_name = module_name
        self.name = module_name
        self.module = None
        self.found = []
        self.closers = []

    def load(self):
        import importlib

        self.module = importlib.import_module(self.module_name)
        self.collect()

    def collect(self):
        module = self.module
        version = getattr(module, "__version__", None)
        if isinstance(version, str):
            self.version = version
        if isinstance(module.__doc__, str) and module.__doc__.strip():
            self.instructions = module.__doc__.strip()
        chosen = getattr(module, "__all__", None)
        names = list(chosen) if isinstance(chosen, (list, tuple)) else [n for n in vars(module) if not n.startswith("_")]
        things = [(name, getattr(module, name)) for name in names if isinstance(name, str) and hasattr(module, name)]
        self.found = self.marked(things) + self.foreign(things)
        if chosen is not None or not self.found:
            have = {id(getattr(one, "function", None)) for one in self.found}
            self.found += [one for one in self.plain(things, chosen is not None) if id(one.function) not in have]

    def tools(self):
        return self.found

    def close(self):
        for closer in self.closers:
            closer()

    def marked(self, things):
        """Functions that the file marks with toolcrib's @tool."""
        return self.functions([(name, thing, thing.__toolcrib_tool__) for name, thing in things
                               if not isinstance(thing, type) and isinstance(getattr(thing, "__toolcrib_tool__", None), dict)])

    def plain(self, things, chosen):
        """Public functions that the file itself defines."""
        import inspect

        found = []
        for name, thing in things:
            if isinstance(thing, type) or not callable(thing) or isinstance(getattr(thing, "__toolcrib_tool__", None), dict):
                continue
            inner = inspect.unwrap(thing)
            if not inspect.isfunction(inner) or getattr(thing, "__name__", "") == "<lambda>":
                continue
            if not chosen and getattr(thing, "__module__", None) != self.module.__name__:
                continue
            if hasattr(thing, "__fastmcp__"):
                continue
            if not chosen and name == "main" and not signature_of(thing).parameters:
                log_line("main is not offered as a tool; list it in __all__ if it is one")
                continue
            found.append((name, thing, None))
        return self.functions(found)

    def functions(self, found):
        tools, seen = [], set()
        for name, function, mark in found:
            if id(function) in seen:
                continue
            seen.add(id(function))
            try:
                tools.append(FunctionTool(function, mark))
            except Failure as error:
                log_line("%s is left out: %s" % (name, error))
            except Exception as error:
                log_error("reading the function " + name, error)
        return tools

    # Tools of libraries. A library is asked only if the file has imported it.

    def foreign(self, things):
        flat, seen = [], set()
        for name, thing in things:
            several = thing if type(thing) in (list, tuple) else list(thing.values()) if type(thing) is dict else [thing]
            for one in several[:1000]:
                if id(one) not in seen:
                    seen.add(id(one))
                    flat.append((name, one))
        tools, failure = [], None
        for take in (self.agenticx, self.langchain, self.fastmcp):
            try:
                tools.extend(take(flat))
            except Exception as error:
                log_error("reading the tools of " + take.__name__, error)
                failure = Failure("the tools of %s could not be read: %s" % (take.__name__, sentence(error)))
        if failure is not None and not tools:
            raise failure
        return tools

    def objects(self, things, base):
        """Objects of a class, and of classes that the file defines and makes no object of."""
        found = [thing for _, thing in things if not isinstance(thing, type) and isinstance(thing, base)]
        import inspect

        for name, thing in things:
            if not isinstance(thing, type) or not issubclass(thing, base) or inspect.isabstract(thing):
                continue
            if thing.__module__ != self.module.__name__ or any(isinstance(one, thing) for one in found):
                continue
            try:
                found.append(thing())
            except Exception as error:
                log_line("%s is left out: it could not be made without arguments (%s)" % (name, sentence(error).split("\n")[0]))
        return found

    def agenticx(self, things):
        tools = []
        base = getattr(sys.modules.get("agenticx.tools.base"), "BaseTool", None)
        if base is not None:
            tools.extend(AgenticXTool(one) for one in self.objects(things, base))
        base = getattr(sys.modules.get("agenticx.core.tool"), "BaseTool", None)
        if base is not None:
            tools.extend(agenticx_core_tool(one) for one in self.objects(things, base))
        return tools

    def langchain(self, things):
        module = sys.modules.get("langchain_core.tools.base") or sys.modules.get("langchain_core.tools")
        base = getattr(module, "BaseTool", None)
        if base is None:
            return []
        found = list(things)
        kit = getattr(module, "BaseToolkit", None)
        for name, thing in things:
            if kit is not None and isinstance(thing, kit):
                found.extend((name, one) for one in thing.get_tools())
        return [LangChainTool(one) for one in self.objects(found, base)]

    def fastmcp(self, things):
        servers, loose = [], []
        kinds = tuple(kind for kind in (
            getattr(sys.modules.get("fastmcp.server.server"), "FastMCP", None),
            getattr(sys.modules.get("mcp.server.fastmcp"), "FastMCP", None),
            getattr(sys.modules.get("mcp.server.fastmcp.server"), "FastMCP", None),
            getattr(sys.modules.get("mcp.server.mcpserver"), "MCPServer", None),
        ) if isinstance(kind, type))
        single = getattr(sys.modules.get("fastmcp.tools.base") or sys.modules.get("fastmcp.tools.tool"), "Tool", None)
        for _, thing in things:
            if kinds and isinstance(thing, kinds):
                servers.append(thing)
            elif single is not None and isinstance(thing, single):
                loose.append(thing)
            elif "fastmcp" in sys.modules and callable(thing) and not isinstance(thing, type) and hasattr(thing, "__fastmcp__"):
                loose.append(thing)
        tools = []
        for server in servers:
            tools.extend(self.bridge(server))
        if loose:
            import fastmcp

            server = fastmcp.FastMCP(self.name)
            for one in loose:
                server.add_tool(one)
            names = {one.name for one in tools}  # those that a server of the file has taken over already
            tools.extend(one for one in self.bridge(server) if one.name not in names)
        return tools

    def bridge(self, server):
        bridge = ServerBridge(server, self)
        self.closers.append(bridge.close)
        return bridge.tools()


class FileSource(ModuleSource):
    """The tools of a Python file."""

    def __init__(self, path):
        import re

        stem = os.path.splitext(os.path.basename(path))[0]
        ModuleSource.__init__(self, "toolcrib_file_" + re.sub(r"\W", "_", stem))
        self.name = stem
        self.path = os.path.abspath(path)

    def load(self):
        # The text is compiled here: no cache file is read or written beside it,
        # and the folder of the file is no place to import from.
        import io
        import tokenize

        name = os.path.basename(self.path)
        try:
            with open(self.path, "rb") as file:
                text = file.read()
        except OSError as error:
            raise Failure("%s could not be read: %s" % (name, error.strerror)) from error
        module = types.ModuleType(self.module_name)
        module.__file__ = self.path
        self.module = sys.modules[self.module_name] = module
        os.environ[CHILD_FILE] = "%s=%s" % (self.module_name, self.path)
        try:
            tokenize.detect_encoding(io.BytesIO(text).readline)
            exec(compile(text, self.path, "exec", dont_inherit=True), module.__dict__)
        except BaseException as error:
            line = error.lineno if isinstance(error, SyntaxError) else None
            said = "%s: %s" % (type(error).__name__, error.msg) if isinstance(error, SyntaxError) else sentence(error)
            for frame in traceback.extract_tb(error.__traceback__):
                if frame.filename == self.path:
                    line = frame.lineno
            log_error("loading " + name, error)
            where = "%s, line %d" % (name, line) if line else name
            raise Failure("%s could not be loaded: %s" % (where, said)) from None
        self.collect()


# AgenticX: its own validation, run methods and errors


class AgenticXTool(Tool):
    def __init__(self, tool):
        schema = None
        if tool.args_schema is not None:
            schema = tool.args_schema.model_json_schema()
            # AgenticX notes the texts of parameters too late for pydantic to see them.
            doc = read_docstring(getattr(getattr(tool, "func", None), "__doc__", None))
            for name, entry in schema.get("properties", {}).items():
                field = tool.args_schema.model_fields.get(name)
                text = getattr(field, "description", None) or doc.arguments.get(name)
                if text and "description" not in entry:
                    entry["description"] = text
        meta = {}
        if tool.timeout:
            meta["agenticx/timeout"] = tool.timeout
        if tool.organization_id:
            meta["agenticx/organization_id"] = tool.organization_id
        Tool.__init__(self, tool.name, tool.description, schema or {"type": "object"}, meta=meta or None)
        self.tool = tool
        base = sys.modules["agenticx.tools.base"].BaseTool
        function = sys.modules.get("agenticx.tools.function_tool")
        # One object runs one call at a time. A function has no state in it, so each call gets a copy;
        # calls of other tools wait for each other.
        self.copied = function is not None and type(tool) is function.FunctionTool
        self.serial = not self.copied
        # run() keeps its time with a signal, which only the main thread may set; arun() does without.
        own_arun = type(tool)._arun is not base._arun and not self.copied
        self.is_async = bool(tool.timeout) or own_arun or (self.copied and tool.is_async)

    def call(self, arguments, context):
        tool = self.tool
        if self.copied:
            import copy

            tool = copy.copy(tool)
        return tool.arun(**arguments) if self.is_async else tool.run(**arguments)


def agenticx_core_tool(tool):
    """The other kind of AgenticX tool, which has no schema of its own: it comes from the function."""
    import inspect

    function = getattr(tool, "func", None)
    mark = {"name": tool.name, "description": tool.description}
    if function is None:
        function = tool.execute
    elif tool.description == function.__doc__:
        mark["description"] = None
    made = FunctionTool(function, mark, run=tool.execute)
    if inspect.iscoroutinefunction(function):
        made.is_async, made.function = True, tool.aexecute
    return made


# LangChain: invoke with its own validation, handlers and response formats


class LangChainTool(Tool):
    def __init__(self, tool):
        schema = self.schema(tool)
        meta = {}
        if getattr(tool, "tags", None):
            meta["langchain/tags"] = list(tool.tags)
        Tool.__init__(self, tool.name, tool.description, schema, meta=meta or None)
        self.tool = tool
        base = sys.modules.get("langchain_core.tools.base") or sys.modules["langchain_core.tools"]
        coroutine = getattr(tool, "coroutine", _NONE)
        function = getattr(tool, "func", None)
        if coroutine is not _NONE:
            self.is_async = coroutine is not None and function is None
        else:
            self.is_async = type(tool)._arun is not base.BaseTool._arun
        # As a tool call it also hands out artifacts and says whether an error was handled;
        # otherwise the value comes as it is.
        self.as_call = (getattr(tool, "response_format", "content") != "content"
                        or bool(getattr(tool, "handle_tool_error", False))
                        or bool(getattr(tool, "handle_validation_error", False))
                        or self.needs_id(tool))

    @staticmethod
    def schema(tool):
        found = getattr(tool, "tool_call_schema", None) or getattr(tool, "args_schema", None) or tool.get_input_schema()
        if isinstance(found, dict):
            schema = found
        elif hasattr(found, "model_json_schema"):
            schema = found.model_json_schema()
        else:
            schema = json.loads(_dumps(found.schema()).replace("#/definitions/", "#/$defs/"))
            if "definitions" in schema:
                schema["$defs"] = schema.pop("definitions")
        schema = dict(schema)
        schema.setdefault("type", "object")
        schema.pop("title", None)
        if schema.get("description") == tool.description:
            schema.pop("description")
        return schema

    @staticmethod
    def needs_id(tool):
        base = sys.modules.get("langchain_core.tools.base")
        mark = getattr(base, "InjectedToolCallId", None)
        if mark is None:
            return False
        try:
            for function in (getattr(tool, "func", None), getattr(tool, "coroutine", None), tool._run):
                if function is not None and any("InjectedToolCallId" in str(hint) for hint in annotations_of(function).values()):
                    return True
            model = tool.args_schema
            return isinstance(model, type) and "InjectedToolCallId" in str(getattr(model, "model_fields", ""))
        except Exception:
            return False

    def call(self, arguments, context):
        given = dict(arguments)
        if self.as_call:
            given = {"type": "tool_call", "id": "call-%s" % context.id, "name": self.name, "args": given}
        if self.is_async:
            return self.call_async(given)
        return self.answer(self.tool.invoke(given))

    async def call_async(self, given):
        return self.answer(await self.tool.ainvoke(given))

    def answer(self, value):
        if not (hasattr(value, "content") and hasattr(value, "tool_call_id")):
            return value
        blocks = value.content if isinstance(value.content, list) else [value.content]
        structured = None
        artifact = getattr(value, "artifact", None)
        if artifact is not None:
            try:
                structured = jsonable(artifact)
                if type(structured) is not dict:
                    structured = {"result": structured}
            except Failure as error:
                log_line("the artifact of %s is not passed on: %s" % (self.name, error))
        return Answer([langchain_block(block) for block in blocks], structured, getattr(value, "status", "success") == "error")


def langchain_block(block):
    if isinstance(block, str):
        return {"type": "text", "text": block}
    if isinstance(block, dict):
        if block.get("type") == "text":
            return {"type": "text", "text": str(block.get("text", ""))}
        url = block.get("image_url")
        url = url.get("url") if isinstance(url, dict) else url
        if isinstance(url, str) and url.startswith("data:image/") and ";base64," in url:
            head, _, data = url.partition(";base64,")
            return {"type": "image", "data": data, "mimeType": head[5:]}
        if block.get("type") == "image" and (block.get("base64") or block.get("data")):
            mime = block.get("mime_type") or block.get("mimeType") or "image/png"
            return {"type": "image", "data": block.get("base64") or block["data"], "mimeType": mime}
    return {"type": "text", "text": _dumps(jsonable(block))}


# FastMCP and the servers of the mcp package: through their own client, in memory


class ServerBridge:
    """A client of a Python MCP server in the same process, so that its context, progress and checks are its own."""

    def __init__(self, server, source):
        self.server = server
        self.source = source
        self.client = None
        self.failure = None
        self.found = []
        self.session = None
        self.stop = None

    def tools(self):
        import asyncio

        loop = self.source.loop.get()
        ready = threading.Event()
        asyncio.run_coroutine_threadsafe(self._hold(ready), loop)
        ready.wait()
        if self.failure is not None:
            raise self.failure
        return [BridgeTool(self, entry) for entry in self.found]

    async def _hold(self, ready):
        """Keeps the client open: it must be left in the task that entered it."""
        import asyncio

        try:
            self.stop = asyncio.Event()
            async with self._connect() as client:
                self.client = client
                listed = await client.list_tools()
                self.found = getattr(listed, "tools", listed)
                ready.set()
                await self.stop.wait()
        except BaseException as error:
            self.failure = error
            if ready.is_set() and self.client is not None:
                log_error("the connection to the server " + str(getattr(self.server, "name", "")), error)
        finally:
            self.client = None
            ready.set()

    def _connect(self):
        if "fastmcp" in sys.modules:
            try:
                from fastmcp import Client

                return Client(self.server, log_handler=_log_message)
            except ImportError:  # fastmcp-slim has servers only
                pass
        import mcp

        if hasattr(mcp, "Client"):
            inner = getattr(self.server, "_mcp_server", None)
            return mcp.Client(self.server) if inner is None else mcp.Client(inner, mode="legacy")
        from mcp.shared.memory import create_connected_server_and_client_session

        return create_connected_server_and_client_session(getattr(self.server, "_mcp_server", self.server))

    async def call(self, name, arguments, context):
        client = self.client
        if client is None:
            raise Failure("The server of %s has ended." % name)

        async def progress(done, total=None, message=None):
            context.progress(done, total, message)

        if hasattr(client, "call_tool_mcp"):
            result = await client.call_tool_mcp(name, arguments, progress_handler=progress)
        else:
            result = await client.call_tool(name, arguments, progress_callback=progress)
        result = result.model_dump(mode="json", by_alias=True, exclude_none=True)
        return Answer(result.get("content", []), result.get("structuredContent"), bool(result.get("isError")))

    def close(self):
        if self.stop is not None:
            self.source.loop.get().call_soon_threadsafe(self.stop.set)


async def _log_message(message):
    data = getattr(message, "data", "")
    text = data.get("msg", data) if isinstance(data, dict) else data
    log_line("%s: %s" % (getattr(message, "level", "info"), text))


class BridgeTool(Tool):
    is_async = True

    def __init__(self, bridge, entry):
        told = entry.model_dump(mode="json", by_alias=True, exclude_none=True)
        Tool.__init__(self, told["name"], told.get("description", ""), told.get("inputSchema"), told.get("title"),
                      told.get("outputSchema"), annotations=told.get("annotations"), meta=told.get("_meta"))
        self.bridge = bridge

    def call(self, arguments, context):
        return self.bridge.call(self.name, arguments, context)


# ---------------------------------------------------------------------------
# 11  OPM
#
# Toolboxes of the OVOS plugin manager are served by their own classes: the
# schemas are what their models say, and call_tool checks and runs as it does
# on a voice assistant. What is added is what loaders of the field lack: any
# generation of constructor is understood, and a failure is told.

OPM_TOOLBOXES = "opm.agents.toolbox"
OPM_SKILLS = "opm.agents.skill_md"
OPM_CHAT = "opm.agents.chat"
PROBE_TIME = 30.0  # seconds that one entry point has to be imported when they are listed


def opm_entries(group):
    """Gives the entry points of a group as (entry point, distribution, version), in the order that importlib has."""
    import importlib.metadata

    found, seen = [], set()
    for dist in importlib.metadata.distributions():
        try:
            name = dist.metadata["Name"] or ""
            key = name.lower().replace("_", "-").replace(".", "-")
            if key in seen:
                continue  # a distribution further back on the path is not the one that is imported
            seen.add(key)
            found += [(entry, name, dist.version or "") for entry in dist.entry_points if entry.group == group]
        except Exception as error:
            log_line("the metadata of a distribution cannot be read (%s): %s" % (getattr(dist, "_path", "?"), sentence(error)))
    return found


def opm_load(entry):
    """Imports what an entry point names, or raises Failure with the end of a sentence."""
    try:
        return entry.load()
    except BaseException as error:
        if isinstance(error, (_Stop, KeyboardInterrupt)):
            raise
        raise Failure("it cannot be imported: " + sentence(error)) from error


def opm_arguments(cls, given):
    """Chooses the arguments that a constructor knows.

    Generations differ: (toolbox_id, config, bus), (config, bus), (config, brain),
    (bus), or a class with an id of its own. The id is the class's business if it
    has one or has a default for it.
    """
    import inspect

    try:
        parameters = inspect.signature(cls).parameters
    except (TypeError, ValueError):
        return {name: given[name] for name in ("config", "bus")}
    open_ended = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
    chosen = {}
    for name, value in given.items():
        parameter = parameters.get(name)
        if parameter is None or parameter.kind in (parameter.POSITIONAL_ONLY, parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            if open_ended and name != "toolbox_id":
                chosen[name] = value
        elif name != "toolbox_id" or parameter.default is parameter.empty:
            chosen[name] = value
        elif not parameter.default and not isinstance(getattr(cls, "toolbox_id", None), str):
            chosen[name] = value
    return chosen


def opm_construct(cls, name, config, bus):
    given = {"config": config, "bus": bus, "toolbox_id": name}
    chosen = opm_arguments(cls, given)
    try:
        return cls(**chosen)
    except TypeError as error:
        # A constructor with ** may pass on more than the next one takes, or less.
        frames = traceback.extract_tb(error.__traceback__)
        if len(frames) > 2 or "argument" not in str(error):
            raise
        for other in (("config", "bus", "toolbox_id"), ("config", "bus"), ("config",), ("bus",), ()):
            if set(other) != set(chosen):
                try:
                    return cls(**{key: given[key] for key in other})
                except TypeError:
                    continue
        raise


def opm_settings(value, _taken=None):
    """Puts in the texts that Toolcrib hands over by variables of the environment, since a secret has no
    place on a command line: {"$env": NAME} stands for one."""
    taken = {} if _taken is None else _taken
    if type(value) is dict:
        name = value.get("$env")
        if len(value) == 1 and type(name) is str and name.startswith("TOOLCRIB_CONFIG_"):
            if name not in taken:
                taken[name] = os.environ.pop(name, "")
            return taken[name]
        return {key: opm_settings(item, taken) for key, item in value.items()}
    if type(value) is list:
        return [opm_settings(item, taken) for item in value]
    return value


def opm_quiet(topic):
    """Reports whether a topic is one on which Toolcrib itself answers for the toolbox."""
    topic = str(topic)
    return topic == "ovos.persona.tools.discover" or (
        topic.startswith("ovos.persona.tools.") and topic.endswith(".call"))


def opm_bus(url):
    """Makes the bus that a toolbox is bound to. Without a URL it is one within this process.

    Everything works on it, but that toolboxes do not answer there: Toolcrib
    does, and a second answer would be a second run.
    """
    if url:
        from ovos_bus_client import MessageBusClient as base
    else:
        from ovos_utils.fakebus import FakeBus as base

    class QuietBus(base):
        def on(self, *args, **kwargs):
            if not opm_quiet(args[0] if args else next(iter(kwargs.values()), "")):
                return super().on(*args, **kwargs)

        def once(self, *args, **kwargs):
            if not opm_quiet(args[0] if args else next(iter(kwargs.values()), "")):
                return super().once(*args, **kwargs)

        def remove(self, *args, **kwargs):
            if not opm_quiet(args[0] if args else next(iter(kwargs.values()), "")):
                return super().remove(*args, **kwargs)

    if not url:
        return QuietBus()
    import urllib.parse

    at = urllib.parse.urlsplit(url)
    secure = at.scheme == "wss"
    route = (at.path or "/core") + ("?" + at.query if at.query else "")
    bus = QuietBus(host=at.hostname or "127.0.0.1", port=at.port or 8181, route=route, ssl=secure)
    bus.run_in_thread()
    return bus


_strict = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode


class OPMTool(Tool):
    """One tool of a toolbox. The toolbox checks, runs and checks again."""

    def __init__(self, box, agent_tool):
        output = agent_tool.output_schema.model_json_schema()
        if output.get("type") != "object":
            output = None  # the protocol knows only objects; the value is sent all the same
        super().__init__(agent_tool.name, agent_tool.description or "", agent_tool.argument_schema.model_json_schema(),
                         output_schema=output)
        self.box = box

    def call(self, arguments, context):
        try:
            data = self.box.call_tool(self.name, arguments).model_dump(mode="json")
        except Exception as error:
            # The words of the bus; the chain of causes goes to the log.
            raise Failure("%s: %s" % (type(error).__name__, error)) from error
        try:
            text = _strict(data)
        except (TypeError, ValueError):
            data = jsonable(data)  # what is not a number is null, as on the bus
            text = _dumps(data)
        return Answer([{"type": "text", "text": text}], data if type(data) is dict else {"result": data})


class OPMSource(Source):
    """One installed OPM toolbox."""

    def __init__(self, entry_point, config=None, bus=None):
        self.entry_point = entry_point
        self.config = config or {}
        self.bus = bus
        self.box = None
        self.fresh = False
        self.told = set()

    def load(self):
        entries = opm_entries(OPM_TOOLBOXES)
        mine = [e for e in entries if e[0].name == self.entry_point]
        if not mine:
            raise Failure("There is no toolbox %s among the packages of %s%s." % (
                self.entry_point, sys.executable, did_you_mean(self.entry_point, {e[0].name: 1 for e in entries})))
        entry, distribution, self.version = mine[-1]  # the last one counts, as with the plugin manager
        try:
            cls = opm_load(entry)
            try:
                bus = opm_bus(self.bus)
            except Exception as error:
                raise Failure("it cannot be bound to a bus: " + sentence(error)) from error
            try:
                self.box = opm_construct(cls, entry.name, self.config, bus)
            except Exception as error:
                raise Failure("it cannot be made: " + sentence(error)) from error
        except Failure as error:
            raise Failure("The toolbox %s of %s %s cannot be served: %s" % (entry.name, distribution, self.version, error)) from error
        self.name = str(getattr(self.box, "toolbox_id", None) or entry.name)
        if getattr(self.box, "bus", None) is None and callable(getattr(self.box, "bind", None)):
            self.box.bind(bus)
        self.give_brain()
        if not getattr(self.box, "tools", None):
            self.discover()  # the constructor's own attempt may have failed, unsaid
        self.fresh = True

    def give_brain(self):
        """Gives a toolbox that asks a model the one that its settings name, as loop engines do."""
        brain = self.config.get("brain")
        if not brain or not callable(getattr(self.box, "set_brain", None)):
            return
        found = [e for e in opm_entries(OPM_CHAT) if e[0].name == brain]
        if not found:
            raise Failure("The toolbox %s names the brain %s, which is not installed." % (self.name, brain))
        try:
            self.box.set_brain(found[-1][0].load()(config=self.config.get(brain) or {}))
        except Exception as error:
            raise Failure("The brain %s of the toolbox %s cannot be made: %s" % (brain, self.name, sentence(error))) from error

    def discover(self):
        try:
            self.box.refresh_tools()
        except Exception as error:
            raise Failure("The toolbox %s cannot say what it has: %s" % (self.name, sentence(error))) from error

    def refresh(self):
        """Asks the toolbox again, as a discovery on a bus does."""
        if self.fresh:
            self.fresh = False  # it was asked when it was made
            return
        self.discover()

    def tools(self):
        out = []
        for agent_tool in list(self.box.tools.values()):
            try:
                if not agent_tool.name or not isinstance(agent_tool.name, str):
                    raise Failure("it has no name")
                out.append(OPMTool(self.box, agent_tool))
            except Exception as error:
                said = "the tool %r of the toolbox %s is left out: %s" % (
                    getattr(agent_tool, "name", agent_tool), self.name, sentence(error))
                if said not in self.told:
                    self.told.add(said)
                    log_line(said)
        return out

    def close(self):
        close = getattr(self.box, "close", None) or getattr(self.box, "shutdown", None)
        if callable(close):
            close()


def list_opm(flags=()):
    """Gives what OPM entry points are installed. Each one is imported in a process of its own kind,
    so that one which hangs, or ends its process, does not hide the others."""
    rows, order = {}, []
    for kind, group in (("toolboxes", OPM_TOOLBOXES), ("skills", OPM_SKILLS)):
        last = {}
        for at, (entry, distribution, version) in enumerate(opm_entries(group)):
            row = {"entry_point": entry.name, "toolbox_id": entry.name} if kind == "toolboxes" else {"name": entry.name, "path": ""}
            row.update(distribution=distribution, version=version, error="")
            rows[kind, at] = row
            if entry.name in last:
                earlier = rows[last[entry.name]]
                earlier["error"] = "%s %s has an entry point of the same name, and that one counts" % (distribution, version)
                order.remove(last[entry.name])
            last[entry.name] = (kind, at)
            order.append((kind, at))
    while order:
        asked = len(order)
        for key, found in probe_children(order, flags):
            rows[key].update(found)
            order.remove(key)
        if len(order) == asked:  # nobody answers for the first one
            rows[order.pop(0)]["error"] = "it ends the process when it is imported, or does not come to an end"
    return {
        "toolboxes": [rows[key] for key in sorted(rows) if key[0] == "toolboxes"],
        "skills": [rows[key] for key in sorted(rows) if key[0] == "skills"],
    }


def probe_children(order, flags):
    """Yields (key, what was found) for entry points in order, until the process that imports them fails."""
    import queue
    import subprocess

    own = subprocess._args_from_interpreter_flags() if hasattr(subprocess, "_args_from_interpreter_flags") else []
    child = subprocess.Popen([sys.executable, *own, os.path.abspath(__file__), "probe", *flags, json.dumps(order)],
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    lines = queue.Queue()

    def read():
        for line in child.stdout:
            lines.put(line)
        lines.put(None)

    threading.Thread(target=read, daemon=True).start()
    try:
        for key in list(order):
            try:
                line = lines.get(timeout=PROBE_TIME)
            except queue.Empty:
                return
            if line is None:
                return
            yield key, json.loads(line)
    finally:
        child.kill()
        child.wait()


def probe_opm(order, wire):
    """Imports the entry points in order and writes what each one is, a line for each."""
    entries = {"toolboxes": opm_entries(OPM_TOOLBOXES), "skills": opm_entries(OPM_SKILLS)}
    for kind, at in order:
        entry = entries[kind][at][0]
        try:
            if kind == "skills":
                found = {"path": opm_skill_path(entry)}
            else:
                found = {"toolbox_id": opm_toolbox_id(opm_load(entry), entry.name)}
        except BaseException as error:
            found = {"error": sentence(error)}
        data = encode(found) + b"\n"
        while data:
            data = data[os.write(wire, data):]


def opm_toolbox_id(cls, name):
    """Finds the id of a toolbox. Most say it in the constructor: one is made that discovers nothing."""
    if not isinstance(cls, type) or not callable(getattr(cls, "discover_tools", None)):
        raise Failure("it is no toolbox, but " + _article(type(cls).__name__))
    known = getattr(cls, "toolbox_id", None)
    if isinstance(known, str) and known:
        return known
    try:
        blank = type(cls.__name__, (cls,), {"discover_tools": lambda self: []})
        return str(getattr(opm_construct(blank, name, {}, None), "toolbox_id", None) or name)
    except Exception as error:
        log_line("the toolbox %s cannot be made without its settings: %s" % (name, sentence(error)))
        return name  # by the contract it has the name of its entry point


def opm_skill_path(entry):
    """Gives the SKILL.md of an entry point: its value is an importable text, or is the path itself."""
    try:
        path = entry.load()
    except BaseException as error:
        if isinstance(error, (_Stop, KeyboardInterrupt)):
            raise
        if os.path.isfile(entry.value):
            return os.path.abspath(entry.value)
        raise Failure("it cannot be found: " + sentence(error)) from error
    if isinstance(path, os.PathLike):
        path = os.fspath(path)
    if not isinstance(path, str) or not os.path.isfile(path):
        raise Failure("it cannot be found: %s names no file" % entry.value)
    return os.path.abspath(path)


# ---------------------------------------------------------------------------
# 12  Command line


def main(arguments):
    import argparse

    parser = argparse.ArgumentParser(prog="host.py", description="Serves Python tools to Toolcrib.")
    commands = parser.add_subparsers(dest="command", required=True)
    serve = commands.add_parser("serve", help="speak MCP on standard input and output")
    what = serve.add_mutually_exclusive_group(required=True)
    what.add_argument("--file", help="a Python file")
    what.add_argument("--module", help="an installed module")
    what.add_argument("--opm", help="the entry point of an OPM toolbox")
    serve.add_argument("--config", default="{}", help="the settings of the OPM toolbox, as JSON")
    serve.add_argument("--bus", help="the message bus that the OPM toolbox is bound to (or TOOLCRIB_BUS_URL)")
    serve.add_argument("--path", action="append", default=[], help="a folder to import from, after all others")
    listing = commands.add_parser("list", help="print what is installed, as JSON")
    listing.add_argument("--opm", action="store_true", required=True)
    probe = commands.add_parser("probe", help="import entry points; for list")
    probe.add_argument("order", type=json.loads)
    for one in (listing, probe):
        one.add_argument("--path", action="append", default=[], help="a folder to import from, after all others")
    chosen = parser.parse_args(arguments)

    sys.path.extend(os.path.abspath(one) for one in chosen.path)
    if chosen.command == "list":
        data = encode(list_opm([flag for one in chosen.path for flag in ("--path", os.path.abspath(one))])) + b"\n"
        while data:
            data = data[os.write(WIRE_OUT, data):]
        return 0
    if chosen.command == "probe":
        probe_opm(chosen.order, WIRE_OUT)
        os._exit(0)
    sys.modules["toolcrib"] = toolcrib_module()
    if chosen.file:
        source = FileSource(chosen.file)
    elif chosen.module:
        source = ModuleSource(chosen.module)
    else:
        # The environment keeps the token of a bus from the list of processes.
        source = OPMSource(chosen.opm, opm_settings(json.loads(chosen.config)), chosen.bus or os.environ.pop("TOOLCRIB_BUS_URL", None))
    server = Server(source, WIRE_IN, WIRE_OUT)
    return finish(server, server.serve())


def finish(server, code):
    """Ends the process within a second, whatever its threads do, and takes its children along."""
    for call in list(server.calls.values()):
        call.cancelled = True
        if call.task is not None:
            server.loop.cancel(call)

    def close():
        try:
            server.source.close()
        except BaseException as error:
            log_error("closing", error)
        try:
            import atexit

            atexit._run_exitfuncs()
        except BaseException:
            pass

    closing = threading.Thread(target=close, name="toolcrib-close", daemon=True)
    closing.start()
    closing.join(0.3)
    end_children()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BaseException:
            pass
    os._exit(code)


def end_children():
    """Ends the processes that tools have left: first politely, then at once."""
    for wait, number in ((0.15, signal.SIGTERM), (0.0, getattr(signal, "SIGKILL", signal.SIGTERM))):
        family = descendants()
        if not family:
            return
        for pid in family:
            try:
                os.kill(pid, number)
            except OSError:
                pass
        deadline = time.monotonic() + wait
        while time.monotonic() < deadline and descendants():
            time.sleep(0.01)


def descendants():
    """The processes below this one, where the system tells; zombies do not count."""
    try:
        pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return []
    parents = {}
    for pid in pids:
        try:
            with open("/proc/%d/stat" % pid, "rb") as file:
                state, parent = file.read().rpartition(b")")[2].split()[:2]
        except (OSError, ValueError):
            continue
        if state != b"Z":
            parents[pid] = int(parent)
    family, grown = {os.getpid()}, True
    while grown:
        grown = False
        for pid, parent in parents.items():
            if parent in family and pid not in family:
                family.add(pid)
                grown = True
    return sorted(family - {os.getpid()}, reverse=True)


def find_for_children(name, path):
    """Lets the children that multiprocessing starts anew find the tool file under its name."""
    import importlib.abc
    import importlib.machinery
    import importlib.util

    class Finder(importlib.abc.MetaPathFinder):
        @staticmethod
        def find_spec(fullname, _path=None, _target=None):
            if fullname != name:
                return None
            loader = importlib.machinery.SourceFileLoader(fullname, path)
            return importlib.util.spec_from_file_location(fullname, path, loader=loader)

    sys.dont_write_bytecode = True
    sys.meta_path.append(Finder)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
if __name__ == "__mp_main__" and os.environ.get(CHILD_FILE):
    sys.modules["toolcrib"] = toolcrib_module()
    find_for_children(*os.environ[CHILD_FILE].split("=", 1))
