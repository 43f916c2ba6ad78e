"""Toolcrib as a child process: ``toolcrib mcp``, one JSON message per line."""
import collections
import itertools
import json
import os
import re
import subprocess
import threading
import time
from typing import Any, Dict, List, Optional

from ovos_utils.log import LOG

from toolcrib_ovos.errors import Lost, RemoteError, TooSlow, Unreachable

VERSION = "2025-06-18"
PAUSE = 2.0  # seconds in which a child that would not start is not started again


class _Wait:
    """A request that waits for its answer."""

    def __init__(self) -> None:
        self.done = threading.Event()
        self.answer: Optional[Dict[str, Any]] = None  # None: the child ended


def _number(line: bytes) -> Optional[int]:
    """The id of an answer that cannot be read as a whole: Toolcrib writes it before the result."""
    found = re.match(rb'\s*{\s*"jsonrpc"\s*:\s*"2.0"\s*,\s*"id"\s*:\s*(\d{1,18})\s*,', line[:200])
    return int(found.group(1)) if found else None


class _Process:
    """One run of the program."""

    def __init__(self, argv: List[str], env: Dict[str, str], on_change) -> None:
        self.on_change = on_change
        self.ids = itertools.count(1)
        self.waiting: Dict[int, _Wait] = {}
        self.lock = threading.Lock()  # for waiting and ended
        self.writing = threading.Lock()
        self.ended = False
        self.said = collections.deque(maxlen=20)
        hide = {"creationflags": subprocess.CREATE_NO_WINDOW} if os.name == "nt" else {}
        self.popen = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                      env={**os.environ, **env}, **hide)
        self.errors = threading.Thread(target=self._listen, name="toolcrib-log", daemon=True)
        self.errors.start()
        threading.Thread(target=self._read, name="toolcrib-answers", daemon=True).start()

    def _listen(self) -> None:
        with self.popen.stderr as stream:
            for line in stream:
                text = line.decode("utf-8", "replace").strip()
                if text:
                    self.said.append(text)
                    LOG.debug(f"toolcrib: {text}")

    def _read(self) -> None:
        with self.popen.stdout as stream:
            for line in stream:
                try:
                    message = json.loads(line)
                    if isinstance(message, dict):
                        self._take(message)
                except (ValueError, TypeError):
                    LOG.warning("toolcrib: a line of its output is not JSON and was skipped")
                except RecursionError:  # what a tool answered, most likely
                    LOG.warning("toolcrib: a line of its output has more levels than Python reads")
                    self._take({"id": _number(line), "error": {"message": "The answer has more levels than can be read here."}})
        with self.lock:
            self.ended = True
            left, self.waiting = list(self.waiting.values()), {}
        for wait in left:
            wait.done.set()
        self._end_input()
        self.popen.wait()

    def _end_input(self) -> None:
        try:
            self.popen.stdin.close()
        except OSError:
            pass

    def _take(self, message: Dict[str, Any]) -> None:
        method = message.get("method")
        if method is None:
            with self.lock:
                wait = self.waiting.pop(message.get("id"), None)
            if wait is not None:
                wait.answer = message
                wait.done.set()
        elif message.get("id") is not None:  # it asks us something
            reply = {"result": {}} if method == "ping" else {"error": {"code": -32601, "message": "not supported"}}
            self._answer({"jsonrpc": "2.0", "id": message["id"], **reply})
        elif method == "notifications/tools/list_changed":
            self.on_change()

    def _answer(self, message: Dict[str, Any]) -> None:
        try:
            self.send(message)
        except Lost:
            pass  # whoever waits is told

    def send(self, message: Dict[str, Any], patience: float = 60.0) -> None:
        data = json.dumps(message, allow_nan=False).encode() + b"\n"
        # One that reads nothing is ended: whoever writes to it, and all behind them, would wait for ever.
        late = threading.Timer(patience, self.popen.kill)
        late.daemon = True
        try:
            with self.writing:
                late.start()
                self.popen.stdin.write(data)
                self.popen.stdin.flush()
        except (OSError, ValueError) as error:
            with self.lock:
                self.ended = True  # before its answers are read to the end
            raise Lost("Toolcrib has ended.") from error
        finally:
            late.cancel()

    def request(self, method: str, params: Dict[str, Any], timeout: float) -> Dict[str, Any]:
        wait, number = _Wait(), next(self.ids)
        with self.lock:
            if self.ended:
                raise Lost("Toolcrib has ended.")
            self.waiting[number] = wait
        self.send({"jsonrpc": "2.0", "id": number, "method": method, "params": params}, timeout)
        if not wait.done.wait(timeout):
            with self.lock:
                self.waiting.pop(number, None)
            if method != "initialize":
                # Nothing shall be done for somebody who has gone.
                self._answer({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number, "reason": "timeout"}})
            raise TooSlow(f"Toolcrib gave no answer within {timeout:g} seconds.")
        if wait.answer is None:
            raise Lost("Toolcrib ended during the call.")
        if "error" in wait.answer:
            error = wait.answer["error"] if isinstance(wait.answer["error"], dict) else {}
            raise RemoteError(error.get("code"), str(error.get("message", "unknown error")), error.get("data"))
        result = wait.answer.get("result")
        return result if isinstance(result, dict) else {}

    def last_words(self) -> str:
        """Why it ended, as far as it said."""
        self.errors.join(1)
        return self.said[-1] if self.said else f"exit status {self.popen.poll()}"

    def close(self, patience: float = 3) -> None:
        self._end_input()  # it ends by it, after the calls under way
        try:
            self.popen.wait(patience)
        except subprocess.TimeoutExpired:
            self.popen.kill()
            self.popen.wait()


class Child:
    """The child that all toolboxes with the same settings share. It is started when it is needed, also after it has ended."""

    def __init__(self, argv: List[str], env: Dict[str, str], start_timeout: float, client: Dict[str, str]) -> None:
        self.argv, self.env, self.start_timeout, self.client = argv, env, start_timeout, client
        self.version = 0  # grows whenever the tools may be others
        self.lock = threading.Lock()  # for the two below
        self.process: Optional[_Process] = None
        self.failure = ("", 0.0)  # why it could not be started, and until when that counts

    def _changed(self) -> None:
        self.version += 1

    def _running(self) -> _Process:
        with self.lock:
            if self.process is not None and not self.process.ended:
                return self.process
            why, until = self.failure
            if time.monotonic() < until:
                raise Unreachable(why)
            if self.process is not None:
                LOG.warning(f"toolcrib: the program ended ({self.process.last_words()}) and is started again")
            try:
                self.process = self._start()
            except Unreachable as error:
                self.process, self.failure = None, (str(error), time.monotonic() + PAUSE)
                raise
            self._changed()
            return self.process

    def _start(self) -> _Process:
        name = self.argv[0]
        try:
            process = _Process(self.argv, self.env, self._changed)
        except FileNotFoundError as error:
            raise Unreachable(f"The program {name} was not found. Install Toolcrib, or say where it is in the setting command.") from error
        except OSError as error:
            raise Unreachable(f"The program {name} cannot be started: {error.strerror or error}.") from error
        try:
            process.request("initialize", {"protocolVersion": VERSION, "capabilities": {}, "clientInfo": self.client}, self.start_timeout)
            process.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        except TooSlow as error:
            process.close(patience=0)
            raise Unreachable(f"The program {name} was started and is not ready after {self.start_timeout:g} seconds.") from error
        except Lost as error:
            process.close()
            raise Unreachable(f"The program {name} ended at its start: {process.last_words()}") from error
        except RemoteError as error:
            process.close()
            raise Unreachable(f"The program {name} does not take us for a client: {error.message}") from error
        return process

    def request(self, method: str, params: Dict[str, Any], timeout: float) -> Dict[str, Any]:
        return self._running().request(method, params, timeout)

    def close(self) -> None:
        with self.lock:
            process, self.process = self.process, None
        if process is not None:
            process.close()
