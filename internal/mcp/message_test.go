package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	cases := []struct {
		text string
		code int // zero: it is a message
		id   string
	}{
		{`{"jsonrpc":"2.0","id":1,"method":"a","params":{}}`, 0, "1"},
		{` {"jsonrpc":"2.0","id":"x","method":"a","params":null} `, 0, `"x"`},
		{`{"jsonrpc":"2.0","method":"a"}`, 0, ""},
		{`{"jsonrpc":"2.0","id":-5,"result":null}`, 0, "-5"},
		{`{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"m"}}`, 0, "null"},
		{`{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m","data":[1]}}`, 0, "1"},
		{``, CodeParse, ""},
		{`{`, CodeParse, ""},
		{`hello`, CodeParse, ""},
		{`{"jsonrpc":"2.0","id":1,"method":"a"} x`, CodeParse, ""},
		{`[]`, CodeInvalidRequest, ""},
		{`7`, CodeInvalidRequest, ""},
		{`{}`, CodeInvalidRequest, ""},
		{`{"jsonrpc":"2.0","result":{}}`, CodeInvalidRequest, ""},
		{`{"jsonrpc":"1.0","id":3,"method":"a"}`, CodeInvalidRequest, "3"},
		{`{"jsonrpc":"2.0","id":3}`, CodeInvalidRequest, "3"},
		{`{"jsonrpc":"2.0","id":3,"method":""}`, CodeInvalidRequest, "3"},
		{`{"jsonrpc":"2.0","id":3,"method":5}`, CodeInvalidRequest, "3"},
		{`{"jsonrpc":"2.0","id":null,"method":"a"}`, CodeInvalidRequest, ""},
		{`{"jsonrpc":"2.0","id":1.5,"method":"a"}`, CodeInvalidRequest, ""},
		{`{"jsonrpc":"2.0","id":1e3,"method":"a"}`, CodeInvalidRequest, ""},
		{`{"jsonrpc":"2.0","id":[1],"method":"a"}`, CodeInvalidRequest, ""},
		{`{"jsonrpc":"2.0","id":1234567890123456789,"method":"a"}`, CodeInvalidRequest, ""},
		{`{"jsonrpc":"2.0","id":"` + strings.Repeat("x", 2000) + `","method":"a"}`, CodeInvalidRequest, ""},
	}
	for _, c := range cases {
		m, err := Parse([]byte(c.text))
		if m == nil {
			t.Fatalf("%s: no message at all", c.text)
		}
		code := 0
		if e, ok := errors.AsType[*Error](err); ok {
			code = e.Code
		}
		if (err == nil) != (c.code == 0) || code != c.code || string(m.ID) != c.id {
			t.Errorf("%s: id %s, %v (%d), want id %s, %d", c.text, m.ID, err, code, c.id, c.code)
		}
	}
}

func TestAppend(t *testing.T) {
	raw := func(s string) json.RawMessage { return json.RawMessage(s) }
	cases := map[string]Message{
		`{"jsonrpc":"2.0","id":1,"method":"a/b","params":{"x":1}}`:                      {ID: raw("1"), Method: "a/b", Params: raw(`{"x":1}`)},
		`{"jsonrpc":"2.0","method":"a"}`:                                                {Method: "a"},
		`{"jsonrpc":"2.0","id":"x","result":{"a":[1,"\n"]}}`:                            {ID: raw(`"x"`), Result: raw("{\n \"a\": [1,\r\n\"\\n\"]\n}")},
		`{"jsonrpc":"2.0","id":1,"result":{}}`:                                          {ID: raw("1")},
		`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"m"}}`:             {Error: Errorf(CodeParse, "m")},
		`{"jsonrpc":"2.0","id":2,"error":{"code":-32601,"message":"m","data":{"d":1}}}`: {ID: raw("2"), Error: &Error{Code: CodeMethodNotFound, Message: "m", Data: raw(`{"d":1}`)}},
	}
	for want, m := range cases {
		got, err := m.Append(nil)
		if err != nil || string(got) != want {
			t.Errorf("%s, %v, want %s", got, err, want)
		}
	}
	broken := Message{ID: raw("1"), Result: raw("{\n")}
	if got, err := broken.Append(nil); err == nil {
		t.Errorf("what is no JSON was written: %s", got)
	}
}

// What can be read can be written, in one line, and reads the same.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"a","params":{"x":1}}`, `{"jsonrpc":"2.0","id":"x","result":[1]}`,
		`{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"\u2028"}}`, "{\"jsonrpc\":\"2.0\",\n\"method\":\"\u00e4\"}", `[`, `{"jsonrpc":"2.0","id":5,"result":null}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := Parse(text)
		if m == nil {
			t.Fatal("no message at all")
		}
		if err != nil {
			if _, ok := errors.AsType[*Error](err); !ok {
				t.Fatalf("%v has no code", err)
			}
			return
		}
		kinds := 0
		for _, is := range []bool{m.IsRequest(), m.IsAnswer(), m.Method != "" && m.ID == nil} {
			if is {
				kinds++
			}
		}
		if kinds != 1 {
			t.Fatalf("%q is of %d kinds", text, kinds)
		}
		out, err := m.Append(nil)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if bytes.ContainsAny(out, "\r\n") {
			t.Fatalf("%q is written in several lines: %q", text, out)
		}
		again, err := Parse(out)
		if err != nil {
			t.Fatalf("%q is written as %q: %v", text, out, err)
		}
		if d := cmp.Diff(compact(m), compact(again)); d != "" {
			t.Fatalf("%q is written as %q: %s", text, out, d)
		}
	})
}

// compact is a message without what writing may change: spaces.
func compact(m *Message) Message {
	out := *m
	out.Params, out.Result = squeeze(m.Params), squeeze(m.Result)
	if m.IsAnswer() {
		out.Params = nil // an answer has none
		if string(m.ID) == "null" {
			out.ID = nil // an error without an id is written with this
		}
	}
	if m.Method != "" {
		out.Result, out.Error = nil, nil // nor has a request these
	}
	if out.Error != nil {
		e := *m.Error
		e.Data = squeeze(e.Data)
		out.Error, out.Result = &e, nil
	}
	return out
}

func squeeze(text json.RawMessage) json.RawMessage {
	var out bytes.Buffer
	if text == nil || json.Compact(&out, text) != nil {
		return text
	}
	return out.Bytes()
}

// Whatever a method is called, what is written is JSON in one line.
func TestAppendMethod(t *testing.T) {
	for name, want := range map[string]string{
		"a/b": "a/b", "\x00\x07\v\x7f": "\x00\x07\v\x7f", "\u2028\U0001F600": "\u2028\U0001F600",
		`"\`: `"\`, "\u00ad": "\u00ad", "\xff": "\ufffd",
	} {
		text, err := (&Message{Method: name}).Append(nil)
		if err != nil {
			t.Fatal(err)
		}
		m, err := Parse(text)
		if err != nil || m.Method != want {
			t.Errorf("%q is written as %s: %v", name, text, err)
		}
	}
}
