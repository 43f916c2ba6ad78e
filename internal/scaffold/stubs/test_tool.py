# Tests {{name}}.py. It runs in the folder of the tool, and a status that is not 0 is a failure.
import importlib
import unittest

tool = importlib.import_module("{{name}}")


class Test(unittest.TestCase):
    def test_text(self):
        self.assertEqual(tool.{{function}}("to be"), "to be")


if __name__ == "__main__":
    unittest.main()
