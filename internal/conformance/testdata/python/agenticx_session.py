"""Answers calls with AgenticX' own session tools: [[name, arguments], …] on standard input."""

import asyncio
import json
import sys
from types import SimpleNamespace

from agenticx.cli import agent_tools
from agenticx.runtime.confirm import AutoApproveConfirmGate
from agenticx.runtime.todo_manager import TodoManager

session = SimpleNamespace(todo_manager=TodoManager(), scratchpad={}, context_files={}, bound_avatar_id="", session_id="s")
gate = AutoApproveConfirmGate()


def answer(name, arguments):
    if name == "memory_append":
        return asyncio.run(agent_tools._tool_memory_append(arguments, confirm_gate=gate, session=session))
    if name == "memory_search":
        return asyncio.run(agent_tools._tool_memory_search(arguments, session))
    if name == "skill_list":
        return agent_tools._tool_skill_list(session)
    return getattr(agent_tools, "_tool_" + name)(arguments, session)


sys.stdout, out = sys.stderr, sys.stdout
calls = json.load(sys.stdin)
declared = {t["function"]["name"]: t["function"]["parameters"] for t in agent_tools.STUDIO_TOOLS}
json.dump({"answers": [answer(*c) for c in calls], "parameters": {name: declared[name] for name in {c[0] for c in calls}}}, out)
