"""A host of one toolbox on a message bus, for the benchmark beside it.

    ovos_host.py HOST PORT

Where ovos_bus_client can be imported, it is a host as voice assistants have
them. Where not, it is a plain peer: a websocket on one thread, with nothing but
the standard library, which does less than a genuine host does for each call.
It says on standard output which of the two it is.
"""
import ast
import base64
import json
import operator
import os
import socket
import sys

TOPIC = "ovos.persona.tools.python-math-tools.call"
OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv, ast.Pow: operator.pow}


def value(node):
    if isinstance(node, ast.Constant):
        return float(node.value)
    return OPERATORS[type(node.op)](value(node.left), value(node.right))


def evaluate(expression):
    result = value(ast.parse(expression, mode="eval").body)
    return {"result": result, "expression": expression, "error": None}


def answer(data):
    return {"result": evaluate(data["kwargs"]["expression"]), "toolbox_id": "python-math-tools"}


def genuine(host, port):
    from ovos_bus_client import MessageBusClient
    bus = MessageBusClient(host=host, port=port, route="/core", ssl=False)
    bus.on(TOPIC, lambda message: bus.emit(message.response(answer(message.data))))
    bus.run_in_thread()
    bus.connected_event.wait()
    print("genuine ovos-bus-client", flush=True)
    sys.stdin.read()


def exactly(stream, n):
    data = stream.read(n)
    if len(data) != n:
        sys.exit(0)
    return data


def plain(host, port):
    conn = socket.create_connection((host, port))
    conn.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    key = base64.b64encode(os.urandom(16)).decode()
    conn.sendall((f"GET /core HTTP/1.1\r\nHost: {host}:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                  f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n").encode())
    stream = conn.makefile("rb", buffering=1 << 16)
    while stream.readline() not in (b"\r\n", b""):
        pass
    print("plain peer of the standard library", flush=True)
    while True:
        head = exactly(stream, 2)
        size = head[1] & 127
        if size == 126:
            size = int.from_bytes(exactly(stream, 2), "big")
        elif size == 127:
            size = int.from_bytes(exactly(stream, 8), "big")
        payload = exactly(stream, size)
        if head[0] & 15 == 9:
            conn.sendall(b"\x8a" + bytes([0x80 | len(payload)]) + bytes(4) + payload)
        if head[0] & 15 != 1:
            continue
        message = json.loads(payload)
        if message["type"] != TOPIC:
            continue
        reply = json.dumps({"type": TOPIC + ".response", "data": answer(message["data"]), "context": message["context"]}).encode()
        size = len(reply)
        length = bytes([0x80 | size]) if size < 126 else bytes([0x80 | 126]) + size.to_bytes(2, "big")
        conn.sendall(b"\x81" + length + bytes(4) + reply)  # a mask of zeros


if __name__ == "__main__":
    try:
        import ovos_bus_client
    except ImportError:
        plain(sys.argv[1], int(sys.argv[2]))
    else:
        genuine(sys.argv[1], int(sys.argv[2]))
