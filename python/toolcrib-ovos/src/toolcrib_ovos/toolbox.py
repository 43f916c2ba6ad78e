"""The toolbox ``toolcrib``: every tool that Toolcrib shows, for any persona."""
import atexit
import fnmatch
import json
import os
import threading
import uuid
from typing import Any, Dict, List, Optional, Tuple, Union

from ovos_plugin_manager.templates.agent_tools import AgentTool, ToolArguments, ToolBox, ToolOutput
from ovos_utils.log import LOG

from toolcrib_ovos import answers
from toolcrib_ovos.child import Child
from toolcrib_ovos.endpoint import Endpoint
from toolcrib_ovos.errors import Lost, RemoteError, Unreachable
from toolcrib_ovos.models import Arguments, arguments_model, output_model
from toolcrib_ovos.settings import Settings, read_settings

CLIENT = {"name": "toolcrib-ovos", "version": "0.1.0"}
PAGES = 1000  # pages of a list that are read


class _Shared:
    """One connection for all toolboxes of this process that want the same."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.open: Dict[Tuple[Any, ...], Union[Child, Endpoint]] = {}
        atexit.register(self.close)

    def connection(self, s: Settings) -> Union[Child, Endpoint]:
        # A process that was forked begins anew: the pipes are its parent's.
        key = (os.getpid(), s.url, s.token) if s.url else (os.getpid(), tuple(s.argv()), tuple(sorted(s.env.items())))
        with self.lock:
            if key not in self.open:
                self.open[key] = Endpoint(s.url, s.token, CLIENT) if s.url else Child(s.argv(), s.env, s.start_timeout, CLIENT)
            return self.open[key]

    def close(self) -> None:
        with self.lock:
            mine = [value for key, value in self.open.items() if key[0] == os.getpid()]
            self.open.clear()
        for connection in mine:
            connection.close()


_shared = _Shared()


class ToolcribToolBox(ToolBox):
    """Toolcrib's tools under their contracts.

    A call that Toolcrib refuses, or that cannot reach it, is answered with a sentence and does not raise: engines of different
    versions lose the reason of an exception, or take the tool for missing. On the bus it is an error, as the contract there has it.
    """

    def __init__(self, config: Optional[Dict[str, Any]] = None, bus: Any = None, toolbox_id: str = "toolcrib") -> None:
        self.settings = read_settings(config)
        self.tools: Dict[str, AgentTool] = {}
        self._seen: Any = None  # which version of the tools was read
        self._reading = threading.Lock()
        self._bus_call = threading.local()
        super().__init__(toolbox_id=toolbox_id, config=config, bus=bus)

    # What there is.

    def _connection(self) -> Union[Child, Endpoint]:
        return _shared.connection(self.settings)

    def _request(self, method: str, params: Dict[str, Any]) -> Dict[str, Any]:
        return self._connection().request(method, params, self.settings.timeout)

    def _list(self) -> List[Dict[str, Any]]:
        found, cursor = [], None
        for _ in range(PAGES):
            page = self._request("tools/list", {"cursor": cursor} if cursor else {})
            tools = page.get("tools")
            found.extend(tool for tool in (tools if isinstance(tools, list) else []) if isinstance(tool, dict))
            cursor = page.get("nextCursor")
            if not cursor:
                break
        return found

    def _wanted(self, tool: Dict[str, Any]) -> bool:
        name = tool.get("name")
        if not isinstance(name, str) or not name:
            return False
        if self.settings.tools and not any(fnmatch.fnmatchcase(name, pattern) for pattern in self.settings.tools):
            return False
        meta = tool.get("_meta") if isinstance(tool.get("_meta"), dict) else {}
        return not self.settings.boxes or meta.get("toolcrib/box") in self.settings.boxes

    def _agent_tool(self, tool: Dict[str, Any]) -> AgentTool:
        name = tool["name"]
        output = output_model(name, tool["outputSchema"]) if isinstance(tool.get("outputSchema"), dict) else answers.Text

        def call(arguments: ToolArguments) -> ToolOutput:
            return self._call(name, output, arguments.given() if isinstance(arguments, Arguments) else arguments.model_dump(exclude_unset=True))
        description = tool.get("description")
        return AgentTool(name=name, description=description if isinstance(description, str) else "",
                         argument_schema=arguments_model(name, tool.get("inputSchema")), output_schema=output, tool_call=call)

    def discover_tools(self) -> List[AgentTool]:
        """Asks Toolcrib for its tools. If it cannot be asked, those that were there before stay."""
        with self._reading:
            try:
                found = self._list()
                self._seen = self._connection().version
            except (Unreachable, RemoteError) as error:
                self._seen = None
                LOG.warning(f"toolcrib: {error}")
                return list(self.tools.values())
        wanted = [tool for tool in found if self._wanted(tool)]
        if found and not wanted:
            LOG.warning(f"toolcrib: none of {len(found)} tools is one of tools={self.settings.tools} boxes={self.settings.boxes}; "
                        f"there are the boxes {answers.describe({(tool.get('_meta') or {}).get('toolcrib/box') for tool in found})}")
        return [self._agent_tool(tool) for tool in wanted]

    def _renew(self) -> None:
        """Reads the tools again if they may be others: engines themselves ask once."""
        if self._seen is None or self._seen != self._connection().version:
            self.refresh_tools()

    @property
    def tool_json_list(self) -> List[Dict[str, Any]]:
        self._renew()
        return super().tool_json_list

    # Calls.

    def call_tool(self, name: str, tool_kwargs: Union[ToolArguments, Dict[str, Any]]) -> ToolOutput:
        """Has Toolcrib make a call. Arguments go as they are: it judges them by the contract and names what does not fit."""
        tool = self.get_tool(name)
        if tool is None:
            raise ValueError(f"Unknown tool '{name}' for ToolBox '{self.toolbox_id}'.")
        if isinstance(tool_kwargs, ToolArguments):
            result = tool.tool_call(tool_kwargs)
        elif isinstance(tool_kwargs, dict):
            result = self._call(name, tool.output_schema, tool_kwargs)
        else:
            result = answers.refusal("invalid", "give an object with the arguments by their names")
        if isinstance(result, answers.Refusal) and getattr(self._bus_call, "on", False):
            raise result.exception()
        return result

    def handle_call(self, message: Any) -> None:
        """A call from the bus, where what is refused is an error."""
        self._bus_call.on = True
        try:
            super().handle_call(message)
        finally:
            self._bus_call.on = False

    def _call(self, name: str, output: Any, arguments: Dict[str, Any]) -> ToolOutput:
        # The name of the call lets it be asked again after a loss: what was done is never done twice.
        params = {"name": name, "arguments": arguments, "_meta": {"toolcrib/callId": str(uuid.uuid4())}}
        try:
            json.dumps(arguments, allow_nan=False)
        except (TypeError, ValueError, RecursionError) as error:
            return answers.refusal("invalid", f"they cannot be written as JSON: {error}")
        try:
            try:
                return answers.answer(output, self._request("tools/call", params))
            except Lost as error:
                LOG.warning(f"toolcrib: {error} The call of {name} is asked about again.")
                again = answers.answer(output, self._request("tools/call", params))
                return answers.interrupted() if getattr(again, "code", "") == "conflict" and isinstance(again, answers.Refusal) else again
        except Exception as error:  # noqa: BLE001 - an engine must not end by it
            if not isinstance(error, (Unreachable, RemoteError)):
                LOG.exception(f"toolcrib: the call of {name} failed")
            return answers.failure(error)
