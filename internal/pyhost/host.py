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
        text = str(error).strip()
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


_dumps = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def encode(value):
    """Gives the bytes of one message; lone surrogates become U+FFFD."""
    text = _dumps(value)
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        return mend(text).encode("utf-8")


def mend(text):
    """Joins surrogate pairs and replaces lone surrogates."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def result_of(value, wrap):
    """Makes the MCP result of what a tool returned. wrap says that the output schema has one property "result"."""
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
    elif data is None:
        text = "null" if wrap else ""
    else:
        text = _dumps(data)
    result = {"content": [{"type": "text", "text": text}]}
    if type(data) is dict and not wrap:
        result["structuredContent"] = data
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

    def call(self, arguments, context):
        raise NotImplementedError

    def describe(self):
        entry = {"name": self.name, "description": self.description, "inputSchema": self.input_schema}
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
                 "abandoned", "stopped", "_sent", "_last")

    def __init__(self, server, id, tool, arguments, token):
        self.server, self.id, self.tool, self.arguments, self.token = server, id, tool, arguments, token
        self.cancelled = self.done = self.abandoned = self.stopped = False
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
                return
            self.thread = threading.get_ident()
        token = _current.set(self)
        try:
            try:
                outcome = self.tool.call(self.arguments, self)
                result = result_of(self.collect(outcome), self.tool.wrap)
                failed = None
            finally:
                with self.lock:
                    self.done = True
        except BaseException as error:
            result, failed = None, error
            self.done = True
        try:
            _current.reset(token)
        except ValueError:
            pass
        self.answer(result, failed)

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
            result = result_of(self.collect(outcome), self.tool.wrap)
        except BaseException as error:
            failed = error
        with self.lock:
            self.done = True
        self.answer(result, failed)

    def collect(self, outcome):
        """Runs a generator to its end; every item is a step of progress."""
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


class Crew:
    """The threads that read and run."""

    def __init__(self, read_call, limit=LIMIT):
        self.read_call = read_call  # returns the next Call, or None at the end of input
        self.limit = limit
        self.lock = threading.Lock()
        self.idle = []  # locks of threads that wait for a turn at reading
        self.queue = collections.deque()
        self.busy = 0
        self.abandoned = 0
        self.numbers = itertools.count(1)

    def start(self):
        self._spawn(None)

    def _spawn(self, call):
        threading.Thread(target=self._thread, args=(call,), name="toolcrib-%d" % next(self.numbers), daemon=True).start()

    def _thread(self, call):
        turn = threading.Lock()
        turn.acquire()
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
                    waiting = self.idle.pop() if self.idle else None
                if waiting is not None:
                    waiting.release()
                else:
                    self._spawn(None)
            while call is not None:
                try:
                    call.run()
                except _Stop:
                    pass
                with self.lock:
                    if call.abandoned or call.stopped:
                        # The exception may still be on its way to this thread: the thread ends here.
                        if call.abandoned:
                            self.abandoned -= 1
                            return
                        call = self._next()
                        if call is not None:
                            self._spawn(call)
                        return
                    call = self._next()
                    if call is None:
                        self.idle.append(turn)
            turn.acquire()

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
        self._spawn(call)

    def abandon(self, call):
        """Gives the place of a cancelled call that does not end to the next one."""
        with self.lock:
            if call.done or call.thread is None or call.abandoned or self.abandoned >= ABANDONED_LIMIT:
                return
            call.abandoned = True
            self.abandoned += 1
            call = self._next()
        if call is not None:
            self._spawn(call)


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
        self.readline = os.fdopen(wire_in, "rb", 1 << 16).readline
        self.write_lock = threading.Lock()
        self.list_lock = threading.Lock()
        self.calls = {}
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
        self.crew.start()
        try:
            self.source.load()
            self.take_tools()
        except BaseException as error:
            log_error("loading", error)
            self.failure = sentence(error)
        with self.backlog_lock:
            lines, self.backlog = self.backlog, None
            for line in lines:
                self.take(line)
        while not self.ended.wait(3600):
            pass
        return self.exit_code

    def end(self, code=0):
        self.exit_code = code
        self.ended.set()

    def take_tools(self):
        tools = {}
        for entry in self.source.tools():
            if entry.name in tools:
                log_line("two tools are named %s; only the first one is served" % entry.name)
                continue
            tools[entry.name] = entry
        self.tools = tools
        self.listed = [entry.describe() for entry in tools.values()]

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
                self.end(0)
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
            message = json.loads(line)
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
            return self.send_error(id, INVALID_PARAMS, "There is no tool %s.%s" % (
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
        if entry.is_async:
            self.loop.start(call)
            return None
        return call

    def cancel(self, id):
        call = self.calls.get(id) if _is_id(id) else None
        if call is None or not call.cancel():
            return
        self.calls.pop(id, None)
        if call.tool.is_async:
            self.loop.cancel(call)
            return

        def insist():
            call.interrupt()
            time.sleep(GRACE)
            self.crew.abandon(call)

        timer = threading.Timer(GRACE, insist)
        timer.daemon = True
        timer.start()

    # Out

    def finish(self, call, result):
        """Sends the answer of a call, unless it was cancelled."""
        if self.calls.get(call.id) is call:
            del self.calls[call.id]
        if call.cancelled:
            return
        self.send_result(call.id, result)

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


def _is_id(id):
    return type(id) is str or type(id) is int or type(id) is float


def did_you_mean(name, names):
    import difflib

    close = difflib.get_close_matches(name, list(names), 1, 0.6) if type(name) is str and len(name) < 200 else []
    return " Did you mean %s?" % close[0] if close else ""


# ---------------------------------------------------------------------------
# 8  Docstrings


# ---------------------------------------------------------------------------
# 9  Schemas from types


# ---------------------------------------------------------------------------
# 10  Sources


class FileSource(Source):
    """The tools of a Python file."""

    def __init__(self, path):
        self.path = path


class ModuleSource(Source):
    """The tools of an installed module."""

    def __init__(self, module_name):
        self.module_name = module_name


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
            raise Failure("There is no toolbox %s among the packages of %s.%s" % (
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


def list_opm():
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
        for key, found in probe_children(order):
            rows[key].update(found)
            order.remove(key)
        if len(order) == asked:  # nobody answers for the first one
            rows[order.pop(0)]["error"] = "it ends the process when it is imported, or does not come to an end"
    return {
        "toolboxes": [rows[key] for key in sorted(rows) if key[0] == "toolboxes"],
        "skills": [rows[key] for key in sorted(rows) if key[0] == "skills"],
    }


def probe_children(order):
    """Yields (key, what was found) for entry points in order, until the process that imports them fails."""
    import queue
    import subprocess

    flags = subprocess._args_from_interpreter_flags() if hasattr(subprocess, "_args_from_interpreter_flags") else []
    child = subprocess.Popen([sys.executable, *flags, os.path.abspath(__file__), "probe", json.dumps(order)],
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
    listing = commands.add_parser("list", help="print what is installed, as JSON")
    listing.add_argument("--opm", action="store_true", required=True)
    commands.add_parser("probe", help="import entry points; for list").add_argument("order", type=json.loads)
    chosen = parser.parse_args(arguments)

    if chosen.command == "list":
        data = encode(list_opm()) + b"\n"
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
    """Ends the process within a second, whatever its threads do."""
    os._exit(code)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
