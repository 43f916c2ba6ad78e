"""The toolbox of the framework's documentation: it reads and writes files.

Its constructor takes a bus and nothing else, and its id is not the name of its entry point.
"""
import os
from typing import List, Optional

from ovos_plugin_manager.templates.agent_tools import AgentTool, ToolArguments, ToolBox, ToolOutput
from pydantic import Field


class FileReadArguments(ToolArguments):
    """What to read."""

    path: str = Field(description="The absolute path of the file.")
    encoding: str = Field(default="utf-8", description="The encoding of its text.")


class FileReadOutput(ToolOutput):
    """What was read."""

    content: str = Field(description="The text of the file.")
    file_size_bytes: int = Field(description="How long it is, in bytes.")
    success: bool = Field(default=True)


class FileWriteArguments(ToolArguments):
    """What to write."""

    path: str = Field(description="The absolute path of the file.")
    content: str = Field(description="The text.")
    append: bool = Field(default=False, description="True: it is added to what is there.")


class FileWriteOutput(ToolOutput):
    """What was written."""

    path: str = Field(description="The path of the file.")
    bytes_written: int = Field(description="How much was written, in bytes.")
    success: bool = Field(default=True)
    error: Optional[str] = None


def read_file(args: FileReadArguments):
    if not os.path.exists(args.path):
        return {"content": "", "file_size_bytes": 0, "success": False}
    with open(args.path, encoding=args.encoding) as file:
        content = file.read()
    return {"content": content, "file_size_bytes": len(content.encode(args.encoding))}


def write_file(args: FileWriteArguments):
    try:
        with open(args.path, "a" if args.append else "w", encoding="utf-8") as file:
            file.write(args.content)
    except OSError as error:
        return FileWriteOutput(path=args.path, bytes_written=0, success=False, error=str(error))
    return FileWriteOutput(path=args.path, bytes_written=len(args.content.encode("utf-8")))


class FileToolBox(ToolBox):
    """Reads and writes files."""

    def __init__(self, bus=None):
        super().__init__(toolbox_id="ovos_file_tools", bus=bus)

    def discover_tools(self) -> List[AgentTool]:
        return [
            AgentTool(
                name="read_file",
                description="Reads a text file.",
                argument_schema=FileReadArguments,
                output_schema=FileReadOutput,
                tool_call=read_file,
            ),
            AgentTool(
                name="write_file",
                description="Writes a text file, or adds to it.",
                argument_schema=FileWriteArguments,
                output_schema=FileWriteOutput,
                tool_call=write_file,
            ),
        ]
