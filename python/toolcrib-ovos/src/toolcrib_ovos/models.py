"""Pydantic models of Toolcrib's contracts.

What a model *shows* (``model_json_schema``) is the schema that Toolcrib wrote, word for word: names, types, defaults, bounds and
descriptions reach the brain as they are. What it *checks* is made of the same schema: nested models, enumerations, bounds, and
no other names where a contract is closed. Where a schema says more than pydantic has words for, a model takes more than the schema:
Toolcrib judges every call itself.
"""
import copy
import keyword
import re
from typing import Annotated, Any, ClassVar, Dict, List, Literal, Optional, Tuple, Type, Union

from ovos_plugin_manager.templates.agent_tools import ToolArguments, ToolOutput
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, create_model

DEEPEST = 40  # levels of a schema; below them everything is taken
LARGEST = 500  # types of a schema, each time that a reference leads to it; beyond them everything is taken


class _Contract(BaseModel):
    """What models of contracts have in common."""

    contract: ClassVar[Optional[Dict[str, Any]]] = None  # the schema that is shown

    @classmethod
    def model_json_schema(cls, *args: Any, **kwargs: Any) -> Dict[str, Any]:
        return super().model_json_schema(*args, **kwargs) if cls.contract is None else copy.deepcopy(cls.contract)

    def __repr_args__(self):
        # What was given, under the names of the contract.
        names = {key: info.alias or key for key, info in type(self).model_fields.items()}
        for key, value in super().__repr_args__():
            if key not in names or key in self.model_fields_set:
                yield names.get(key, key), value

    def given(self) -> Dict[str, Any]:
        """The values that were given, under the names of the contract: Toolcrib itself fills in defaults."""
        return self.model_dump(by_alias=True, exclude_unset=True)


class Arguments(_Contract, ToolArguments):
    """The arguments of a tool of Toolcrib."""


class Output(_Contract, ToolOutput):
    """What a tool of Toolcrib answers."""


def _scalar(value: Any) -> Tuple[str, Any]:
    """Tells 1, 1.0 and true apart as JSON does: true is no number, and 1.0 is 1."""
    if isinstance(value, bool):
        return "boolean", value
    if isinstance(value, (int, float)):
        return "number", value
    return type(value).__name__, repr(value)


def _one_of(values: List[Any]) -> Any:
    if values and all(isinstance(value, str) for value in values):
        return Literal[tuple(values)]
    allowed = {_scalar(value) for value in values}

    def check(value: Any) -> Any:
        if _scalar(value) not in allowed:
            raise ValueError("must be one of " + ", ".join(map(repr, values)))
        return value
    return Annotated[Any, AfterValidator(check)]


def _matching(pattern: str) -> Any:
    """A check for a pattern. It is pydantic's own, whose time grows with the text and no more: patterns come from anybody's server."""
    note = Field(pattern=pattern)
    try:
        TypeAdapter(Annotated[str, note])
    except Exception:  # noqa: BLE001 - a pattern of another kind: Toolcrib reads it
        return None
    return note


def _not_a_number(value: Any) -> Any:
    return float("nan") if value is None else value


def _bounds(schema: Dict[str, Any], words: Dict[str, str]) -> List[Any]:
    """The bounds of a schema, in pydantic's words."""
    found = {ours: schema[theirs] for theirs, ours in words.items()
             if isinstance(schema.get(theirs), (int, float)) and not isinstance(schema[theirs], bool)}
    return [Field(**found)] if found else []


NUMBER = {"minimum": "ge", "maximum": "le", "exclusiveMinimum": "gt", "exclusiveMaximum": "lt", "multipleOf": "multiple_of"}
STRING = {"minLength": "min_length", "maxLength": "max_length"}
ARRAY = {"minItems": "min_length", "maxItems": "max_length"}


class _Maker:
    """Makes the types of one contract."""

    def __init__(self, root: Dict[str, Any], base: Type[_Contract]) -> None:
        self.root, self.base = root, base
        self.output = issubclass(base, ToolOutput)
        self.made = 0  # types: a schema that names itself twice would be one without end

    def resolve(self, schema: Any) -> Any:
        """Follows references inside the document; what leads nowhere or in circles takes everything."""
        for _ in range(20):
            ref = schema.get("$ref") if isinstance(schema, dict) else None
            if ref is None:
                return schema
            if not isinstance(ref, str) or not ref.startswith("#"):
                return {}
            schema = self.root
            for word in [part.replace("~1", "/").replace("~0", "~") for part in ref[1:].split("/") if part]:
                schema = schema.get(word) if isinstance(schema, dict) else None
        return {}

    def type(self, schema: Any, name: str, depth: int) -> Any:
        schema = self.resolve(schema)
        self.made += 1
        if not isinstance(schema, dict) or depth > DEEPEST or self.made > LARGEST:
            return Any
        if "const" in schema:
            return _one_of([schema["const"]])
        if isinstance(schema.get("enum"), list) and schema["enum"]:
            return _one_of(schema["enum"])
        for word in ("anyOf", "oneOf"):
            options = schema.get(word)
            if isinstance(options, list) and options:
                return Union[tuple(self.type(option, f"{name}_{i}", depth + 1) for i, option in enumerate(options))]
        kind = schema.get("type")
        if isinstance(kind, list) and kind:
            return Union[tuple(self.type({**schema, "type": one}, name, depth + 1) for one in kind)]
        return self.plain(kind, schema, name, depth)

    def plain(self, kind: Any, schema: Dict[str, Any], name: str, depth: int) -> Any:
        """A value of one type."""
        notes: List[Any] = []
        if kind == "null":
            return None
        if kind == "boolean":
            return bool
        if kind == "integer":
            is_type, notes = int, _bounds(schema, NUMBER)
        elif kind == "number":
            # JSON has no word for what is not a number: null stands for it in answers.
            is_type, notes = (float, [BeforeValidator(_not_a_number)]) if self.output else (Union[int, float], [])
            notes = notes + _bounds(schema, NUMBER)
        elif kind == "string":
            is_type, notes = str, _bounds(schema, STRING)
            if isinstance(schema.get("pattern"), str):
                notes = notes + [check for check in [_matching(schema["pattern"])] if check]
        elif kind == "array":
            is_type, notes = List[self.type(schema.get("items", {}), f"{name}_item", depth + 1)], _bounds(schema, ARRAY)
        elif kind == "object":
            if schema.get("properties") or schema.get("additionalProperties") is False:
                return self.model(schema, name, _Contract, depth + 1)
            return Dict[str, self.type(schema.get("additionalProperties", {}), f"{name}_value", depth + 1)]
        else:
            return Any
        return Annotated[tuple([is_type] + notes)] if notes else is_type

    def model(self, schema: Dict[str, Any], name: str, base: Type[_Contract], depth: int = 0) -> Type[_Contract]:
        properties = schema.get("properties")
        properties = properties if isinstance(properties, dict) else {}
        required = schema.get("required")
        required = set(required) if isinstance(required, list) else set()
        fields: Dict[str, Any] = {}
        for i, (key, sub) in enumerate(properties.items()):
            about = self.resolve(sub)
            about = {**about, **sub} if isinstance(about, dict) and isinstance(sub, dict) else {}
            start = ... if key in required else copy.deepcopy(about.get("default"))
            own = key if _fits(key, base) else f"field_{i}"
            description = about.get("description") if isinstance(about.get("description"), str) else None
            more = {} if own == key else {"alias": key}
            fields[own] = (self.type(sub, f"{name}_{own}", depth + 1), Field(start, description=description, **more))
        closed = schema.get("additionalProperties") is False
        made = create_model(_class_name(name), __base__=_base(base, closed), **fields)
        return made


def _fits(key: str, base: Type[BaseModel]) -> bool:
    """Tells whether a name can be that of a field."""
    return key.isidentifier() and not key.startswith("_") and not keyword.iskeyword(key) and not hasattr(base, key)


def _class_name(name: str) -> str:
    return re.sub(r"\W", "_", name) or "model"


def _base(base: Type[_Contract], closed: bool) -> Type[_Contract]:
    config = ConfigDict(extra="forbid" if closed else "allow", protected_namespaces=(), populate_by_name=False)
    return type(base.__name__, (base,), {"model_config": config, "__module__": __name__})


def _contract(name: str, schema: Any, base: Type[_Contract]) -> Type[_Contract]:
    shown = schema if isinstance(schema, dict) else {}
    try:
        made = _Maker(shown, base).model(shown, name, base)
    except Exception:  # noqa: BLE001 - whatever pydantic cannot say, Toolcrib still judges
        made = create_model(_class_name(name), __base__=_base(base, False))
    made.contract = shown or {"type": "object", "properties": {}}
    return made


def arguments_model(name: str, schema: Any) -> Type[Arguments]:
    """The model of a tool's arguments."""
    return _contract(f"{name}_arguments", schema, Arguments)


def output_model(name: str, schema: Any) -> Type[Output]:
    """The model of a tool's answer."""
    return _contract(f"{name}_output", schema, Output)
