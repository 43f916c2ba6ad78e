"""Tools of a FastMCP server, and one of no server."""

import asyncio

from fastmcp import Context, FastMCP
from fastmcp.tools import tool
from pydantic import BaseModel

mcp = FastMCP("demo")


class Point(BaseModel):
    x: int


@mcp.tool
def add(a: int, b: int) -> int:
    """Adds."""
    return a + b


@mcp.tool
async def steps(n: int, ctx: Context) -> str:
    """Reports progress."""
    for at in range(n):
        await ctx.report_progress(at + 1, n, "a step")
    await ctx.info("for the log")
    return "done"


@mcp.tool
def right(p: Point) -> Point:
    """A model in and out."""
    return Point(x=p.x + 1)


@mcp.tool
def fail() -> str:
    """Fails."""
    raise ValueError("no luck")


@mcp.tool
async def sleep(seconds: float) -> str:
    """Sleeps."""
    await asyncio.sleep(seconds)
    return "rested"


@tool
def loose(a: int) -> int:
    """Belongs to no server."""
    return a


if __name__ == "__main__":
    mcp.run()
