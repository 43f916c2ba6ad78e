"""Models of contracts: what they show is the contract, and what they take is what it takes."""
import math
import time
import unittest

from pydantic import ValidationError

from toolcrib_ovos.answers import Refusal, Text, Unfitting, answer
from toolcrib_ovos.models import arguments_model, output_model

SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "description": "Who.", "minLength": 1, "maxLength": 5, "pattern": "^[a-z]+$"},
        "count": {"type": "integer", "default": 3, "minimum": 1, "maximum": 9},
        "size": {"type": "string", "enum": ["small", "large"]},
        "level": {"enum": [1, 2.5, None, True]},
        "ratio": {"type": "number", "exclusiveMinimum": 0},
        "note": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "old": {"type": ["null", "integer"]},
        "tags": {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 2},
        "to": {"type": "object", "properties": {"street": {"type": "string"}, "zip": {"$ref": "#/$defs/zip"}}, "required": ["street"], "additionalProperties": False},
        "free": {"type": "object", "additionalProperties": {"type": "integer"}},
        "tree": {"$ref": "#/$defs/tree"},
        "from": {"type": "string"},
        "model_dump": {"type": "string"},
        "_id": {"type": "string"},
        "with-dash": {"type": "string"},
        "any": {},
        "yes": True,
    },
    "required": ["name"],
    "additionalProperties": False,
    "$defs": {"zip": {"type": "string", "maxLength": 4}, "tree": {"type": "object", "properties": {"left": {"$ref": "#/$defs/tree"}}}},
}


class TestArguments(unittest.TestCase):
    def setUp(self):
        self.model = arguments_model("order", SCHEMA)

    def test_shows_the_contract(self):
        self.assertEqual(self.model.model_json_schema(), SCHEMA)
        self.model.model_json_schema()["properties"].clear()
        self.assertEqual(self.model.model_json_schema(), SCHEMA)

    def test_takes_what_fits(self):
        for value in [
            {}, {"count": 9}, {"size": "small"}, {"level": 2.5}, {"level": None}, {"level": True}, {"ratio": 0.1}, {"ratio": 12345678901234567890},
            {"note": None}, {"note": "x"}, {"old": None}, {"old": 4}, {"tags": ["a"]}, {"to": {"street": "s", "zip": "1234"}}, {"free": {"a": 1}},
            {"tree": {"left": {"left": {}}}}, {"from": "a", "model_dump": "b", "_id": "c", "with-dash": "d"}, {"any": [1, {}], "yes": None},
        ]:
            value = {"name": "ann", **value}
            self.assertEqual(self.model(**value).given(), value)

    def test_refuses_what_does_not(self):
        for value in [
            {"name": ""}, {"name": "toolong"}, {"name": "ANN"}, {"name": None}, {"count": 0}, {"count": 10}, {"count": "x"}, {"count": None}, {"size": "huge"},
            {"level": 3}, {"level": "1"}, {"ratio": 0}, {"note": []}, {"tags": []}, {"tags": ["a", "b", "c"]}, {"tags": [{}]}, {"to": {}}, {"to": {"street": "s", "zip": "12345"}},
            {"to": {"street": "s", "more": 1}}, {"free": {"a": "x"}}, {"tree": {"left": 3}}, {"more": 1}, {"field_11": "x"},
        ]:
            with self.assertRaises(ValidationError, msg=str(value)):
                self.model(**{"name": "ann", **value})
        with self.assertRaises(ValidationError):
            self.model()

    def test_defaults_are_known_and_not_sent(self):
        made = self.model(name="ann")
        self.assertEqual(made.count, 3)
        self.assertEqual(made.given(), {"name": "ann"})

    def test_strange_schemas_take_everything(self):
        for schema in [None, {}, True, {"type": "object", "properties": []}, {"properties": {"a": {"type": "klingon"}}}, {"properties": {"a": {"pattern": "(?<"}}, "type": "object"},
                       {"properties": {"a": {"type": "string", "pattern": "\\p{L}["}}}, {"properties": {"a": {"$ref": "#/nowhere"}}}, {"properties": {"a": {"$ref": "http://x/"}}},
                       {"properties": {"a": {"$ref": "#/properties/a"}}}, {"properties": {"a": {"anyOf": []}}}, {"properties": {"a": {"enum": []}}}]:
            model = arguments_model("odd", schema)
            self.assertEqual(model(**{"a": "b"}).given(), {"a": "b"}, schema)
            self.assertIsInstance(model.model_json_schema(), dict)
        deep = {"type": "string"}
        for _ in range(300):
            deep = {"type": "array", "items": deep}
        self.assertEqual(arguments_model("deep", {"properties": {"a": deep}})(a=[[]]).given(), {"a": [[]]})


class TestAnybodysSchema(unittest.TestCase):
    def test_one_that_names_itself_often(self):
        tree = {"type": "object", "properties": {key: {"$ref": "#"} for key in ("left", "right", "value", "more")}}
        began = time.monotonic()
        model = arguments_model("tree", tree)
        self.assertLess(time.monotonic() - began, 20)
        self.assertEqual(model(left={"right": {}}).given(), {"left": {"right": {}}})
        self.assertRaises(ValueError, model, left=1)

    def test_a_pattern_that_takes_for_ever(self):
        model = output_model("slow", {"type": "object", "properties": {"a": {"type": "string", "pattern": "^(a+)+$"}}})
        began = time.monotonic()
        self.assertRaises(ValueError, model, a="a" * 40 + "!")
        self.assertLess(time.monotonic() - began, 5)


class TestAnswers(unittest.TestCase):
    MODEL = output_model("sum", {"type": "object", "properties": {"result": {"type": "number"}, "error": {"anyOf": [{"type": "string"}, {"type": "null"}]}, "class": {"type": "string"}}, "required": ["result"]})

    def test_fitting(self):
        made = answer(self.MODEL, {"structuredContent": {"result": 4, "error": None}})
        self.assertEqual(str(made), "result=4.0 error=None")
        self.assertEqual(str(answer(self.MODEL, {"structuredContent": {"result": 4, "class": "x", "more": [1]}})), "result=4.0 class='x' more=[1]")
        self.assertTrue(math.isnan(answer(self.MODEL, {"structuredContent": {"result": None}}).result))

    def test_unfitting_is_shown(self):
        made = answer(self.MODEL, {"structuredContent": {"result": "four"}})
        self.assertIsInstance(made, Unfitting)
        self.assertEqual(made.model_dump(), {"result": "four"})

    def test_words(self):
        self.assertEqual(str(answer(self.MODEL, {"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]})), "a\nb")
        self.assertEqual(str(answer(Text, {"structuredContent": {"a": 1}})), "{'a': 1}")
        self.assertEqual(str(answer(Text, {"content": "nonsense"})), "")
        self.assertIsInstance(answer(self.MODEL, {"isError": True, "content": [None]}), Refusal)


if __name__ == "__main__":
    unittest.main()
