package pyhost_test

import (
	"encoding/json"
	"strings"
	"testing"
)

// docReader offers the host's own docstring reader as a tool.
const docReader = `
import sys
_host = sys.modules["__main__"]

def doc(text: str) -> dict:
    d = _host.read_docstring(text)
    return {"summary": d.summary, "details": d.details, "arguments": d.arguments, "returns": d.returns, "raises": d.raises}
`

func TestDocstrings(t *testing.T) {
	p := serve(t, docReader)
	for name, c := range map[string]struct{ text, want string }{
		"empty":                  {"", `{"summary":"","details":"","arguments":{},"returns":"","raises":[]}`},
		"one line":               {"Adds two numbers.", `{"summary":"Adds two numbers.","details":"","arguments":{},"returns":"","raises":[]}`},
		"summary over two lines": {"Adds two\n    numbers.\n\n    And more.\n", `{"summary":"Adds two numbers.","details":"And more.","arguments":{},"returns":"","raises":[]}`},
		"Google": {`Fetches rows.

    Longer text,
    with two lines.

    Args:
        table: The table: with a colon.
        keys (list[str], optional): What to look for,
            over two lines.
        *rest: Further ones.
        **options (dict): Options.

    Returns:
        dict[str, int]: The rows.

    Raises:
        KeyError: If there is no such table.
        IOError: If it cannot be read,
            or so.

    Example:
        >>> fetch("x")
    `, `{"summary":"Fetches rows.","details":"Longer text,\nwith two lines.\n\nExample:\n    >>> fetch(\"x\")","arguments":{"table":"The table: with a colon.","keys":"What to look for, over two lines.","rest":"Further ones.","options":"Options."},"returns":"The rows.","raises":["KeyError: If there is no such table.","IOError: If it cannot be read, or so."]}`},
		"Google, returns without a type": {"Sum.\n\n    Arguments:\n      a: one\n      b - two\n    Yields:\n      The numbers: all of them.\n", `{"summary":"Sum.","details":"","arguments":{"a":"one","b":"two"},"returns":"The numbers: all of them.","raises":[]}`},
		"NumPy": {`Fits a line.

    Details here.

    Parameters
    ----------
    x : array_like
        The abscissa.

        A second paragraph.
    y, z : float, optional
        The others.
    *args
        More.

    Returns
    -------
    slope : float
        The slope.
    float
        The error.

    Raises
    ------
    ValueError
        If x is empty.

    Notes
    -----
    Kept as text.
    `, `{"summary":"Fits a line.","details":"Details here.\n\nNotes\n-----\nKept as text.","arguments":{"x":"The abscissa. A second paragraph.","y":"The others.","z":"The others.","args":"More."},"returns":"The slope.; The error.","raises":["ValueError: If x is empty."]}`},
		"reST": {`Sends a mail.

    :param str to: The recipient: one.
    :param body: The text
        over two lines.
    :type body: str
    :keyword cc: Copies.
    :returns: The id.
    :rtype: str
    :raises ValueError: If there is
      no recipient.
    `, `{"summary":"Sends a mail.","details":"","arguments":{"to":"The recipient: one.","body":"The text over two lines.","cc":"Copies."},"returns":"The id.","raises":["ValueError: If there is no recipient."]}`},
		"reST with a role": {"See.\n\n:param x: a :class:`Foo` it is\n:return: :obj:`None`", "{\"summary\":\"See.\",\"details\":\"\",\"arguments\":{\"x\":\"a :class:`Foo` it is\"},\"returns\":\":obj:`None`\",\"raises\":[]}"},
		"Epytext": {`Moves a file.

    @param source: Where it is.
    @type source: str
    @param target: Where it goes,
      over two lines.
    @return: The new place.
    @raise OSError: If it cannot.
    `, `{"summary":"Moves a file.","details":"","arguments":{"source":"Where it is.","target":"Where it goes, over two lines."},"returns":"The new place.","raises":["OSError: If it cannot."]}`},
		"a colon that is no section": {"Summary.\n\nNote this:\n    It is text.\n\nArgs:\nnot indented\n", `{"summary":"Summary.","details":"Note this:\n    It is text.\n\nArgs:\nnot indented","arguments":{},"returns":"","raises":[]}`},
		"only arguments":             {"Args:\n    a: one\n", `{"summary":"","details":"","arguments":{"a":"one"},"returns":"","raises":[]}`},
		"mixed":                      {"S.\n\nArgs:\n    a: one\n\n:param b: two\n:returns: it\n", `{"summary":"S.","details":"","arguments":{"a":"one","b":"two"},"returns":"it","raises":[]}`},
		"time in text":               {"At 12:30: go.\n\n:not a field\n@decorator\n", `{"summary":"At 12:30: go.","details":":not a field\n@decorator","arguments":{},"returns":"","raises":[]}`},
	} {
		r := p.call("doc", map[string]any{"text": c.text})
		sameJSON(t, name, r.StructuredContent, c.want)
	}
}

func TestDescriptionOfATool(t *testing.T) {
	p := serve(t, `
def f(a: int, b: str = "x"):
    """Does it.

    In detail.

    Args:
        a: The a.
        b: The b.

    Returns:
        The text.

    Raises:
        ValueError: Never.
    """
`)
	tools, _ := p.tools()
	f := tools["f"]
	if want := "Does it.\n\nIn detail.\n\nReturns: The text.\n\nRaises: ValueError: Never."; f.Description != want {
		t.Errorf("description: %q", f.Description)
	}
	sameJSON(t, "schema", f.InputSchema, `{"type":"object","properties":{"a":{"type":"integer","description":"The a."},"b":{"type":"string","description":"The b.","default":"x"}},"required":["a"],"additionalProperties":false}`)
}

// Whatever stands in a docstring, the reader gives texts and does not fail.
func FuzzDocstring(f *testing.F) {
	for _, seed := range []string{
		"", "Sum.\n\nArgs:\n    a (int): x\n  b: y\nReturns:\n\tz", "S\n\nParameters\n----------\nx : int\n    d\n",
		":param x: y\n:raises:\n", "@param : \n@return", "A\n---\n\nReturns\n-------\n", ":" + strings.Repeat(":", 50), "Args:\n\n\n   :\n  (\n",
		"Raises:\n    : x\n    ]]: y", "\x0c\u2028Args:\u00a0\n\u3000x: y",
	} {
		f.Add(seed)
	}
	p := serve(f, docReader)
	f.Fuzz(func(t *testing.T, text string) {
		if !json.Valid([]byte(text)) && strings.ToValidUTF8(text, "") != text {
			return // a docstring is text
		}
		p.t = t
		if r := p.call("doc", map[string]any{"text": text}); r.IsError {
			t.Errorf("%q: %s", text, r.text())
		}
	})
}
