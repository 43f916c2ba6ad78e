"""A server whose definitions have forms that not every client reads."""
import json
import sys

TOOLS = [{"name": "listed", "description": "Has lists of types.", "inputSchema": {
    "type": "object", "required": ["a"], "properties": {
        "a": {"type": ["string", "null"], "minLength": 1}, "b": {"type": ["string", "integer", "boolean"]}, "c": True,
        "d": {"type": ["null", "object"], "properties": {"e": {"type": ["number"]}}, "additionalProperties": True},
        "f": {"type": ["array", "null"], "items": {"type": ["integer", "null"]}}}},
    "outputSchema": {"type": "object", "properties": {"g": {"type": ["null", "number"]}, "h": True}}}]
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    result = {"initialize": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "listed", "version": "1"}},
              "tools/list": {"tools": TOOLS}}.get(message["method"], {"content": [{"type": "text", "text": "{}"}], "structuredContent": {"g": None}})
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
