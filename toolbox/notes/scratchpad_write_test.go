package notes

import (
	"fmt"
	"strings"
	"testing"
)

func TestScratchpad(t *testing.T) {
	b := open(t, newShelf())
	for _, c := range []struct {
		tool       string
		in         fields
		want, fail string
	}{
		{tool: "scratchpad_read", in: fields{}, want: `{}`},
		{tool: "scratchpad_read", in: fields{"key": "x"}, fail: "the scratchpad of this session is empty"},
		{tool: "scratchpad_write", in: fields{"key": " plan ", "value": "one"}, want: `{"key":"plan","keys":1}`},
		{tool: "scratchpad_write", in: fields{"key": "plan", "value": "two"}, want: `{"key":"plan","keys":1}`},
		{tool: "scratchpad_read", in: fields{"key": "plan"}, want: `{"key":"plan","value":"two"}`},
		{tool: "scratchpad_read", in: fields{"key": "paln"}, fail: `did you mean "plan"?`},
		{tool: "scratchpad_write", in: fields{"key": "big", "value": strings.Repeat("ä", MaxValue+1)}, fail: "nothing was written"},
		{tool: "scratchpad_write", in: fields{"key": "big", "value": strings.Repeat("ä", MaxValue)}, want: `{"key":"big","keys":2}`},
		{tool: "scratchpad_read", in: fields{}, want: `{"keys":["big","plan"]}`},
		{tool: "scratchpad_write", in: fields{"key": " ", "value": "x"}, fail: "the key has no letters"},
		{tool: "scratchpad_write", in: fields{"key": "big", "value": "x", "remove": true}, fail: "which of the two"},
		{tool: "scratchpad_write", in: fields{"key": "bog", "remove": true}, fail: `did you mean "big"?`},
		{tool: "scratchpad_write", in: fields{"key": "big", "remove": true}, want: `{"key":"big","keys":1}`},
		{tool: "read_notes", in: fields{"part": "scratchpad", "key": "plan"}, want: `{"text":"two"}`},
		{tool: "read_notes", in: fields{"part": "scratchpad", "key": "gone"}, fail: "there is no key"},
		{tool: "read_notes", in: fields{"part": "todos"}, want: `{"text":"No tasks.\n"}`},
	} {
		got, err := do(t, b, "s", c.tool, c.in)
		if got != c.want || c.fail != "" && (err == nil || !strings.Contains(err.Error(), c.fail)) || c.fail == "" && err != nil {
			t.Errorf("%s %.60v: %s, %v", c.tool, c.in, got, err)
		}
	}
	for i := range MaxKeys - 1 {
		if _, err := do(t, b, "s", "scratchpad_write", fields{"key": fmt.Sprint("k", i), "value": ""}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := do(t, b, "s", "scratchpad_write", fields{"key": "one more", "value": ""}); err == nil || !strings.Contains(err.Error(), "no room for another") {
		t.Errorf("a 51st key: %v", err)
	}
	if got, err := do(t, b, "other", "scratchpad_read", fields{}); got != "{}" || err != nil {
		t.Errorf("another session reads %s, %v", got, err)
	}
}
