from ovos_plugin_manager.templates.agent_tools import ToolBox


class MadeToolBox(ToolBox):
    def __init__(self, config=None, bus=None):
        if not (config or {}).get("key"):
            raise ValueError("a key is needed")
        super().__init__(toolbox_id="broken-made", config=config, bus=bus)

    def discover_tools(self):
        return []


class LostToolBox(ToolBox):
    def __init__(self, config=None, bus=None):
        super().__init__(toolbox_id="broken-discovery", config=config, bus=bus)

    def discover_tools(self):
        raise ConnectionError("the server of the tools is away")
