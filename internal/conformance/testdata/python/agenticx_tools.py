"""Tools of AgenticX, in each of its ways."""

import asyncio
import time

from agenticx.core.tool import tool as core_tool
from agenticx.tools import BaseTool, FunctionTool, tool
from pydantic import BaseModel, Field


@tool(name="calculator", timeout=20.0, organization_id="acme")
def add(a: int, b: int = 1) -> int:
    """Add numbers.

    Args:
        a: The first.
        b: The second.
    """
    return a + b


@tool()
def nap(seconds: float) -> str:
    """Sleeps in a thread."""
    time.sleep(seconds)
    return "rested"


@tool()
async def later(seconds: float) -> dict:
    """Sleeps on the event loop."""
    await asyncio.sleep(seconds)
    return {"slept": seconds}


@tool(timeout=0.2)
async def late() -> str:
    """Takes too long."""
    await asyncio.sleep(60)
    return "never"


def _shout(text: str) -> str:
    """Shouts."""
    return text.upper()


shout = FunctionTool(_shout, name="shout")


class Query(BaseModel):
    text: str = Field(description="What to look for.", min_length=2)
    limit: int = 5


class Search(BaseTool):
    """Searches."""

    def __init__(self):
        super().__init__(name="search", args_schema=Query)

    def _run(self, text, limit):
        time.sleep(0.01)
        return [text] * limit


class Broken(BaseTool):
    """Fails."""

    def _run(self, **arguments):
        raise ValueError("no luck")


@core_tool()
def repeat(times: int, text: str = "a") -> str:
    """Repeats a text.

    :param times: How often.
    """
    return text * times


def helper():
    """Not a tool: the file has tools of a library."""
