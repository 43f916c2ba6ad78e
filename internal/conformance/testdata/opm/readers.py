"""Has clients of others read Toolcrib's definitions: what they found, by reader and dialect.

Arguments: the program, and the readers. Each reader is given ``toolcrib mcp --dialect D`` and gives the names of the tools that it
could read.
"""
import asyncio
import json
import os
import random
import sys

wire = os.dup(1)
os.dup2(2, 1)
program, readers = sys.argv[1], sys.argv[2:]
DIALECTS = ["native", "ovos", "agenticx", "owl"]


def arguments(dialect):
    return ["mcp", "--dialect", dialect]


def adapter(dialect):
    """OpenVoiceOS' own adapter for MCP."""
    from ovos_tool_adapters.mcp import MCPToolBox
    box = MCPToolBox(config={"transport": "stdio", "command": program, "args": arguments(dialect), "env": dict(os.environ), "timeout": 60})
    assert "1024" in str(box.call_tool("evaluate_expression", {"expression": "2**10"})), "a call gave something else"
    assert all(tool["argument_schema"] for tool in box.tool_json_list)
    return list(box.tools)


def tool_list(dialect):
    from fastmcp import Client
    from fastmcp.client.transports import StdioTransport

    async def ask():
        async with Client(StdioTransport(program, arguments(dialect), env=dict(os.environ), keep_alive=False)) as client:
            return await client.list_tools()
    return asyncio.run(ask())


def of(tool, name):
    """A member of a definition, by the name that the protocol has: the SDK has renamed its own."""
    return tool.model_dump(by_alias=True).get(name)


def fastmcp(dialect):
    """FastMCP's client, and its types of answers."""
    from fastmcp.utilities.json_schema_type import json_schema_to_type
    tools = tool_list(dialect)
    for tool in tools:
        for schema in (of(tool, "inputSchema"), of(tool, "outputSchema")):
            if schema:
                json_schema_to_type(schema)
    return [tool.name for tool in tools]


def langchain(dialect):
    """LangChain's tools and their form for OpenAI."""
    from langchain_core.tools import StructuredTool
    from langchain_core.utils.function_calling import convert_to_openai_tool
    names = []
    for tool in tool_list(dialect):
        made = StructuredTool(name=tool.name, description=tool.description or "", args_schema=of(tool, "inputSchema"), func=lambda **k: k)
        form = convert_to_openai_tool(made)["function"]
        assert set(form["parameters"]["properties"]) == set(of(tool, "inputSchema").get("properties", {})), tool.name
        names.append(form["name"])
    return names


def invented(schema, root, dice, depth=0):
    """A value that may or may not fit a schema."""
    if not isinstance(schema, dict) or dice.random() < 0.06:
        return dice.choice([None, True, 0, -3, 7, 2.5, "", "a", "*", [], ["a"], {}, {"x": 1}])
    if "$ref" in schema:
        found = root
        for word in schema["$ref"].split("/")[1:]:
            found = found[word]
        return invented(found, root, dice, depth + 1)
    if "enum" in schema:
        return dice.choice(schema["enum"])
    for word in ("anyOf", "oneOf"):
        if word in schema:
            return invented(dice.choice(schema[word]), root, dice, depth + 1)
    kind = schema.get("type")
    if kind == "object":
        properties, needed = schema.get("properties", {}), schema.get("required", [])
        value = {key: invented(sub, root, dice, depth + 1) for key, sub in properties.items()
                 if (dice.random() < 0.95 if key in needed else dice.random() < 0.4)}
        if dice.random() < 0.05:
            value["surplus"] = 1
        return value
    if kind == "array":
        return [invented(schema.get("items"), root, dice, depth + 1) for _ in range(dice.choice([0, 1, 2, 3]))] if depth < 6 else []
    if kind == "string":
        return dice.choice(["", "a", "ab", "notes.txt", "x" * 70])
    if kind == "integer":
        return dice.choice([schema.get("minimum", 0), schema.get("maximum", 9), schema.get("minimum", 0) - 1, schema.get("maximum", 9) + 1, 2])
    return {"number": 1.5, "boolean": True, "null": None}.get(kind, "any")


def models(dialect):
    """The models of toolcrib-ovos: they show the contract, and take what it takes."""
    from jsonschema import Draft202012Validator
    from toolcrib_ovos import ToolcribToolBox
    tools = {tool.name: tool for tool in tool_list(dialect)}
    box = ToolcribToolBox(config={"command": [program], "dialect": dialect})
    dice, tried = random.Random(19), [0, 0]
    for shown in box.tool_json_list:
        tool = tools[shown["name"]]
        assert shown["argument_schema"] == of(tool, "inputSchema"), shown["name"]
        assert of(tool, "outputSchema") in (None, shown["output_schema"]), shown["name"]
        assert shown["description"] == (tool.description or ""), shown["name"]
        model, schema = box.tools[shown["name"]].argument_schema, shown["argument_schema"]
        judge = Draft202012Validator(schema)
        for _ in range(150):
            value = invented(schema, schema, dice)
            if not isinstance(value, dict):
                continue
            fits = judge.is_valid(value)
            try:
                made = model.model_validate(value, strict=True)
            except ValueError:
                made = None
            assert fits == (made is not None), f"{shown['name']} {value}: the contract says {fits}"
            if fits:
                assert made.given() == value, f"{shown['name']} {value} became {made.given()}"
                model(**value)
            tried[fits] += 1
    assert min(tried) > 300, tried
    return list(box.tools)


told = {name: {dialect: sorted(globals()[name](dialect)) for dialect in DIALECTS} for name in readers}
os.write(wire, json.dumps(told).encode())
os._exit(0)
