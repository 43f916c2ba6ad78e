package bus

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type raws = map[string]json.RawMessage

func decode(t *testing.T, frame string) Message {
	t.Helper()
	m, err := Decode([]byte(frame))
	if err != nil {
		t.Fatalf("%s: %v", frame, err)
	}
	return m
}

func TestDecode(t *testing.T) {
	tests := []struct {
		name, frame string
		want        Message
	}{
		{"all parts", `{"type":"a.b","data":{"x":1},"context":{"source":"s","session":{"session_id":"z"}}}`,
			Message{"a.b", json.RawMessage(`{"x":1}`), raws{"source": json.RawMessage(`"s"`), "session": json.RawMessage(`{"session_id":"z"}`)}}},
		{"other order and space", "{ \"context\" : { \"a\" : [ 1 ] } , \"data\" : { } , \"type\" : \"a\" }",
			Message{"a", json.RawMessage(`{ }`), raws{"a": json.RawMessage(`[ 1 ]`)}}},
		{"nothing", `{}`, Message{"", json.RawMessage(`{}`), raws{}}},
		{"parts that are false", `{"type":null,"data":null,"context":[]}`, Message{"", json.RawMessage(`{}`), raws{}}},
		{"greeting without a type", `{"msg_type":"connected"}`, Message{"", json.RawMessage(`{}`), raws{}}},
		{"the last one counts", `{"type":"a","type":"b","data":{"x":1},"data":{}}`, Message{"b", json.RawMessage(`{}`), raws{}}},
		{"escaped type", `{"type":"\u00e4\"\n"}`, Message{"ä\"\n", json.RawMessage(`{}`), raws{}}},
		{"half a pair is mended", `{"type":"t","data":{"a":"\udcff.txt"}}`, Message{"t", json.RawMessage(`{"a":"\ufffd.txt"}`), raws{}}},
		{"session null is readable", `{"type":"t","context":{"session":null}}`, Message{"t", json.RawMessage(`{}`), raws{"session": json.RawMessage("null")}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			frame := []byte(tt.frame)
			m, err := Decode(frame)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, m); diff != "" {
				t.Error(diff)
			}
			if string(frame) != tt.frame {
				t.Error("the caller's frame was changed")
			}
		})
	}
	for _, frame := range []string{`[1]`, `{"data":[1]}`, `{"context":"x"}`, `{"data":{"a":NaN}}`, "\xff", ``} {
		if _, err := Decode([]byte(frame)); err == nil {
			t.Errorf("%s was decoded", frame)
		}
	}
}

func TestEncode(t *testing.T) {
	tests := []struct {
		name    string
		message Message
		want    string
	}{
		{"empty parts", Message{Type: "a"}, `{"type":"a","data":{},"context":{"session":{"session_id":"default"}}}`},
		{"all parts", Message{"ä\"<", json.RawMessage(`{"x":"日本"}`), raws{"z": json.RawMessage("1"), "a\n": json.RawMessage("[]"), "session": json.RawMessage(`{"session_id":"s","k":1}`)}},
			`{"type":"ä\"<","data":{"x":"日本"},"context":{"session":{"session_id":"s","k":1},"a\n":[],"z":1}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			frame, err := tt.message.Encode()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(frame)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestEncodeRefuses(t *testing.T) {
	data := func(raw string) Message { return Message{Type: "t", Data: json.RawMessage(raw)} }
	context := func(key, raw string) Message {
		return Message{Type: "t", Context: raws{key: json.RawMessage(raw)}}
	}
	for _, tt := range []struct {
		name string
		m    Message
		want string
	}{
		{"no type", Message{}, "type is empty"},
		{"type not UTF-8", Message{Type: "\xff"}, "type is not UTF-8"},
		{"data null", data("null"), "not an object"},
		{"data a list", data("[]"), "not an object"},
		{"NaN", data(`{"a":NaN}`), "not JSON"},
		{"infinite", data(`{"a":1e999}`), "not finite"},
		{"half a pair", data(`{"a":"\ud800"}`), "surrogate"},
		{"big integer", data(`{"a":18446744073709551616}`), "64 bits"},
		{"a way out of data", data(`{},"extra":{}`), "after the end"},
		{"a way out of the frame", data(`{}}`), "after the end"},
		{"too deep", data(nested(`{"a":`, "1", "}", maxDepth)), "deeply"},
		{"context value empty", context("a", ""), "context.a"},
		{"a way out of the context", context("a", `1},"extra":{"b":1`), "after the end"},
		{"context key not UTF-8", context("\xff", "1"), "not UTF-8"},
		{"big integer in the context", context("a", `[99999999999999999999]`), "64 bits"},
		{"session null", context("session", "null"), "context.session"},
		{"session a text", context("session", `"default"`), "context.session"},
		{"session nil", context("session", ""), "context.session"},
		{"session without id", context("session", `{"lang":"en"}`), "session_id"},
		{"session id in another case", context("session", `{"SESSION_ID":"a"}`), "session_id"},
		{"session id a number", context("session", `{"session_id":5}`), "session_id"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if frame, err := tt.m.Encode(); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %q, %v, want an error with %q", frame, err, tt.want)
			}
		})
	}
}

func TestReply(t *testing.T) {
	tests := []struct {
		name, from, context, want string
	}{
		{"an id, a source", "me", `{"source":"A","destination":"B"}`, `{"source":"me","destination":"A"}`},
		{"an id, only a source", "me", `{"source":"A"}`, `{"source":"me","destination":"A"}`},
		{"an id, only a destination", "me", `{"destination":"B"}`, `{"source":"me"}`},
		{"an id, a list as source", "me", `{"source":["A","B"]}`, `{"source":"me","destination":["A","B"]}`},
		{"an id, a source that is null", "me", `{"source":null,"destination":"B"}`, `{"source":"me"}`},
		{"no id, both", "", `{"source":"A","destination":["B","C"]}`, `{"source":["B","C"],"destination":"A"}`},
		{"no id, only a source", "", `{"source":"A"}`, `{"source":"A"}`},
		{"no id, only a destination", "", `{"destination":"B"}`, `{"destination":"B"}`},
		{"other keys", "", `{"foo":{"x":1},"toolcrib_request":"7"}`, `{"foo":{"x":1},"toolcrib_request":"7"}`},
		{"what may not be written is left out", "", `{"n":100000000000000000000,"m":1}`, `{"m":1}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := decode(t, `{"type":"q","data":{"destination":"nowhere"},"context":`+tt.context+`}`)
			before := len(m.Context)
			reply := m.Response(tt.from, json.RawMessage(`{"destination":"X"}`))
			if reply.Type != "q.response" {
				t.Errorf("type %q", reply.Type)
			}
			frame, err := reply.Encode()
			if err != nil {
				t.Fatal(err)
			}
			var got, want struct{ Context map[string]any }
			if err := json.Unmarshal(frame, &got); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal([]byte(`{"context":`+tt.want+`}`), &want); err != nil {
				t.Fatal(err)
			}
			want.Context["session"] = map[string]any{"session_id": "default"}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
			if len(m.Context) != before {
				t.Error("the request was changed")
			}
		})
	}
}

func TestSessionOfReplies(t *testing.T) {
	for session, want := range map[string]string{
		`{"session_id":"s","lang":null}`: `{"session_id":"s","lang":null}`,
		`{}`:                             `{"session_id":"default"}`,
		`{"lang":"de"}`:                  `{"lang":"de","session_id":"default"}`,
		`{"session_id":4,"lang":"de"}`:   `{"lang":"de","session_id":"default"}`,
		`null`:                           `{"session_id":"default"}`,
		`"default"`:                      `{"session_id":"default"}`,
		`[1]`:                            `{"session_id":"default"}`,
		`{"n":100000000000000000000}`:    `{"session_id":"default"}`,
	} {
		m := decode(t, `{"type":"q","context":{"session":`+session+`}}`)
		for _, derived := range []Message{m.Forward("x", nil), m.Reply("me", "x", nil)} {
			if got := string(derived.Context["session"]); got != want {
				t.Errorf("%s became %s, want %s", session, got, want)
			}
		}
	}
}

func TestSessionID(t *testing.T) {
	for _, tt := range []struct{ session, want string }{
		{`{"session_id":"s"}`, "s"},
		{` { "a" : 1, "session_id" : "s" }`, "s"},
		{`{}`, "default"},
		{`null`, "default"},
		{``, "default"},
		{`{"Session_Id":"s"}`, "default"},
		{`{"session_id`, "default"},
	} {
		m := Message{Context: raws{"session": json.RawMessage(tt.session)}}
		if got := m.SessionID(); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.session, got, tt.want)
		}
	}
	if got := (Message{}).SessionID(); got != "default" {
		t.Errorf("without a context: %q", got)
	}
}

func TestForwardKeepsTheContext(t *testing.T) {
	m := decode(t, `{"type":"q","data":{"a":1},"context":{"source":"A","destination":"B","session":{"session_id":"s"}}}`)
	got := m.Forward("other", json.RawMessage(`{"b":2}`))
	want := Message{Type: "other", Data: json.RawMessage(`{"b":2}`), Context: m.Context}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	got.Context["source"] = json.RawMessage(`"C"`)
	if m.Text("source") != "A" {
		t.Error("the forwarded message shares its context with the first")
	}
}

func TestNewMessage(t *testing.T) {
	m, err := NewMessage("t", struct {
		A string `json:"a"`
	}{"<b>\xff"})
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"a":"<b>` + `\ufffd"}`; string(m.Data) != want {
		t.Errorf("got %s, want %s", m.Data, want)
	}
	if m, err := NewMessage("t", nil); err != nil || string(m.Data) != "{}" {
		t.Errorf("nil: got %s, %v", m.Data, err)
	}
	for name, value := range map[string]any{
		"a list": []int{1}, "a text": "a", "NaN": map[string]any{"a": math.NaN()}, "a function": map[string]any{"f": func() {}},
		"a big integer": map[string]json.Number{"n": "18446744073709551616"}, "half a pair": raws{"s": json.RawMessage(`"\ud800"`)},
	} {
		if m, err := NewMessage("t", value); err == nil {
			t.Errorf("%s: made %s", name, m.Data)
		}
	}
}
