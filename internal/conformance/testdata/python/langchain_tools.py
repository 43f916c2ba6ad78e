from langchain_core.tools import tool, StructuredTool, BaseTool, ToolException, InjectedToolCallId
from typing import Annotated, Type
from pydantic import BaseModel, Field
import asyncio
@tool
def mul(a: int, b: int) -> int:
    """Multiply."""
    return a*b
@tool(response_format="content_and_artifact")
def art(n: int):
    """Artifact."""
    return "made %d" % n, {"items": list(range(n))}
@tool
def obj(n: int) -> dict:
    """Object."""
    return {"n": n}
@tool
async def aio(n: int) -> str:
    """Async."""
    await asyncio.sleep(0.01); return "a%d" % n
def f(x: str): raise ToolException("handled " + x)
handled = StructuredTool.from_function(f, name="handled", description="h", handle_tool_error=True)
unhandled = StructuredTool.from_function(f, name="unhandled", description="h")
@tool
def withid(x: int, tool_call_id: Annotated[str, InjectedToolCallId]) -> str:
    """With id."""
    return tool_call_id
class In(BaseModel):
    q: str = Field(description="query")
class Cls(BaseTool):
    name: str = "cls"
    description: str = "A class."
    args_schema: Type[BaseModel] = In
    def _run(self, q: str) -> str: return q.upper()
raw = StructuredTool(name="raw", description="dict schema", args_schema={"type":"object","properties":{"z":{"type":"integer"}},"required":["z"]}, func=lambda z: z+1)
