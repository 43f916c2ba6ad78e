"""Holds dialogues with the genuine engines of OpenVoiceOS: what Toolcrib's loops are held against.

It is given the name of an engine and a directory, reads {"files": {name: text}, "dialogues": […]} and answers with a list of
{"calls": [[tool, arguments, result or null], …], "answer": text, "turns": how often the model was asked}. The model is a script:
it says the turns of the dialogue, one after another.
"""
import json
import math
import os
import sys

wire = os.dup(1)
os.dup2(2, 1)

from ovos_plugin_manager.agents import find_chat_plugins  # noqa: E402
from ovos_plugin_manager.persona import find_toolbox_plugins  # noqa: E402
from ovos_plugin_manager.templates.agents import AgentMessage, ChatEngine, MessageRole, ToolCall  # noqa: E402
from ovos_utils.fakebus import FakeBus  # noqa: E402

BOXES = ["ovos-clock-tools", "ovos-math-tools", "ovos-filesystem-tools"]


class Script(ChatEngine):
    """A brain that says what stands in the script."""

    def __init__(self, turns, native):
        super().__init__()
        self.turns, self.supports_tools, self.asked = turns, native, 0

    def continue_chat(self, messages, session_id="default", lang=None, units=None, tools=None):
        turn = self.turns[self.asked]
        self.asked += 1
        if isinstance(turn, str):
            return AgentMessage(MessageRole.ASSISTANT, turn)
        calls = [ToolCall(c["id"], c["name"], c["arguments"]) for c in turn["calls"]]
        return AgentMessage(MessageRole.ASSISTANT, turn["text"], tool_calls=calls)


def finite(value):
    """What is no number is null on the wire."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [finite(item) for item in value]
    return value


def hold(engine_class, boxes, native, dialogue, files, folder):
    os.makedirs(folder)
    for name, text in files.items():
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    os.chdir(folder)
    engine = engine_class(config={"max_iterations": dialogue.get("max_iterations", 10)})
    loaded = []
    for name in BOXES:
        config = {"root_path": folder, "allow_write": True} if name == "ovos-filesystem-tools" else {}
        loaded.append(boxes[name](config=config, bus=FakeBus()))
    engine.load_toolboxes(loaded)
    brain = Script(dialogue["turns"], native)
    engine.set_brain(brain)
    made, results = [], []
    for box in loaded:
        def watched(name, args, call=box.call_tool):
            result = call(name, args)
            results.append(finite(result.model_dump(mode="json")))
            return result
        box.call_tool = watched
    genuine = engine._call_tool

    def noted(name, args):
        before = len(results)
        said = genuine(name, args)
        made.append([name, args, results[before] if len(results) > before else None])
        return said
    engine._call_tool = noted
    answer = engine.continue_chat([AgentMessage(MessageRole.USER, dialogue["user"])])
    return {"calls": made, "answer": answer.content, "turns": brain.asked}


def main():
    name, top = sys.argv[1:]
    engine, boxes = find_chat_plugins()[name], find_toolbox_plugins()
    asked = json.load(sys.stdin)
    told = [hold(engine, boxes, name == "ovos-native-toolcall-loop", d, asked["files"], os.path.join(top, str(i)))
            for i, d in enumerate(asked["dialogues"])]
    data = json.dumps(told, ensure_ascii=False, separators=(",", ":")).encode()
    while data:
        data = data[os.write(wire, data):]
    os._exit(0)


main()
