"""What a call came to, in the shapes that the engines show to a model."""
from typing import Any, Dict, List, Type

from ovos_plugin_manager.templates.agent_tools import ToolOutput
from pydantic import ConfigDict, Field

from toolcrib_ovos.errors import RemoteError, TooSlow, Unreachable
from toolcrib_ovos.models import Output

# How a refusal begins, by its code. The set of codes is closed; what is new is said as it comes.
BEGINNINGS = {
    "denied": "Not allowed",
    "invalid": "The arguments do not fit",
    "not_found": "There is no such tool",
    "timeout": "It took too long",
    "cancelled": "It was stopped",
    "unavailable": "It cannot be done now",
    "conflict": "It was not done again",
    "internal": "Something went wrong",
}


class Text(Output):
    """An answer in words."""

    content: str = Field(description="What the tool said.")

    def __str__(self) -> str:
        return self.content


class Refusal(Output):
    """A call that was refused, or whose tool failed without an answer of its own. It reads as one sentence."""

    error: str = Field(description="Why, in a sentence.")
    code: str = Field(description="What kind: denied, invalid, not_found, timeout, cancelled, unavailable, conflict, internal or failed.")

    def __str__(self) -> str:
        return self.error

    def exception(self) -> Exception:
        """The same for hosts that want an exception."""
        kinds = {"denied": PermissionError, "invalid": ValueError, "timeout": TimeoutError}
        return kinds.get(self.code, RuntimeError)(self.error)


class Unfitting(Output):
    """An answer that does not fit its own contract: it is shown all the same."""

    model_config = ConfigDict(extra="allow")


def _sentence(text: str) -> str:
    text = " ".join(text.split()) or "no reason was given"
    text = text[0].upper() + text[1:]
    return text if text[-1] in ".!?:" else text + "."


def refusal(code: str, message: str) -> Refusal:
    """A refusal as a sentence, without the code in front that Toolcrib writes."""
    message = message.strip()
    if message.startswith(code + ": "):
        message = message[len(code) + 2:]
    beginning = BEGINNINGS.get(code)
    if code == "failed" or beginning is None:
        return Refusal(error=_sentence(message), code=code)
    return Refusal(error=_sentence(f"{beginning}: {message}"), code=code)


def interrupted() -> Refusal:
    """What is said of a call that was begun, and of which nobody knows how far it came."""
    return Refusal(error="Toolcrib ended during the call, and how far the call came is not known. Look before you do it again.", code="conflict")


def failure(error: Exception) -> Refusal:
    """What is said of a call that Toolcrib gave no result for."""
    if isinstance(error, RemoteError):
        said, code = error.message, error.data.get("toolcrib/code")
        if not isinstance(code, str):
            word = said.split(":", 1)[0]
            code = word if word in BEGINNINGS else "internal"
        return refusal(code, said)
    if isinstance(error, TooSlow):
        return Refusal(error=_sentence(str(error)), code="timeout")
    if isinstance(error, Unreachable):
        return Refusal(error=_sentence(str(error)), code="unavailable")
    return Refusal(error=_sentence(f"Something went wrong: {error}"), code="internal")


def _block(block: Any) -> str:
    if not isinstance(block, dict):
        return ""
    kind = block.get("type")
    if kind == "text":
        return str(block.get("text", ""))
    if kind == "resource_link":
        return f"[link to {block.get('uri', '')}]"
    if kind == "resource":
        inner = block.get("resource") if isinstance(block.get("resource"), dict) else {}
        return str(inner["text"]) if isinstance(inner.get("text"), str) else f"[{inner.get('mimeType', 'a file')}, not shown]"
    return f"[{kind}, {block.get('mimeType', 'unknown type')}, not shown]"


def _words(blocks: Any) -> str:
    return "\n".join(_block(block) for block in blocks) if isinstance(blocks, list) else ""


def answer(model: Type[ToolOutput], result: Dict[str, Any]) -> ToolOutput:
    """The result of a call, as the tool's output model has it."""
    meta = result.get("_meta") if isinstance(result.get("_meta"), dict) else {}
    code = meta.get("toolcrib/code")
    value = result.get("structuredContent")
    if isinstance(value, dict) and not isinstance(code, str):
        if issubclass(model, Text):
            return Text(content=_words(result.get("content")) or str(value))
        try:
            return model.model_validate(value)
        except ValueError:
            return Unfitting(**{str(key): item for key, item in value.items()})
    text = _words(result.get("content"))
    if isinstance(code, str):
        return refusal(code, text)
    if result.get("isError"):
        return refusal("failed", text)
    return Text(content=text)


def describe(value: List[Any]) -> str:
    """A list of names for a log."""
    return ", ".join(sorted(map(str, value))) or "none"
