package pyhost_test

import (
	"strings"
	"testing"
)

func TestWhichFunctionsAreTools(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"public functions of the file": {`
from os.path import join
from functools import lru_cache, wraps, partial
import re
def deco(f):
    @wraps(f)
    def inner(*a, **k): return f(*a, **k)
    return inner
def one(): ...
def _hidden(): ...
class K:
    def method(self): ...
@lru_cache
def two(): ...
@deco
def three(x: int): ...
async def four(): ...
lam = lambda x: x
alias = one
def main(): ...
if __name__ == "__main__":
    raise SystemExit("run as a program")
`, "deco one two three four"},
		"marked ones": {`
from toolcrib import tool
def helper(): ...
@tool
def one(): ...
@tool(name="second", title="The Second", description="Says two.", annotations={"readOnlyHint": True})
def two(): ...
`, "one second"},
		"__all__": {`
from os.path import basename
__all__ = ["b", "basename", "missing"]
def a(): ...
def b(): ...
`, "b basename"},
		"__all__ and marks": {`
from toolcrib import tool
__all__ = ["a", "b"]
@tool(name="A")
def a(): ...
def b(): ...
@tool
def c(): ...
`, "A b"},
		"main in __all__": {"__all__ = ['main']\ndef main(): ...\n", "main"},
		"none":            {"x = 1\n", ""},
		"one of two of the same name": {`
from toolcrib import tool
@tool(name="x")
def a(): ...
@tool(name="x")
def b(): ...
`, "x"},
	} {
		t.Run(name, func(t *testing.T) {
			p := serve(t, c.text)
			tools, got := p.tools()
			want := strings.TrimPrefix(c.want, "deco ")
			if got = strings.TrimPrefix(got, "deco "); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
			if second, ok := tools["second"]; ok && (second.Title != "The Second" || second.Description != "Says two." || second.Annotations["readOnlyHint"] != true) {
				t.Errorf("second: %+v", second)
			}
		})
	}
}

// types has a function for every type that is understood.
const types = `
from __future__ import annotations
import collections, dataclasses, datetime, decimal, enum, pathlib, re, typing, uuid
from typing import *

class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"

class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2

class Odd(enum.Enum):
    A = (1, 2)
    B = (3, 4)

@dataclasses.dataclass
class Point:
    """A place.

    Attributes:
        x: Across.
    """
    x: int
    y: int = 0
    tags: List[str] = dataclasses.field(default_factory=list)

@dataclasses.dataclass
class Node:
    name: str
    kids: List[Node] = dataclasses.field(default_factory=list)

class Movie(TypedDict):
    title: str
    year: int

class Part(TypedDict, total=False):
    size: int

class Pair(NamedTuple):
    first: int
    second: str = "b"

UserId = NewType("UserId", int)
T = TypeVar("T", bound=str)

def t_str(x: str): return [type(x).__name__, x]
def t_int(x: int): return [type(x).__name__, x]
def t_float(x: float): return [type(x).__name__, x]
def t_bool(x: bool): return x
def t_any(x: Any): return x
def t_none(x): return x
def t_object(x: object): return x
def t_list(x: list): return x
def t_list_int(x: List[int]): return x
def t_seq(x: Sequence[str]): return x
def t_set(x: Set[int]): return [type(x).__name__, x]
def t_tuple(x: Tuple[int, str]): return [type(x).__name__, x]
def t_tuples(x: Tuple[int, ...]): return [type(x).__name__, x]
def t_dict(x: dict): return x
def t_dict_int(x: Dict[str, int]): return x
def t_dict_keys(x: Dict[int, str]): return sorted(type(k).__name__ for k in x)
def t_optional(x: Optional[int] = None): return x
def t_union(x: Union[int, str, List[int]]): return [type(x).__name__, x]
def t_pipe(x: int | None): return x
def t_nested_pipe(x: List[int | str]): return x
def t_none_default(x: int = None): return x
def t_literal(x: Literal["a", "b", 3]): return x
def t_color(x: Color): return repr(x)
def t_level(x: Level = Level.LOW): return repr(x)
def t_odd(x: Odd): return repr(x)
def t_point(x: Point): return repr(x)
def t_node(x: Node): return repr(x)
def t_movie(x: Movie): return x
def t_part(x: Part): return x
def t_pair(x: Pair): return repr(x)
def t_datetime(x: datetime.datetime): return repr(x)
def t_date(x: datetime.date): return repr(x)
def t_time(x: datetime.time): return repr(x)
def t_delta(x: datetime.timedelta): return repr(x)
def t_decimal(x: decimal.Decimal): return repr(x)
def t_uuid(x: uuid.UUID): return repr(x)
def t_path(x: pathlib.Path): return x.name
def t_bytes(x: bytes): return repr(x)
def t_pattern(x: re.Pattern): return x.pattern
def t_annotated(x: Annotated[int, "How many."]): return x
def t_newtype(x: UserId): return x
def t_typevar(x: T): return x
def t_varargs(a: int, b: int = 2, *rest: int, c: str = "c", **more: float): return [a, b, rest, c, more]
def t_positional(a: int, b: int = 5, /, c: int = 7, *, d: int): return [a, b, c, d]
def t_callback(x: int, hook: Callable = print): return x
`

func TestSchemasFromTypes(t *testing.T) {
	t.Parallel()
	p := serve(t, types)
	tools, names := p.tools()
	if len(tools) != 45 {
		t.Errorf("%d tools: %s", len(tools), names)
	}
	for name, want := range map[string]string{
		"t_str": `{"type":"string"}`, "t_int": `{"type":"integer"}`, "t_float": `{"type":"number"}`, "t_bool": `{"type":"boolean"}`,
		"t_any": `{}`, "t_none": `{}`, "t_object": `{}`, "t_list": `{"type":"array"}`,
		"t_list_int":     `{"type":"array","items":{"type":"integer"}}`,
		"t_seq":          `{"type":"array","items":{"type":"string"}}`,
		"t_set":          `{"type":"array","items":{"type":"integer"},"uniqueItems":true}`,
		"t_tuple":        `{"type":"array","prefixItems":[{"type":"integer"},{"type":"string"}],"minItems":2,"maxItems":2}`,
		"t_tuples":       `{"type":"array","items":{"type":"integer"}}`,
		"t_dict":         `{"type":"object"}`,
		"t_dict_int":     `{"type":"object","additionalProperties":{"type":"integer"}}`,
		"t_optional":     `{"anyOf":[{"type":"integer"},{"type":"null"}],"default":null}`,
		"t_none_default": `{"anyOf":[{"type":"integer"},{"type":"null"}],"default":null}`,
		"t_union":        `{"anyOf":[{"type":"integer"},{"type":"string"},{"type":"array","items":{"type":"integer"}}]}`,
		"t_pipe":         `{"anyOf":[{"type":"integer"},{"type":"null"}]}`,
		"t_nested_pipe":  `{"type":"array","items":{"anyOf":[{"type":"integer"},{"type":"string"}]}}`,
		"t_literal":      `{"enum":["a","b",3]}`,
		"t_color":        `{"enum":["red","blue"],"type":"string"}`,
		"t_level":        `{"enum":[1,2],"type":"integer","description":"1 is LOW, 2 is HIGH","default":1}`,
		"t_odd":          `{"enum":["A","B"],"type":"string"}`,
		"t_point":        `{"type":"object","description":"A place.","properties":{"x":{"type":"integer","description":"Across."},"y":{"type":"integer","default":0},"tags":{"type":"array","items":{"type":"string"}}},"required":["x"],"additionalProperties":false}`,
		"t_movie":        `{"type":"object","properties":{"title":{"type":"string"},"year":{"type":"integer"}},"required":["title","year"],"additionalProperties":false}`,
		"t_part":         `{"type":"object","properties":{"size":{"type":"integer"}},"additionalProperties":false}`,
		"t_pair":         `{"type":"object","properties":{"first":{"type":"integer"},"second":{"type":"string","default":"b"}},"required":["first"],"additionalProperties":false}`,
		"t_datetime":     `{"type":"string","format":"date-time"}`,
		"t_date":         `{"type":"string","format":"date"}`,
		"t_time":         `{"type":"string","format":"time"}`,
		"t_delta":        `{"type":"number","description":"Seconds."}`,
		"t_decimal":      `{"type":["string","number"]}`,
		"t_uuid":         `{"type":"string","format":"uuid"}`,
		"t_path":         `{"type":"string"}`,
		"t_bytes":        `{"type":"string","contentEncoding":"base64"}`,
		"t_pattern":      `{"type":"string","format":"regex"}`,
		"t_annotated":    `{"type":"integer","description":"How many."}`,
		"t_newtype":      `{"type":"integer"}`,
		"t_typevar":      `{"type":"string"}`,
	} {
		required := `,"required":["x"]`
		if strings.Contains(want, `"default":null}`) || name == "t_level" {
			required = ""
		}
		sameJSON(t, name, tools[name].InputSchema, `{"type":"object","properties":{"x":`+want+`}`+required+`,"additionalProperties":false}`)
	}
	sameJSON(t, "a class that contains itself", tools["t_node"].InputSchema, `{"type":"object","properties":{"x":{"$ref":"#/$defs/Node"}},"required":["x"],"additionalProperties":false,
		"$defs":{"Node":{"type":"object","properties":{"name":{"type":"string"},"kids":{"type":"array","items":{"$ref":"#/$defs/Node"}}},"required":["name"],"additionalProperties":false}}}`)
	sameJSON(t, "varargs", tools["t_varargs"].InputSchema, `{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer","default":2},"rest":{"type":"array","items":{"type":"integer"}},"c":{"type":"string","default":"c"}},"required":["a"],"additionalProperties":{"type":"number"}}`)
	sameJSON(t, "positional", tools["t_positional"].InputSchema, `{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer","default":5},"c":{"type":"integer","default":7},"d":{"type":"integer"}},"required":["a","d"],"additionalProperties":false}`)
	sameJSON(t, "a callback with a default", tools["t_callback"].InputSchema, `{"type":"object","properties":{"x":{"type":"integer"}},"required":["x"],"additionalProperties":false}`)
}

func TestArgumentsAreConverted(t *testing.T) {
	p := serve(t, types)
	for _, c := range []struct{ name, arguments, want string }{
		{"t_str", `"a"`, `["str","a"]`},
		{"t_int", `5`, `["int",5]`},
		{"t_int", `5.0`, `["int",5]`},
		{"t_float", `5`, `["float",5.0]`},
		{"t_any", `{"a":[1]}`, `{"a":[1]}`},
		{"t_set", `[1,2]`, `["set",[1,2]]`},
		{"t_tuple", `[1,"a"]`, `["tuple",[1,"a"]]`},
		{"t_tuples", `[1,2,3]`, `["tuple",[1,2,3]]`},
		{"t_dict_keys", `{"1":"a"}`, `["int"]`},
		{"t_optional", `null`, `null`},
		{"t_none_default", `null`, `null`},
		{"t_union", `"5"`, `["str","5"]`},
		{"t_union", `[1]`, `["list",[1]]`},
		{"t_nested_pipe", `[1,"a"]`, `[1,"a"]`},
		{"t_literal", `3`, `3`},
		{"t_color", `"red"`, `<Color.RED: 'red'>`},
		{"t_color", `"BLUE"`, `<Color.BLUE: 'blue'>`},
		{"t_level", `2`, `<Level.HIGH: 2>`},
		{"t_level", `"LOW"`, `<Level.LOW: 1>`},
		{"t_odd", `"B"`, `<Odd.B: (3, 4)>`},
		{"t_point", `{"x":1,"tags":["a"]}`, `Point(x=1, y=0, tags=['a'])`},
		{"t_node", `{"name":"a","kids":[{"name":"b"}]}`, `Node(name='a', kids=[Node(name='b', kids=[])])`},
		{"t_movie", `{"title":"M","year":1931}`, `{"title":"M","year":1931}`},
		{"t_part", `{}`, `{}`},
		{"t_pair", `{"first":1}`, `Pair(first=1, second='b')`},
		{"t_datetime", `"2030-01-31T12:00:00Z"`, `datetime.datetime(2030, 1, 31, 12, 0, tzinfo=datetime.timezone.utc)`},
		{"t_date", `"2030-01-31"`, `datetime.date(2030, 1, 31)`},
		{"t_time", `"12:30:00"`, `datetime.time(12, 30)`},
		{"t_delta", `90`, `datetime.timedelta(seconds=90)`},
		{"t_decimal", `"1.10"`, `Decimal('1.10')`},
		{"t_decimal", `1.5`, `Decimal('1.5')`},
		{"t_uuid", `"12345678-1234-5678-1234-567812345678"`, `UUID('12345678-1234-5678-1234-567812345678')`},
		{"t_path", `"/a/b.txt"`, `b.txt`},
		{"t_bytes", `"aGk="`, `b'hi'`},
		{"t_pattern", `"a+"`, `a+`},
	} {
		r := p.call(c.name, raw(`{"x":`+c.arguments+`}`))
		if r.text() != c.want || r.IsError {
			t.Errorf("%s(%s): got %s, want %s", c.name, c.arguments, r.text(), c.want)
		}
	}
	for _, c := range []struct{ name, arguments, want string }{
		{"t_varargs", `{"a":1}`, `[1,2,[],"c",{}]`},
		{"t_varargs", `{"a":1,"rest":[3,4],"c":"x","z":1}`, `[1,2,[3,4],"x",{"z":1.0}]`},
		{"t_positional", `{"a":1,"d":2}`, `[1,5,7,2]`},
		{"t_positional", `{"d":2,"b":3,"a":1,"c":4}`, `[1,3,4,2]`},
		{"t_callback", `{"x":1}`, `1`},
		{"t_none", `{"x":[1]}`, `[1]`},
	} {
		if r := p.call(c.name, raw(c.arguments)); r.text() != c.want || r.IsError {
			t.Errorf("%s(%s): got %s, want %s", c.name, c.arguments, r.text(), c.want)
		}
	}
}

func TestArgumentsThatDoNotFit(t *testing.T) {
	p := serve(t, types)
	for _, c := range []struct{ name, arguments, want string }{
		{"t_str", `{"x":5}`, `t_str was not called: x must be a string, not 5.`},
		{"t_int", `{"x":true}`, `t_int was not called: x must be an integer, not true.`},
		{"t_int", `{"x":1.5}`, `t_int was not called: x must be an integer, not 1.5.`},
		{"t_int", `{"x":"5"}`, `t_int was not called: x must be an integer, not "5".`},
		{"t_int", `{}`, `t_int was not called: x is missing.`},
		{"t_int", `{"x":1,"y":2}`, `t_int was not called: y is not an argument.`},
		{"t_varargs", `{"a":"1","b":null,"rest":5,"more":"x"}`, `t_varargs was not called: a must be an integer, not "1"; b must be an integer, not null; rest must be an array, not 5; more must be a number, not "x".`},
		{"t_point", `{"point":{}}`, `t_point was not called: point is not an argument; x is missing.`},
		{"t_point", `{"x":{"x":"1","tag":[]}}`, `t_point was not called: x.x must be an integer, not "1"; x.tag is unknown (did you mean tags?).`},
		{"t_node", `{"x":{"name":"a","kids":[{"name":1}]}}`, `t_node was not called: x.kids[0].name must be a string, not 1.`},
		{"t_list_int", `{"x":[1,"2",null]}`, `t_list_int was not called: x[1] must be an integer, not "2"; x[2] must be an integer, not null.`},
		{"t_dict_int", `{"x":{"a":"b"}}`, `t_dict_int was not called: x.a must be an integer, not "b".`},
		{"t_dict_keys", `{"x":{"a":"b"}}`, `t_dict_keys was not called: x must have keys that are integers.`},
		{"t_tuple", `{"x":[1]}`, `t_tuple was not called: x must be an array of 2 items, not 1.`},
		{"t_color", `{"x":"green"}`, `t_color was not called: x must be one of "red", "blue", not "green".`},
		{"t_literal", `{"x":"c"}`, `t_literal was not called: x must be one of "a", "b", 3, not "c".`},
		{"t_literal", `{"x":{}}`, `t_literal was not called: x must be one of "a", "b", 3, not an object.`},
		{"t_union", `{"x":null}`, `t_union was not called: x must be an integer or a string or an array, not null.`},
		{"t_union", `{"x":["a"]}`, `t_union was not called: x[0] must be an integer, not "a".`},
		{"t_optional", `{"x":"a"}`, `t_optional was not called: x must be an integer or null, not "a".`},
		{"t_datetime", `{"x":"tomorrow"}`, `t_datetime was not called: x must be a date and time such as 2030-01-31T12:00:00Z, not "tomorrow".`},
		{"t_datetime", `{"x":""}`, `t_datetime was not called: x must be a date and time such as 2030-01-31T12:00:00Z, not "".`},
		{"t_date", `{"x":"2030-13-01"}`, `t_date was not called: x must be a date such as 2030-01-31, not "2030-13-01".`},
		{"t_decimal", `{"x":"much"}`, `t_decimal was not called: x must be a decimal number, not "much".`},
		{"t_uuid", `{"x":"1"}`, `t_uuid was not called: x must be a UUID, not "1".`},
		{"t_path", `{"x":"a\u0000b"}`, `t_path was not called: x must be a path, not "a\u0000b".`},
		{"t_bytes", `{"x":"%%%"}`, `t_bytes was not called: x must be base64 text, not "%%%".`},
		{"t_pattern", `{"x":"("}`, `t_pattern was not called: x must be a regular expression, not "(".`},
		{"t_float", `{"x":1` + strings.Repeat("0", 400) + `}`, `t_float was not called: x must be a number, not 1` + strings.Repeat("0", 56) + `….`},
	} {
		r := p.call(c.name, raw(c.arguments))
		if r.text() != c.want || !r.IsError {
			t.Errorf("%s(%.80s):\n got %s\nwant %s", c.name, c.arguments, r.text(), c.want)
		}
	}
	if strings.Contains(p.log(), "Traceback") {
		t.Errorf("arguments that do not fit are no error of the tool:\n%s", p.log())
	}
}

func TestFunctionsThatAreLeftOut(t *testing.T) {
	p := serve(t, `
import typing
class Thing: pass
def hook(f: typing.Callable): ...
def thing(x: Thing): ...
def unknown(x: "NoSuchName"): ...
def fine(x: int = 1, y: "NoSuchName" = None) -> "NoSuchName": return x
`)
	if _, names := p.tools(); names != "fine" {
		t.Errorf("tools: %s", names)
	}
	for _, want := range []string{"hook is left out: its parameter f has the type Callable, which JSON cannot express", "thing is left out: its parameter x has the type Thing", "unknown is left out: its parameter x has the type NoSuchName"} {
		if !p.logged(want) {
			t.Errorf("the log does not say %q:\n%s", want, p.log())
		}
	}
	if got := p.call("fine", raw(`{}`)).text(); got != "1" {
		t.Errorf("fine: %q", got)
	}
}
