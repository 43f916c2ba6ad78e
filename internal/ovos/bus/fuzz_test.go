package bus

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// harmless is a second opinion on a frame of ours, built on encoding/json and
// nothing of the scanner: exactly three keys, parts and session objects,
// integers of 64 bits, finite numbers, whole surrogate pairs.
func harmless(t interface{ Errorf(string, ...any) }, frame []byte) {
	if !utf8.Valid(frame) || !json.Valid(frame) {
		t.Errorf("not JSON in UTF-8: %q", frame)
		return
	}
	dec := json.NewDecoder(bytes.NewReader(frame))
	dec.UseNumber()
	var top map[string]any
	if err := dec.Decode(&top); err != nil {
		t.Errorf("%q: %v", frame, err)
		return
	}
	_, typed := top["type"].(string)
	_, data := top["data"].(map[string]any)
	context, ok := top["context"].(map[string]any)
	if !typed || !data || !ok || len(top) != 3 {
		t.Errorf("not an envelope: %q", frame)
		return
	}
	session, ok := context["session"].(map[string]any)
	if _, id := session["session_id"].(string); !ok || !id {
		t.Errorf("not a session: %q", frame)
	}
	numbers(t, top)
	pairs(t, frame)
}

func numbers(t interface{ Errorf(string, ...any) }, value any) {
	switch v := value.(type) {
	case map[string]any:
		for _, inner := range v {
			numbers(t, inner)
		}
	case []any:
		for _, inner := range v {
			numbers(t, inner)
		}
	case json.Number:
		f, _ := strconv.ParseFloat(v.String(), 64)
		_, intErr := strconv.ParseInt(v.String(), 10, 64)
		_, uintErr := strconv.ParseUint(v.String(), 10, 64)
		if math.IsInf(f, 0) || intErr != nil && uintErr != nil && !strings.ContainsAny(v.String(), ".eE") {
			t.Errorf("number %s", v)
		}
	}
}

// pairs walks over the escapes of a valid text.
func pairs(t interface{ Errorf(string, ...any) }, frame []byte) {
	high := false
	for i := 0; i < len(frame); i++ {
		if frame[i] != '\\' || frame[i+1] != 'u' {
			if high {
				t.Errorf("half a pair in %q", frame)
				return
			}
			if frame[i] == '\\' {
				i++
			}
			continue
		}
		r, err := strconv.ParseUint(string(frame[i+2:i+6]), 16, 32)
		low := r >= 0xDC00 && r <= 0xDFFF
		if err != nil || low != high {
			t.Errorf("half a pair in %q", frame)
			return
		}
		high = r >= 0xD800 && r < 0xDC00
		i += 5
	}
}

func seeds(f *testing.F) {
	for _, s := range []string{
		Greeting, `{}`, `[1]`, `{"type":null,"data":null,"context":null}`, `{"context":{"session":null}}`,
		`{"type":"a","data":{"n":NaN}}`, `{"type":"\ud800"}`, `{"type":"a","data":{"\udc00\ud83d\ude00":"\ud83d\u0041"}}`,
		`{"type":"a","context":{"n":123456789012345678901234567890,"session":{"session_id":5}}}`,
		`{"type":"a","context":{"source":"A","destination":["B"],"s\u0065ssion":{"x":1e400}}}`, "{\"type\":\"\xff\"}",
		`{"type":"a","context":{"session":{"session_id":"a"},"session":[]}}`, `{"data":{"a":[[[{}]]]},"type":"x"} `,
	} {
		f.Add([]byte(s))
	}
}

// FuzzDecode: nothing crashes the decoder; what it and the check say agrees
// with the standard library; and to whatever can be read there is an answer
// that may be written.
func FuzzDecode(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, frame []byte) {
		kept := bytes.Clone(frame)
		m, err := Decode(frame)
		checked := CheckFrame(frame)
		if !bytes.Equal(frame, kept) {
			t.Fatal("the frame was changed")
		}
		if checked == nil {
			if !json.Valid(frame) {
				t.Errorf("not JSON, but passed on: %q", frame)
			}
			if err != nil {
				t.Errorf("passed on, but not readable: %q: %v", frame, err)
			}
			pairs(t, frame)
		}
		if err != nil {
			return
		}
		for _, reply := range []Message{m.Response("me", m.Data), m.Forward("x", nil), m.Reply("", "x", nil)} {
			out, err := reply.Encode()
			if err != nil {
				if checkValue(reply.Data, 1, true) == nil || len(reply.Data) == 0 {
					t.Errorf("no answer to %q: %v", frame, err)
				}
				continue
			}
			harmless(t, out)
		}
	})
}

// FuzzEncode: whatever pieces a message is made of, what comes out is
// harmless, or nothing comes out.
func FuzzEncode(f *testing.F) {
	f.Add("t", []byte(`{}`), "key", []byte(`1`), []byte(`{"session_id":"a"}`))
	f.Add("t", []byte(`{},"x":1`), "session", []byte(`null`), []byte(`{}`))
	f.Add("\xff", []byte(`{"a":"\ud800"}`), "\xff", []byte(`1},"x":{"a":1`), []byte(`{"session_id":"\ud800"}`))
	f.Add("t", []byte(`{"a":1e999}`), "a", []byte(`18446744073709551616`), []byte(`null`))
	f.Add("", []byte(``), "", []byte(``), []byte(``))
	f.Fuzz(func(t *testing.T, typ string, data []byte, key string, value, session []byte) {
		m := Message{Type: typ, Data: data, Context: raws{"session": session, key: value}}
		frame, err := m.Encode()
		if err != nil {
			return
		}
		harmless(t, frame)
		if err := CheckFrame(frame); err != nil {
			t.Errorf("%q: %v", frame, err)
		}
		back, err := Decode(frame)
		if err != nil || back.Type != typ {
			t.Errorf("%q came back as %+v, %v", frame, back, err)
		}
	})
}

// TestRoundTrip: a message that may be written comes back as it was.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.Custom(func(t *rapid.T) json.RawMessage {
			raw, err := json.Marshal(rapid.OneOf(rapid.String().AsAny(), rapid.Int64().AsAny(), rapid.Float64Range(-1e18, 1e18).AsAny(), rapid.Bool().AsAny(), // Go writes larger floats as integers that may not be written
				rapid.SliceOfN(rapid.String(), 0, 3).AsAny(), rapid.MapOfN(rapid.String(), rapid.Uint64(), 0, 3).AsAny()).Draw(t, "value"))
			if err != nil {
				t.Fatal(err)
			}
			return raw
		})
		m := Message{Type: rapid.StringN(1, 20, -1).Draw(t, "type"), Context: rapid.MapOfN(rapid.String(), value, 0, 4).Draw(t, "context")}
		data, err := Object(rapid.MapOfN(rapid.String(), value, 0, 4).Draw(t, "data"))
		if err != nil {
			t.Fatal(err)
		}
		m.Data = data
		m.Context["session"] = newSession(rapid.StringN(1, 9, -1).Draw(t, "session"))
		frame, err := m.Encode()
		if err != nil {
			t.Fatal(err)
		}
		harmless(t, frame)
		back, err := Decode(frame)
		if err != nil {
			t.Fatal(err)
		}
		if back.Type != m.Type || !bytes.Equal(back.Data, m.Data) || len(back.Context) != len(m.Context) {
			t.Fatalf("%s came back as %+v", frame, back)
		}
		for key, raw := range m.Context {
			if !bytes.Equal(raw, back.Context[key]) {
				t.Fatalf("context %q: %s came back as %s", key, raw, back.Context[key])
			}
		}
	})
}
