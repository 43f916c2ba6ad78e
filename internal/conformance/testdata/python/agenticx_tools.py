import time, asyncio
from agenticx.tools import tool, FunctionTool, BaseTool
from agenticx.core.tool import tool as core_tool
from pydantic import BaseModel, Field
from toolcrib import progress

@tool(name="calculator", timeout=2.0, organization_id="org1")
def add(a: int, b: int = 1) -> int:
    """Add numbers.

    Args:
        a: first
        b: second
    """
    progress(1, 2, "half")
    return a + b

@tool()
def nap(s: float) -> str:
    """Naps."""
    time.sleep(s); return "ok"

@tool()
async def anap(s: float) -> str:
    """Naps async."""
    await asyncio.sleep(s); return "ok"

@tool(timeout=0.2)
async def late(s: float) -> str:
    """Late."""
    await asyncio.sleep(s); return "ok"

class In(BaseModel):
    q: str = Field(description="the query")
class Search(BaseTool):
    """Searches."""
    def __init__(self):
        super().__init__(name="search", args_schema=In)
    def _run(self, q): time.sleep(0.05); return {"q": q}

class Boom(BaseTool):
    """Booms."""
    def _run(self, **kw): raise ValueError("boom")

@core_tool()
def core(x: int, y: str = "a") -> str:
    """Core tool.

    :param x: the x
    """
    return y * x
def helper(): pass
