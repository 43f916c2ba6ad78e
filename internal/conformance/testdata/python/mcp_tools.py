"""Tools of a server of the mcp package itself."""

from mcp.server.mcpserver import Context, MCPServer

server = MCPServer("measures")


@server.tool()
def miles(km: float) -> float:
    """Kilometres in miles."""
    return km / 1.609344


@server.tool()
async def count(to: int, ctx: Context) -> str:
    """Counts, with progress."""
    for at in range(to):
        await ctx.report_progress(at + 1, to)
    return "counted"


@server.tool()
def fail() -> str:
    """Fails."""
    raise ValueError("no luck")
