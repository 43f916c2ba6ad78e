"""Tools of LangChain, in each of its ways."""

import asyncio
from typing import Annotated, Type

from langchain_core.tools import BaseTool, InjectedToolCallId, StructuredTool, ToolException, tool
from pydantic import BaseModel, Field


@tool
def multiply(a: int, b: int) -> int:
    """Multiply."""
    return a * b


@tool(response_format="content_and_artifact")
def made(n: int):
    """Content and artifact."""
    return "made %d" % n, {"items": list(range(n))}


@tool
def as_object(n: int) -> dict:
    """An object."""
    return {"n": n}


@tool
async def later(n: int) -> str:
    """A coroutine."""
    await asyncio.sleep(0)
    return "later %d" % n


def _fail(text: str):
    raise ToolException("because of " + text)


handled = StructuredTool.from_function(_fail, name="handled", description="Handles its error.", handle_tool_error=True)
unhandled = StructuredTool.from_function(_fail, name="unhandled", description="Does not.")


@tool
def with_id(x: int, tool_call_id: Annotated[str, InjectedToolCallId]) -> str:
    """Gets the id of its call."""
    return "an id" if tool_call_id else "no id"


class Query(BaseModel):
    text: str = Field(description="What to look for.")


class Upper(BaseTool):
    name: str = "upper"
    description: str = "A class."
    args_schema: Type[BaseModel] = Query

    def _run(self, text: str) -> str:
        return text.upper()


from_json = StructuredTool(
    name="from_json", description="Its schema is JSON.", func=lambda z: z + 1,
    args_schema={"type": "object", "properties": {"z": {"type": "integer"}}, "required": ["z"]})
