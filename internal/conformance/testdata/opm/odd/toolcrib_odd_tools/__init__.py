"""A toolbox that does what toolboxes should not: it fails in every way there is, prints, takes its time."""
import os
import sys
import time
from datetime import datetime
from typing import Any, Dict, List, Optional

from ovos_bus_client.message import Message
from ovos_plugin_manager.templates.agent_tools import AgentTool, ToolArguments, ToolBox, ToolOutput
from pydantic import BaseModel, Field

SKILL_MD_PATH = os.path.join(os.path.dirname(__file__), "SKILL.md")


class Nothing(ToolArguments):
    """No arguments."""


class Point(BaseModel):
    x: float
    y: float = 0.0


class EchoArgs(ToolArguments):
    """Everything that a model may be asked for."""

    text: str
    number: float = 1.5
    count: int = Field(3, ge=0, le=10)
    flag: bool = False
    points: List[Point] = []
    more: Optional[Dict[str, Any]] = None


class EchoOutput(ToolOutput):
    """What came in, as it was understood."""

    text: str
    number: float
    count: int
    flag: bool
    points: List[Point]
    more: Optional[Dict[str, Any]] = None


class Value(ToolOutput):
    """One number."""

    value: float


class When(ToolOutput):
    at: datetime
    note: str = "fixed"


class Other(ToolOutput):
    other: str = "x"


class FailArgs(ToolArguments):
    how: str


class SleepArgs(ToolArguments):
    seconds: float = 0.001


class Slept(ToolOutput):
    pid: int
    slept: float


def fail(args):
    if args.how == "raise":
        raise KeyError("gone")
    if args.how == "exit":
        sys.exit(3)
    if args.how == "list":
        return [1, 2]
    if args.how == "none":
        return None
    if args.how == "other":
        return Other()
    if args.how == "bad":
        return {"value": "no number"}
    if args.how == "extra":
        return {"value": "4", "extra": "dropped"}
    if args.how == "nan":
        return Value(value=float("nan"))
    if args.how == "inf":
        return {"value": float("-inf")}
    print("this goes to the log, and not between the messages")
    os.write(1, b'{"jsonrpc":"2.0","id":1,"result":{}}\n')
    return {"value": 1}


def sleep(args):
    time.sleep(args.seconds)
    return Slept(pid=os.getpid(), slept=args.seconds)


class OddToolBox(ToolBox):
    toolbox_id = "odd-tools"

    def __init__(self, config=None, bus=None, toolbox_id=None):
        self.asked = 0
        super().__init__(toolbox_id="odd-tools", config=config, bus=bus)

    def on_bus(self, args):
        """Uses the bus that the toolbox is bound to: 42 if it works, and 100 for each answer to a discovery
        that speaks for this toolbox there. On a bus of its own nobody does."""
        heard = []

        def hear(message):
            if message.data.get("toolbox_id") == "odd-tools":
                heard.append(message)

        self.bus.on("odd.question", lambda m: self.bus.emit(m.response({"answer": 42})))
        self.bus.on("ovos.persona.tools.discover.response", hear)
        self.bus.emit(Message("ovos.persona.tools.discover"))
        answer = self.bus.wait_for_response(Message("odd.question"), timeout=20)
        value = answer.data["answer"] if answer else -1
        if hasattr(self.bus, "connected_event"):  # it is a real one
            end = time.monotonic() + 20
            while not heard and time.monotonic() < end:
                time.sleep(0.05)
            time.sleep(1)  # a second answer would come now
        return Value(value=value + 100 * len(heard))

    def discover_tools(self):
        self.asked += 1
        tools = [
            AgentTool("echo", "Gives back what came.", EchoArgs, EchoOutput, lambda a: a.model_dump()),
            AgentTool("fail", "Fails as told.", FailArgs, Value, fail),
            AgentTool("sleep", "Sleeps for a while.", SleepArgs, Slept, sleep),
            AgentTool("when", "A fixed time.", Nothing, When, lambda a: When(at=datetime(2026, 1, 2, 3, 4, 5))),
            AgentTool("on_bus", "Uses the bus.", Nothing, Value, self.on_bus),
            AgentTool("setting", "A setting.", Nothing, EchoOutput, lambda a: EchoOutput(
                text=str(self.config.get("text")), number=0, count=0, flag=False, points=[], more=self.config)),
        ]
        if self.asked > 1:
            tools.append(AgentTool("later", "Comes with the second discovery.", Nothing, Value, lambda a: {"value": self.asked}))
        return tools
