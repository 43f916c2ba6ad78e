"""An MCP server behind a toolbox: python -m toolcrib_odd_tools.server."""
from fastmcp import FastMCP

server = FastMCP("odd")


@server.tool
def shout(text: str, times: int = 1) -> str:
    """Says it louder."""
    if times < 1:
        raise ValueError("not even once")
    return " ".join([text.upper()] * times)


if __name__ == "__main__":
    server.run(show_banner=False)
