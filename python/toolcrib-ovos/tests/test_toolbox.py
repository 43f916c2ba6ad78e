"""The toolbox with a stand-in for Toolcrib, which a child process or an HTTP server is."""
import dataclasses
import http.server
import json
import os
import sys
import tempfile
import threading
import time
import unittest
from unittest import mock

from ovos_bus_client.message import Message
from ovos_utils.fakebus import FakeBus

from toolcrib_ovos import ToolcribToolBox, answers, toolbox
from toolcrib_ovos.settings import read_settings

FAKE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "fake_toolcrib.py")


class WithChild(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.notes = folder.name
        self.addCleanup(toolbox._shared.close)  # first, so that the child has gone

    def box(self, bus=None, **config):
        env = {"NOTES": self.notes, **config.pop("env", {})}
        return ToolcribToolBox(config={"command": [sys.executable, FAKE], "env": env, **config}, bus=bus)

    def read(self, name):
        with open(os.path.join(self.notes, name)) as file:
            return file.read().splitlines()

    def heard(self, method):
        return [m for m in map(json.loads, self.read("heard")) if m.get("method") == method]


class TestTools(WithChild):
    def test_contracts(self):
        box = self.box(agent="kitchen")
        self.assertEqual(list(box.tools), ["echo", "act", "plain"])
        shown = box.tool_json_list[0]
        self.assertEqual(shown["name"], "echo")
        self.assertEqual(shown["argument_schema"], {"type": "object", "properties": {"text": {"type": "string", "maxLength": 10}},
                                                    "required": ["text"], "additionalProperties": False})
        self.assertEqual(self.read("starts"), ["mcp --dialect ovos --agent kitchen"])
        self.assertEqual(self.heard("initialize")[0]["params"]["clientInfo"]["name"], "toolcrib-ovos")

    def test_filters(self):
        self.assertEqual(list(self.box(tools=["e*", "plain"]).tools), ["echo", "plain"])
        self.assertEqual(list(self.box(box="odd").tools), ["act"])
        self.assertEqual(list(self.box(boxes=["odd", "talk"], tools="echo").tools), ["echo"])
        self.assertEqual(list(self.box(boxes=["none"]).tools), [])
        self.assertIsNone(self.box(box="odd").get_tool("echo"))

    def test_one_child_for_all(self):
        first, second = self.box(), self.box(tools=["echo"])
        self.assertIs(first._connection(), second._connection())
        self.assertEqual(len(self.read("starts")), 1)
        self.box(agent="other")
        self.assertEqual(len(self.read("starts")), 2)

    def test_new_tools_are_seen(self):
        box = self.box()
        box.call_tool("act", {"do": "more"})
        end = time.monotonic() + 20
        while "new" not in [tool["name"] for tool in box.tool_json_list] and time.monotonic() < end:
            time.sleep(0.01)
        self.assertIn("new", box.tools)


class TestCalls(WithChild):
    def test_answers(self):
        box = self.box()
        result = box.call_tool("echo", {"text": "hello"})
        self.assertEqual(result.model_dump(), {"text": "hello", "length": 5})
        self.assertIsInstance(result, box.tools["echo"].output_schema)
        self.assertEqual(str(box.call_tool("act", {"do": "x"})), "ok")
        self.assertEqual(str(box.call_tool("act", {"do": "noise"})), "[image, image/png, not shown]\na picture")
        model = box.tools["echo"].argument_schema(text="as model")
        self.assertEqual(box.call_tool("echo", model).text, "as model")
        self.assertEqual(box.tools["echo"].tool_call(model).text, "as model")

    def test_refusals_are_sentences(self):
        box = self.box()
        for name, arguments, code, sentence in [
            ("act", {"do": "deny"}, "denied", "Not allowed: the rules say no."),
            ("act", {"do": "fail"}, "failed", "The disk is full."),
            ("plain", {}, "not_found", "There is no such tool: plain: there is no such tool."),
            ("act", ["deny"], "invalid", "The arguments do not fit: give an object with the arguments by their names."),
            ("act", {"do": float("nan")}, "invalid", "The arguments do not fit: they cannot be written as JSON: "),
            ("act", {"do": {1, 2}}, "invalid", "The arguments do not fit: they cannot be written as JSON: "),
        ]:
            result = box.call_tool(name, arguments)
            self.assertIsInstance(result, answers.Refusal, arguments)
            self.assertEqual(result.code, code)
            self.assertTrue(str(result).startswith(sentence), str(result))
        with self.assertRaisesRegex(ValueError, "Unknown tool 'none' for ToolBox 'toolcrib'"):
            box.call_tool("none", {})

    def test_on_the_bus_refusals_are_errors(self):
        bus, heard = FakeBus(), []
        bus.on("ovos.persona.tools.toolcrib.call.response", heard.append)
        bus.on("ovos.persona.tools.discover.response", heard.append)
        self.box(bus=bus)
        for name, do in [("act", "deny"), ("act", "x"), ("none", "")]:
            bus.emit(Message("ovos.persona.tools.toolcrib.call", {"name": name, "kwargs": {"do": do}, "toolbox_id": "toolcrib"}))
        bus.emit(Message("ovos.persona.tools.discover"))
        self.assertEqual(heard[0].data["error"], "PermissionError: Not allowed: the rules say no.")
        self.assertEqual(heard[1].data["result"], {"content": "ok"})
        self.assertIn("Unknown tool", heard[2].data["error"])
        self.assertEqual(len(heard[3].data["tools"]), 3)

    def test_many_at_once(self):
        box, wrong = self.box(), []

        def call(n):
            for i in range(20):
                if box.call_tool("echo", {"text": f"{n} {i}"}).text != f"{n} {i}":
                    wrong.append((n, i))
        threads = [threading.Thread(target=call, args=(n,)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        self.assertEqual(wrong, [])
        self.assertEqual(len(self.read("starts")), 1)


class TestEnds(WithChild):
    def test_starts_again(self):
        box = self.box()
        box._connection().process.popen.kill()
        self.assertEqual(box.call_tool("echo", {"text": "again"}).text, "again")
        self.assertEqual(len(self.read("starts")), 2)

    def test_a_lost_call_is_asked_about_by_its_name(self):
        box = self.box()
        self.assertEqual(str(box.call_tool("act", {"do": "die once"})), "done the second time")
        calls = self.heard("tools/call")
        self.assertEqual(len(calls), 2)
        self.assertEqual(calls[0]["params"], calls[1]["params"])

    def test_a_call_that_had_begun_is_not_made_again(self):
        result = self.box().call_tool("act", {"do": "die in the middle"})
        self.assertEqual(result.code, "conflict")
        self.assertIn("how far the call came is not known", str(result))

    def test_who_always_dies_is_not_asked_for_ever(self):
        result = self.box().call_tool("act", {"do": "die"})
        self.assertEqual((result.code, str(result)), ("unavailable", "Toolcrib ended during the call."))
        self.assertEqual(len(self.read("starts")), 2)

    def test_too_slow_is_called_off(self):
        box = self.box()
        patient, box.settings = box.settings, dataclasses.replace(box.settings, timeout=0.3)
        result = box.call_tool("act", {"do": "sleep"})
        self.assertEqual((result.code, str(result)), ("timeout", "Toolcrib gave no answer within 0.3 seconds."))
        end = time.monotonic() + 20
        while not self.heard("notifications/cancelled") and time.monotonic() < end:
            time.sleep(0.01)
        self.assertEqual(self.heard("notifications/cancelled")[0]["params"]["requestId"], self.heard("tools/call")[0]["id"])
        box.settings = patient
        self.assertEqual(str(box.call_tool("act", {"do": "x"})), "ok")

    def test_a_broken_program_is_told_and_tried_later(self):
        box = self.box(env={"BROKEN": "1"})
        self.assertEqual(box.tools, {})
        self.assertEqual(box.tool_json_list, [])
        self.assertEqual(len(self.read("starts")), 1)  # not once per question
        why, _ = box._connection().failure
        self.assertIn("the configuration has a mistake in line 3", why)
        del box._connection().env["BROKEN"]
        box._connection().failure = ("", 0.0)
        self.assertEqual(len(box.tool_json_list), 3)

    def test_an_answer_without_bottom(self):
        box = self.box()
        result = box.call_tool("act", {"do": "deep"})
        self.assertEqual((result.code, str(result)), ("internal", "Something went wrong: The answer has more levels than can be read here."))
        self.assertEqual(str(box.call_tool("act", {"do": "x"})), "ok")
        self.assertEqual(len(self.read("starts")), 1)

    def test_a_program_that_reads_no_more(self):
        box = self.box()
        patient, box.settings = box.settings, dataclasses.replace(box.settings, timeout=0.3)
        self.assertEqual(box.call_tool("act", {"do": "read no more"}).code, "timeout")
        done = threading.Event()

        def call():  # more than a pipe holds
            box.call_tool("plain", {"text": "x" * (1 << 20)})
            done.set()
        threading.Thread(target=call, daemon=True).start()
        self.assertTrue(done.wait(20))
        box.settings = patient
        self.assertEqual(str(box.call_tool("act", {"do": "x"})), "ok")

    def test_a_mute_program(self):
        box = self.box(env={"MUTE": "1"}, start_timeout=0.3)
        self.assertIn("is not ready after 0.3 seconds", box._connection().failure[0])

    def test_a_missing_program(self):
        box = ToolcribToolBox(config={"command": "toolcrib-that-is-not-there"})
        self.assertEqual(box.tools, {})
        self.assertIn("was not found", box._connection().failure[0])


class Server(http.server.BaseHTTPRequestHandler):
    """Answers as ``toolcrib serve`` does."""

    def log_message(self, *args):
        pass

    def do_POST(self):
        server = self.server
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        server.heard.append((message, self.headers.get("Mcp-Session-Id")))
        if self.headers.get("Authorization") != "Bearer sesame":
            return self.answer(401, b"no")
        method = message["method"]
        if "id" not in message:
            return self.answer(202, b"")
        if method == "initialize":
            server.session += 1
            return self.result(message, {"protocolVersion": "2025-06-18"}, {"Mcp-Session-Id": f"s{server.session}"})
        if self.headers.get("Mcp-Session-Id") != f"s{server.session}":
            return self.answer(404, b"session")
        if method == "tools/list":
            return self.result(message, {"tools": [{"name": "echo", "inputSchema": {"type": "object"}}]})
        do = message["params"]["arguments"].get("do")
        if do == "drop" and server.drop:
            server.drop = False
            self.close_connection = True
            self.connection.close()
            return None
        if do == "elsewhere":
            return self.answer(307, b"", {"Location": f"http://127.0.0.1:{server.server_port}/other"})
        if do == "sleep":
            time.sleep(0.6)
        result = {"jsonrpc": "2.0", "id": message["id"], "result": {"content": [{"type": "text", "text": "heard"}]}}
        events = 'event: message\ndata: {"jsonrpc":"2.0","method":"notifications/progress","params":{}}\n\n: comment\n\ndata: ' + json.dumps(result) + "\n\n"
        return self.answer(200, events.encode(), {"Content-Type": "text/event-stream"})

    def result(self, message, result, headers=None):
        return self.answer(200, json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}).encode(),
                           {"Content-Type": "application/json", **(headers or {})})

    def answer(self, status, body, headers=None):
        self.send_response(status)
        for key, value in (headers or {}).items():
            self.send_header(key, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        try:
            self.wfile.write(body)
        except OSError:
            pass


class TestEndpoint(unittest.TestCase):
    def setUp(self):
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
        self.server.heard, self.server.session, self.server.drop = [], 0, True
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)
        self.addCleanup(toolbox._shared.close)

    def box(self, **config):
        return ToolcribToolBox(config={"url": f"http://127.0.0.1:{self.server.server_port}", "token": "sesame", **config})

    def test_calls(self):
        box = self.box()
        self.assertEqual(str(box.call_tool("echo", {})), "heard")
        self.server.session += 1  # it forgets the session
        self.assertEqual(str(box.call_tool("echo", {})), "heard")

    def test_a_lost_call_keeps_its_name(self):
        self.assertEqual(str(self.box().call_tool("echo", {"do": "drop"})), "heard")
        names = [m["params"]["_meta"]["toolcrib/callId"] for m, _ in self.server.heard if m["method"] == "tools/call"]
        self.assertEqual((len(names), len(set(names))), (2, 1))

    def test_a_token_goes_nowhere_else(self):
        result = self.box().call_tool("echo", {"do": "elsewhere"})
        self.assertEqual(result.code, "unavailable")
        self.assertEqual(len([m for m, _ in self.server.heard if m["method"] == "tools/call"]), 1)

    def test_too_slow_is_called_off(self):
        box = self.box()
        box.settings = dataclasses.replace(box.settings, timeout=0.2)
        result = box.call_tool("echo", {"do": "sleep"})
        self.assertEqual(result.code, "timeout")
        self.assertIn("notifications/cancelled", [m["method"] for m, _ in self.server.heard])

    def test_a_wrong_token(self):
        with mock.patch.object(toolbox.LOG, "warning") as warned:
            box = self.box(token="wrong")
        self.assertEqual(box.tools, {})
        self.assertIn("does not accept the token", warned.call_args.args[0])

    def test_nobody_there(self):
        box = self.box()
        self.server.shutdown()
        self.server.server_close()
        result = box.call_tool("echo", {})
        self.assertEqual(result.code, "unavailable")
        self.assertIn("toolcrib serve", str(result))


class TestSettings(unittest.TestCase):
    def test_wrong_ones_are_told(self):
        for config, words in [
            ({"comand": "x"}, "there is no setting 'comand'"),
            ({"command": ""}, "command is empty"),
            ({"command": [1]}, "command must be"),
            ({"dialect": "klingon"}, "dialect must be one of native, ovos"),
            ({"timeout": 0}, "timeout must be"),
            ({"timeout": True}, "timeout must be"),
            ({"tools": {}}, "tools must be"),
            ({"env": {"A": 1}}, "env must be"),
            ({"agent": 3}, "agent must be"),
            ({"token": "t"}, "token has no effect without url"),
            ({"url": "ftp://a"}, "url must be an address"),
            ({"url": "http://user@127.0.0.1"}, "url must be an address"),
            ({"url": "http://192.0.2.1/mcp", "token": "t"}, "use https"),
            ({"url": "http://127.0.0.1", "agent": "a"}, "agent has no effect with url"),
        ]:
            with self.assertRaisesRegex(ValueError, words, msg=str(config)):
                read_settings(config)

    def test_right_ones(self):
        self.assertEqual(read_settings(None).argv(), ["toolcrib", "mcp", "--dialect", "ovos"])
        self.assertEqual(read_settings({"command": "flatpak run toolcrib", "dialect": "native"}).argv(), ["flatpak", "run", "toolcrib", "mcp", "--dialect", "native"])
        self.assertEqual(read_settings({"url": "https://crib.example/"}).url, "https://crib.example/mcp")
        self.assertEqual(read_settings({"url": "http://[::1]:7717/mcp", "token": "t"}).url, "http://[::1]:7717/mcp")
        self.assertEqual(read_settings({"agent": None}).agent, "")


if __name__ == "__main__":
    unittest.main()
