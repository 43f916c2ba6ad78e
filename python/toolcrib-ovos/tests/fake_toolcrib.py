"""A stand-in for ``toolcrib mcp``: it lists three tools and does what their arguments say."""
import json
import os
import sys
import time

TOOLS = [
    {"name": "echo", "description": "Says it again.", "_meta": {"toolcrib/box": "talk"},
     "inputSchema": {"type": "object", "properties": {"text": {"type": "string", "maxLength": 10}}, "required": ["text"], "additionalProperties": False},
     "outputSchema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}},
    {"name": "act", "description": "Does what it is told.", "_meta": {"toolcrib/box": "odd"},
     "inputSchema": {"type": "object", "properties": {"do": {"type": "string"}}}},
    {"name": "plain", "description": "Answers in words.", "inputSchema": {"type": "object"}},
]


def say(message):
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def act(number, params, notes):
    """What the call asks for; None: no answer."""
    do = (params.get("arguments") or {}).get("do", "")
    if do == "die":
        os._exit(7)
    if do == "die once":
        seen = os.path.join(notes, params["_meta"]["toolcrib/callId"])
        if not os.path.exists(seen):
            open(seen, "w").close()
            os._exit(7)
        return {"content": [{"type": "text", "text": "done the second time"}]}
    if do == "die in the middle":
        seen = os.path.join(notes, params["_meta"]["toolcrib/callId"])
        if not os.path.exists(seen):
            open(seen, "w").close()
            os._exit(7)
        return {"content": [{"type": "text", "text": "conflict: the call ID x was interrupted"}], "isError": True, "_meta": {"toolcrib/code": "conflict"}}
    if do == "sleep":
        return None
    if do == "deny":
        return {"content": [{"type": "text", "text": "denied: the rules say no"}], "isError": True, "_meta": {"toolcrib/code": "denied"}}
    if do == "fail":
        return {"content": [{"type": "text", "text": "the disk is full"}], "isError": True}
    if do == "deep":
        sys.stdout.write('{"jsonrpc":"2.0","id":%d,"result":{"structuredContent":{"a":%s}}}\n' % (number, "[" * 9000 + "]" * 9000))
        sys.stdout.flush()
        return None
    if do == "read no more":
        time.sleep(60)
    if do == "noise":
        sys.stdout.write("this is no JSON\n")
        say({"jsonrpc": "2.0", "id": "q1", "method": "ping"})
        say({"jsonrpc": "2.0", "id": "q2", "method": "roots/list"})
        return {"content": [{"type": "image", "mimeType": "image/png", "data": "AA=="}, {"type": "text", "text": "a picture"}]}
    if do == "more":
        TOOLS.append({**TOOLS[2], "name": "new"})
        say({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
    return {"content": [{"type": "text", "text": "ok"}]}


def main():
    notes = os.environ["NOTES"]
    with open(os.path.join(notes, "starts"), "a") as file:
        file.write(" ".join(sys.argv[1:]) + "\n")
    if os.environ.get("BROKEN"):
        sys.stderr.write("toolcrib: the configuration has a mistake in line 3\n")
        sys.exit(1)
    if os.environ.get("MUTE"):
        time.sleep(60)
    for line in sys.stdin:
        message = json.loads(line)
        number, method, params = message.get("id"), message.get("method"), message.get("params") or {}
        with open(os.path.join(notes, "heard"), "a") as file:
            file.write(json.dumps(message) + "\n")
        if number is None or method is None:
            continue
        if method == "initialize":
            result = {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": {"name": "fake", "version": "0"}}
        elif method == "tools/list":  # in pages
            at = int(params.get("cursor") or 0)
            result = {"tools": TOOLS[at:at + 2]}
            if at + 2 < len(TOOLS):
                result["nextCursor"] = str(at + 2)
        elif params.get("name") == "echo":
            text = (params.get("arguments") or {}).get("text")
            result = {"content": [], "structuredContent": {"text": text, "length": len(text)}}
        elif params.get("name") == "act":
            result = act(number, params, notes)
        else:
            say({"jsonrpc": "2.0", "id": number, "error": {"code": -32602, "message": f"not_found: {params.get('name')}: there is no such tool"}})
            continue
        if result is not None:
            say({"jsonrpc": "2.0", "id": number, "result": result})


main()
