"""A toolbox that is installed while Toolcrib runs. Its constructor is that of the oldest generation."""
from ovos_plugin_manager.templates.agent_tools import AgentTool, ToolArguments, ToolBox, ToolOutput


class Nothing(ToolArguments):
    """No arguments."""


class Said(ToolOutput):
    said: str


class LateToolBox(ToolBox):
    def __init__(self, toolbox_id, bus=None, **kwargs):
        super().__init__(toolbox_id=toolbox_id, bus=bus, **kwargs)

    def discover_tools(self):
        return [AgentTool("late", "Says that it is there.", Nothing, Said, lambda a: {"said": "better late"})]
