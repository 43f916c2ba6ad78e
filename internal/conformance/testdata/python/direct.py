"""Calls the tools of a file as their library does: what the host is held against.

It reads {"file": path, "calls": [[tool, arguments], …]} and writes [{"text": …, "error": …}, …].
"""
import asyncio
import importlib.util
import json
import os
import sys

wire = os.dup(1)
os.dup2(2, 1)

given = json.load(sys.stdin)
spec = importlib.util.spec_from_file_location("tools_under_test", given["file"])
module = importlib.util.module_from_spec(spec)
sys.modules[spec.name] = module
spec.loader.exec_module(module)


def find(name):
    for thing in list(vars(module).values()):
        if isinstance(thing, type):
            try:
                thing = thing() if any(base.__name__ == "BaseTool" for base in thing.__mro__[1:]) else None
            except Exception:
                continue
        if thing is not None and getattr(thing, "name", None) == name:
            return thing
    return getattr(module, name)


async def through_client(name, arguments):
    if hasattr(module, "mcp"):
        from fastmcp import Client, FastMCP

        server = module.mcp
        if name == "loose":
            server = FastMCP("loose")
            server.add_tool(module.loose)
        async with Client(server) as client:
            result = await client.call_tool_mcp(name, arguments)
    else:
        import mcp

        async with mcp.Client(module.server) as client:
            result = await client.call_tool(name, arguments)
    told = result.model_dump(mode="json", by_alias=True)
    return told["content"][0]["text"], bool(told.get("isError"))


async def run(name, arguments):
    if hasattr(module, "mcp") or hasattr(module, "server"):
        return await through_client(name, arguments)
    tool = find(name)
    if hasattr(tool, "invoke"):
        if name in ("made", "handled", "with_id"):
            message = await tool.ainvoke({"type": "tool_call", "id": "an id", "name": name, "args": arguments})
            return message.content, message.status == "error"
        value = await tool.ainvoke(arguments)
    else:
        value = await tool.arun(**arguments)
    return value if isinstance(value, str) else json.dumps(value, separators=(",", ":")), False


def answer(name, arguments):
    import pydantic

    try:
        text, error = asyncio.run(run(name, arguments))
    except pydantic.ValidationError as problem:
        said = "; ".join("%s: %s" % (".".join(map(str, one["loc"])), one["msg"]) for one in problem.errors())
        text, error = "ValidationError: " + said, True
    except Exception as problem:
        text, error = "%s: %s" % (type(problem).__name__, problem), True
    return {"text": text, "error": error}


data = json.dumps([answer(name, arguments) for name, arguments in given["calls"]]).encode()
while data:
    data = data[os.write(wire, data):]
