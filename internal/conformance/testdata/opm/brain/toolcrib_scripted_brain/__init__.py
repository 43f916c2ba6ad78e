"""A brain for tests: it says what stands in its settings, turn by turn, and remembers what it was shown."""
from ovos_plugin_manager.templates.agent_tools import ToolBox
from ovos_plugin_manager.templates.agents import AgentMessage, ChatEngine, MessageRole, ToolCall

heard = []  # of each time it was asked: the last message
offered = []  # the names of the tools, in OpenAI's form


class ScriptedBrain(ChatEngine):
    def __init__(self, config=None):
        super().__init__(config=config)
        self.supports_tools = self.config["native"]
        self.turns = iter(self.config["turns"])

    def continue_chat(self, messages, session_id="default", lang=None, units=None, tools=None):
        heard.append(messages[-1].content)
        offered.append([tool["function"]["name"] for tool in ToolBox.normalize_tools(tools)])
        turn = next(self.turns)
        if isinstance(turn, str):
            return AgentMessage(MessageRole.ASSISTANT, turn if self.supports_tools else f"Thought: done\nFINAL_ANSWER: {turn}")
        name, arguments = turn
        if self.supports_tools:
            return AgentMessage(MessageRole.ASSISTANT, "", tool_calls=[ToolCall(f"c{len(heard)}", name, arguments)])
        import json
        return AgentMessage(MessageRole.ASSISTANT, f"Thought: I need it\nAction: {name}\nAction Input: {json.dumps(arguments)}")
