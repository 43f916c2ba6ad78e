"""Calls toolboxes as a voice assistant does, in one process: what Toolcrib is held against.

It is given {entry point: settings}, reads lines {"calls": [[entry point, tool, arguments], …], "rate": calls} and
answers each with {"answers": […], "contracts": {toolbox id: […]}, "seconds": of the calls for the rate}.
"""
import json
import math
import os
import sys
import time

wire = os.dup(1)
os.dup2(2, 1)

from ovos_plugin_manager.persona import find_toolbox_plugins  # noqa: E402
from ovos_utils.fakebus import FakeBus  # noqa: E402


def made(name, cls, config):
    bus = FakeBus()
    if cls.__name__ == "FileToolBox":
        return cls(bus=bus)
    if cls.__name__ == "MyMathToolBox":
        return cls(toolbox_id=name, config=config, bus=bus)
    return cls(config=config, bus=bus)


def finite(value):
    """What is no number is null on the wire."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [finite(item) for item in value]
    return value


def answer(box, tool, arguments):
    try:
        return {"result": finite(box.call_tool(tool, arguments).model_dump(mode="json"))}
    except Exception as error:
        return {"error": "%s: %s" % (type(error).__name__, error)}


def told(boxes, asked):
    out = {"answers": [], "contracts": {}, "seconds": 0}
    for box in boxes.values():
        box.refresh_tools()
        out["contracts"][box.toolbox_id] = [
            {**tool, "toolbox_id": box.toolbox_id} for tool in box.tool_json_list]
    for name, tool, arguments in asked["calls"]:
        out["answers"].append(answer(boxes[name], tool, arguments))
    if asked["rate"]:
        box = boxes["odd-tools"]
        begin = time.perf_counter()
        for _ in range(asked["rate"]):
            box.call_tool("sleep", {}).model_dump(mode="json")
        out["seconds"] = time.perf_counter() - begin
    return out


def main():
    config = json.loads(sys.argv[1])
    boxes = {}
    for name, cls in find_toolbox_plugins().items():
        if name in config:
            boxes[name] = made(name, cls, config[name])
    for line in sys.stdin:
        data = json.dumps(told(boxes, json.loads(line)), ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
        while data:
            data = data[os.write(wire, data):]
    os._exit(0)


main()
