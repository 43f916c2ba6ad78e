from fastmcp import FastMCP, Context
from fastmcp.tools import tool
from pydantic import BaseModel
import asyncio, time
mcp = FastMCP("demo")
class P(BaseModel):
    x: int
@mcp.tool
def add(a: int, b: int) -> int:
    """Adds."""
    return a + b
@mcp.tool
async def prog(n: int, ctx: Context) -> str:
    """Progress."""
    for i in range(n):
        await ctx.report_progress(i+1, n, "step")
    await ctx.info("hello")
    return "done"
@mcp.tool
def model(p: P) -> P: return P(x=p.x+1)
@mcp.tool
def boom(): raise ValueError("fm boom")
@mcp.tool
async def slow(s: float) -> str:
    await asyncio.sleep(s); return "x"
@tool
def loose(a: int) -> int:
    """Loose."""
    return a
if __name__ == "__main__":
    mcp.run()
