package mcp

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/toolcrib/toolcrib"
)

// What is read of a piece of content is written again.
func TestContentRoundTrip(t *testing.T) {
	cases := []string{
		`{"type":"text","text":"hello"}`,
		`{"type":"text","text":"","annotations":{"audience":["user"]},"_meta":{"a":1}}`,
		`{"type":"image","data":"aGk=","mimeType":"image/png"}`,
		`{"type":"audio","data":"","mimeType":"audio/wav","_meta":{}}`,
		`{"type":"resource_link","uri":"file:///a","name":"a","mimeType":"text/plain","size":12,"title":"A","description":"d","icons":[{"src":"x"}]}`,
		`{"type":"resource_link","uri":"file:///a","name":"a"}`,
		`{"type":"resource","resource":{"uri":"a:b","mimeType":"text/plain","text":"t"}}`,
		`{"type":"resource","resource":{"uri":"a:b","text":""},"annotations":{"priority":1}}`,
		`{"type":"resource","resource":{"uri":"a:b","blob":"aGk=","_meta":{"x":1}}}`,
		`{"type":"resource","resource":{"uri":"a:b","blob":""}}`,
		`{"type":"hologram","depth":3,"text":"not ours","data":[1]}`,
		`{"type":"link","href":"x"}`,
	}
	for _, text := range cases {
		c, err := ReadContent(json.RawMessage(text))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		out, err := WriteContent(c)
		if err != nil || !same(t, text, string(out)) {
			t.Errorf("%s comes back as %s, %v", text, out, err)
		}
	}
	for _, text := range []string{`null`, `{}`, `[]`, `{"type":5}`, `{"type":"text","text":5}`, `{"type":"image","data":"???"}`, `{"type":"resource"}`, `{"type":"resource","resource":"x"}`} {
		if c, err := ReadContent(json.RawMessage(text)); err == nil {
			t.Errorf("%s was read as %+v", text, c)
		}
	}
}

func same(t *testing.T, a, b string) bool {
	t.Helper()
	var x, y any
	if err := json.Unmarshal([]byte(a), &x); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(b), &y); err != nil {
		t.Fatal(err)
	}
	return reflect.DeepEqual(x, y)
}

// Nothing is lost on the way through, whatever else a piece carries: reading
// what was written gives the same piece, and every member is still there.
func FuzzContent(f *testing.F) {
	for _, s := range []string{
		`{"type":"text","text":"a","x":1}`, `{"type":"image","data":"aGk=","mimeType":"m"}`, `{"type":"resource","resource":{"uri":"u","blob":"aGk=","y":[]}}`,
		`{"type":"resource_link","uri":"u","name":"n","mimeType":""}`, `{"type":"other","text":{}}`, `{"type":"link"}`, `{"Type":"text","TEXT":"x"}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := ReadContent(text)
		if err != nil {
			return
		}
		out, err := WriteContent(c)
		if err != nil {
			t.Fatalf("%q as %+v: %v", text, c, err)
		}
		again, err := ReadContent(out)
		if err != nil {
			t.Fatalf("%q is written as %q: %v", text, out, err)
		}
		if !reflect.DeepEqual(plain(c), plain(again)) {
			t.Fatalf("%q is written as %q: %+v, %+v", text, out, c, again)
		}
		var before, after map[string]json.RawMessage
		if json.Unmarshal(text, &before) != nil || json.Unmarshal(out, &after) != nil {
			t.Fatalf("%q is written as %q", text, out)
		}
		for key := range before {
			if _, ok := after[key]; !ok && string(before[key]) != "null" && string(before[key]) != `""` {
				t.Fatalf("%q is written as %q: %q is lost", text, out, key)
			}
		}
	})
}

// plain is a piece with its other members decoded, which have no order.
func plain(c toolcrib.Content) [2]any {
	var more any
	if c.More != nil && json.Unmarshal(c.More, &more) != nil {
		more = "no JSON"
	}
	c.More = nil
	return [2]any{c, more}
}
