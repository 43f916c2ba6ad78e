"""The settings of the toolbox, as they stand in a persona's file."""
import os
import shlex
from dataclasses import dataclass, field
from typing import Any, Dict, List, Optional
from urllib.parse import urlsplit

DIALECTS = ("native", "ovos", "agenticx", "owl")
LOOPBACK = ("127.0.0.1", "::1", "localhost")


@dataclass(frozen=True)
class Settings:
    """Where Toolcrib is and what is taken from it. What is not set is as it is below."""

    command: List[str] = field(default_factory=lambda: ["toolcrib"])
    url: str = ""
    token: str = ""
    agent: str = ""
    dialect: str = "ovos"
    boxes: List[str] = field(default_factory=list)
    tools: List[str] = field(default_factory=list)
    env: Dict[str, str] = field(default_factory=dict)
    timeout: float = 60.0
    start_timeout: float = 20.0

    def argv(self) -> List[str]:
        """The command line of the child."""
        args = self.command + ["mcp", "--dialect", self.dialect]
        return args + ["--agent", self.agent] if self.agent else args


def _words(name: str, value: Any) -> List[str]:
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, (list, tuple)) or not all(isinstance(word, str) and word for word in value):
        raise ValueError(f"toolcrib: {name} must be a name or a list of names")
    return list(value)


def _seconds(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value <= 86400:
        raise ValueError(f"toolcrib: {name} must be a number of seconds greater than 0")
    return float(value)


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"toolcrib: {name} must be a text")
    return value


def _address(url: str, token: str) -> str:
    """An address that can be asked, and to which a token may be shown."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.fragment:
        raise ValueError(f"toolcrib: url must be an address such as http://127.0.0.1:7717/mcp, and {url!r} is not")
    if token and parts.scheme == "http" and parts.hostname not in LOOPBACK:
        raise ValueError(f"toolcrib: the token would go to {parts.hostname} where others can read it; use https")
    return url if parts.path not in ("", "/") else f"{parts.scheme}://{parts.netloc}/mcp"


def read_settings(config: Optional[Dict[str, Any]]) -> Settings:
    """Reads the settings; a ValueError says which one is wrong.

    ``url`` has Toolcrib asked over HTTP; otherwise it is started as ``command``. Keys that mean nothing here are refused, so
    that a mistyped one cannot be taken for a setting.
    """
    given = {key: value for key, value in (config or {}).items() if value is not None}
    known = set(Settings.__dataclass_fields__) | {"box", "enabled"}
    unknown = sorted(set(given) - known)
    if unknown:
        raise ValueError(f"toolcrib: there is no setting {unknown[0]!r}; there are {', '.join(sorted(known - {'enabled'}))}")
    values: Dict[str, Any] = {}
    if "command" in given:
        command = given["command"]
        values["command"] = shlex.split(command) if isinstance(command, str) else _words("command", command)
        if not values["command"]:
            raise ValueError("toolcrib: command is empty; leave it out for the program toolcrib on the search path")
    for name in ("url", "token", "agent", "dialect"):
        if name in given:
            values[name] = _text(name, given[name])
    if "box" in given or "boxes" in given:
        values["boxes"] = _words("boxes", given.get("boxes", [])) + _words("box", given.get("box", []))
    if "tools" in given:
        values["tools"] = _words("tools", given["tools"])
    for name in ("timeout", "start_timeout"):
        if name in given:
            values[name] = _seconds(name, given[name])
    if "env" in given:
        env = given["env"]
        if not isinstance(env, dict) or not all(isinstance(word, str) for pair in env.items() for word in pair):
            raise ValueError("toolcrib: env must be names and texts")
        values["env"] = dict(env)
    if values.get("dialect", "ovos") not in DIALECTS:
        raise ValueError(f"toolcrib: dialect must be one of {', '.join(DIALECTS)}")
    if values.get("url"):
        wrong = sorted({"command", "agent", "dialect", "env"} & set(given))
        if wrong:
            raise ValueError(f"toolcrib: {wrong[0]} has no effect with url: the token says it (toolcrib token new --help)")
        values.setdefault("token", os.environ.get("TOOLCRIB_TOKEN", ""))
        values["url"] = _address(values["url"], values["token"])
    elif values.get("token"):
        raise ValueError("toolcrib: token has no effect without url")
    return Settings(**values)
