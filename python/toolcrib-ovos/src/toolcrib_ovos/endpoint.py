"""Toolcrib over HTTP: the endpoint of ``toolcrib serve``."""
import http.client
import itertools
import json
import threading
import time
import urllib.error
import urllib.request
from typing import Any, Dict, Iterator, Optional
from urllib.parse import urlsplit

from toolcrib_ovos.child import VERSION
from toolcrib_ovos.errors import Lost, RemoteError, TooSlow, Unreachable
from toolcrib_ovos.settings import LOOPBACK

LARGEST = 64 << 20  # bytes of an answer
FRESH = 30.0  # seconds after which the tools may be others: nobody tells us


class _Stay(urllib.request.HTTPRedirectHandler):
    """A token is for one address: nothing leads it elsewhere."""

    def redirect_request(self, *args: Any) -> None:
        return None


class _NoSession(Exception):
    """The session is not known any more."""


class Endpoint:
    """The endpoint that all toolboxes with the same settings share."""

    def __init__(self, url: str, token: str, client: Dict[str, str]) -> None:
        self.url, self.token, self.client = url, token, client
        handlers = [_Stay()]
        if urlsplit(url).hostname in LOOPBACK:
            handlers.append(urllib.request.ProxyHandler({}))
        self.opener = urllib.request.build_opener(*handlers)
        self.ids = itertools.count(1)
        self.lock = threading.Lock()  # for the session
        self.session: Optional[str] = None  # None: none was begun; empty: the server gave none

    @property
    def version(self) -> int:
        """Grows whenever the tools may be others."""
        return int(time.monotonic() / FRESH)

    def _post(self, message: Dict[str, Any], session: str, timeout: float):
        headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "MCP-Protocol-Version": VERSION}
        if self.token:
            headers["Authorization"] = "Bearer " + self.token
        if session:
            headers["Mcp-Session-Id"] = session
        request = urllib.request.Request(self.url, json.dumps(message, allow_nan=False).encode(), headers)
        try:
            return self.opener.open(request, timeout=timeout)
        except urllib.error.HTTPError as error:
            with error:
                if error.code == 404 and session:
                    raise _NoSession() from error
                if error.code in (401, 403):
                    raise Unreachable("Toolcrib does not accept the token. Set token to what the command toolcrib token shows.") from error
                said = error.read(500).decode("utf-8", "replace").strip()
            raise Unreachable(f"Toolcrib answered with HTTP status {error.code}: {said}") from error
        except urllib.error.URLError as error:
            if isinstance(error.reason, TimeoutError):
                raise TooSlow(f"Toolcrib gave no answer within {timeout:g} seconds.") from error
            raise Unreachable(f"Toolcrib cannot be reached at {self.url}: {error.reason}. Start it with the command toolcrib serve.") from error
        except TimeoutError as error:
            raise TooSlow(f"Toolcrib gave no answer within {timeout:g} seconds.") from error
        except (OSError, ValueError, http.client.HTTPException) as error:
            raise Lost(f"The connection to Toolcrib was lost: {error}.") from error

    def _ask(self, method: str, params: Dict[str, Any], session: str, timeout: float):
        number, end = next(self.ids), time.monotonic() + timeout
        try:
            response = self._post({"jsonrpc": "2.0", "id": number, "method": method, "params": params}, session, timeout)
            with response:
                for message in _messages(response, end):
                    if message.get("id") == number and "method" not in message:
                        return message, response.headers.get("Mcp-Session-Id")
        except TimeoutError as error:
            raise self._gone(number, session, timeout) from error
        except TooSlow:
            self._gone(number, session, timeout)
            raise
        except RecursionError as error:  # what a tool answered: to ask again brings the same
            raise RemoteError(None, "The answer has more levels than can be read here.") from error
        except (OSError, ValueError, http.client.HTTPException) as error:
            raise Lost(f"The connection to Toolcrib was lost: {error}.") from error
        raise Lost("Toolcrib ended the connection without an answer.")

    def _gone(self, number: int, session: str, timeout: float) -> TooSlow:
        """Nothing shall be done for somebody who has gone."""
        try:
            self._post({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number, "reason": "timeout"}}, session, 2).close()
        except (Unreachable, _NoSession):
            pass
        return TooSlow(f"Toolcrib gave no answer within {timeout:g} seconds.")

    def _begun(self, timeout: float) -> str:
        with self.lock:
            if self.session is None:
                answer, session = self._ask("initialize", {"protocolVersion": VERSION, "capabilities": {}, "clientInfo": self.client}, "", timeout)
                _result(answer)
                session = session or ""
                self._post({"jsonrpc": "2.0", "method": "notifications/initialized"}, session, timeout).close()
                self.session = session
            return self.session

    def request(self, method: str, params: Dict[str, Any], timeout: float) -> Dict[str, Any]:
        for last in (False, True):
            session = self._begun(timeout)
            try:
                return _result(self._ask(method, params, session, timeout)[0])
            except _NoSession:
                with self.lock:
                    if self.session == session:
                        self.session = None
                if last:
                    raise Unreachable("Toolcrib does not keep the session.") from None
        raise AssertionError("unreachable")

    def close(self) -> None:
        """There is nothing to end: sessions end by themselves."""


def _result(answer: Dict[str, Any]) -> Dict[str, Any]:
    if "error" in answer:
        error = answer["error"] if isinstance(answer["error"], dict) else {}
        raise RemoteError(error.get("code"), str(error.get("message", "unknown error")), error.get("data"))
    result = answer.get("result")
    return result if isinstance(result, dict) else {}


def _messages(response, end: float) -> Iterator[Dict[str, Any]]:
    """The messages of an answer: one, or a stream of events."""
    if "text/event-stream" not in response.headers.get("Content-Type", ""):
        text = response.read(LARGEST + 1)
        if len(text) > LARGEST:
            raise ValueError("the answer is too large")
        message = json.loads(text)
        if isinstance(message, dict):
            yield message
        return
    data, size = [], 0
    while True:
        line = response.readline(LARGEST)
        size += len(line)
        if size > LARGEST:
            raise ValueError("the answer is too large")
        if time.monotonic() > end:
            raise TimeoutError()
        word = line.strip()
        if word.startswith(b"data:"):
            data.append(word[5:].strip())
        elif not word and data:
            message = json.loads(b"\n".join(data))
            data = []
            if isinstance(message, dict):
                yield message
        if not line:
            return
