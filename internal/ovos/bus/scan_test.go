package bus

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

func nested(open, inner, end string, n int) string {
	return strings.Repeat(open, n) + inner + strings.Repeat(end, n)
}

func TestCheckFrame(t *testing.T) {
	tests := []struct {
		name, frame, reason string // no reason: harmless
	}{
		{"greeting", Greeting, ""},
		{"no keys", `{}`, ""},
		{"space around", " {\"type\" : \"a\" ,\n\t\"data\": { } }\r\n", ""},
		{"type null", `{"type":null}`, ""},
		{"type a number", `{"type":5}`, ""},
		{"unknown keys", `{"ciphertext":"ab","tag":"cd","nonce":"ef"}`, ""},
		{"parts that are false", `{"data":null,"context":[ ]}`, ""},
		{"parts that are false too", `{"data":0.0,"context":""}`, ""},
		{"more of them", `{"data":false,"context":-0}`, ""},
		{"a big integer", `{"data":{"n":12345678901234567890123}}`, ""},
		{"duplicate keys", `{"data":{"a":1,"a":2},"type":"a","type":"b"}`, ""},
		{"a surrogate pair", `{"data":{"a":"\ud83d\ude00"}}`, ""},
		{"escapes", `{"data":{"a":"\"\\\/\b\f\n\r\t\u00e4\u0000"}}`, ""},
		{"numbers", `{"data":[],"x":[0,-0,1.5,1e5,1E+5,-1.0e-999,1e308]}`, ""},
		{"deep", `{"data":{"a":` + nested("[", "", "]", maxDepth-2) + `}}`, ""},
		{"session elsewhere", `{"session":null,"data":{"session":null}}`, ""},

		{"nothing", ``, "not a JSON object"},
		{"space", `  `, "not a JSON object"},
		{"text", `hello`, "not a JSON object"},
		{"array", `[1]`, "not a JSON object"},
		{"scalar", `"a"`, "not a JSON object"},
		{"byte order mark", "\ufeff{}", "not a JSON object"},
		{"half", `{"type":"a","data":{"b"`, "not JSON"},
		{"two", `{}{}`, "not JSON"},
		{"comma at the end", `{"type":"a",}`, "not JSON"},
		{"comma at the start", `{,"type":"a"}`, "not JSON"},
		{"no comma", `{"type":"a" "data":{}}`, "not JSON"},
		{"no colon", `{"type" "a"}`, "not JSON"},
		{"bare key", `{type:"a"}`, "not JSON"},
		{"NaN", `{"data":{"a":NaN}}`, "not JSON"},
		{"Infinity", `{"data":{"a":-Infinity}}`, "not JSON"},
		{"a word", `{"data":{"a":nul}}`, "not JSON"},
		{"leading zero", `{"data":{"a":01}}`, "not JSON"},
		{"no fraction", `{"data":{"a":1.}}`, "not JSON"},
		{"no exponent", `{"data":{"a":1e}}`, "not JSON"},
		{"a minus", `{"data":{"a":-}}`, "not JSON"},
		{"raw control character", "{\"data\":{\"a\":\"\n\"}}", "not JSON"},
		{"unknown escape", `{"data":{"a":"\x41"}}`, "not JSON"},
		{"short escape", `{"data":{"a":"\u12"}}`, "not JSON"},
		{"vertical tab", "{\v}", "not JSON"},
		{"infinite", `{"data":{"a":1e999}}`, "not finite"},
		{"infinite by digits", `{"data":{"a":` + strings.Repeat("9", 400) + `}}`, "not finite"},
		{"half a pair", `{"data":{"a":"\ud800"}}`, "surrogate"},
		{"half a pair as a key", `{"data":{"\ud800x":1}}`, "surrogate"},
		{"a pair reversed", `{"data":{"a":"\udc00\ud800"}}`, "surrogate"},
		{"two first halves", `{"type":"\uD83D\uD83D"}`, "surrogate"},
		{"surrogates as bytes", "{\"data\":{\"a\":\"\xed\xa0\x80\"}}", "UTF-8"},
		{"not UTF-8", "{\"type\":\"\xff\"}", "UTF-8"},
		{"data a list", `{"data":[1]}`, "data is not an object"},
		{"data a text", `{"data":"a"}`, "data is not an object"},
		{"data true", `{"data":true}`, "data is not an object"},
		{"data a number", `{"data":0.5}`, "data is not an object"},
		{"context a text", `{"context":"a"}`, "context is not an object"},
		{"session null", `{"context":{"session":null}}`, "session"},
		{"session a text", `{"context":{"a":1,"session":"a"}}`, "session"},
		{"session a list", `{"context":{"session":[]}}`, "session"},
		{"session hidden by an escape", `{"cont\u0065xt":{"s\u0065ssion":null}}`, "session"},
		{"session bad, then good", `{"context":{"session":null,"session":{}}}`, "session"},
		{"session bad in a second context", `{"context":{},"context":{"session":1}}`, "session"},
		{"too deep", `{"data":{"a":` + nested("[", "", "]", maxDepth-1) + `}}`, "too deeply"},
		{"far too deep", nested(`{"a":`, "1", "}", 1<<20), "too deeply"},
		{"unfinished and deep", strings.Repeat(`{"a":[`, 1<<20), "too deeply"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := CheckFrame([]byte(tt.frame))
			if tt.reason == "" {
				if err != nil {
					t.Fatalf("a harmless frame was refused: %v", err)
				}
				return
			}
			poison, ok := errors.AsType[*PoisonError](err)
			if !ok || !strings.Contains(poison.Reason, tt.reason) {
				t.Fatalf("got %v, want a reason with %q", err, tt.reason)
			}
		})
	}
}

func TestCheckValueIsStricter(t *testing.T) {
	for raw, ok := range map[string]bool{
		`{"n":18446744073709551615}`:    true,
		`{"n":-9223372036854775808}`:    true,
		`{"n":1e30}`:                    true,
		`{"n":18446744073709551616}`:    false,
		`{"n":-9223372036854775809}`:    false,
		`{"n":[100000000000000000000]}`: false,
		`{},"x":{}`:                     false,
		`{}}`:                           false,
		`[]`:                            false,
		`null`:                          false,
		``:                              false,
		"{}\n":                          true,
	} {
		if err := checkValue([]byte(raw), 1, true); (err == nil) != ok {
			t.Errorf("%s: got %v, want ok %v", raw, err, ok)
		}
	}
}

// TestScannerAgreesWithTheStandardLibrary is a seed of the fuzz target with
// the places where readers differ.
func TestScannerAgreesWithTheStandardLibrary(t *testing.T) {
	for _, inner := range []string{`1`, `-`, `1.0e+`, `"`, `"\`, `"\u`, `"\u00`, `"\u00e4"`, `[`, `[1`, `[1,`, `[,]`, `[1,]`, `{`, `{"a"`, `{"a":`, `{"a":1`, `{"a":1,`, `tru`, `truex`, `+1`, `.5`, `0x1`, `1_0`, `'a'`, `/**/1`, ``} {
		frame := []byte(`{"x":` + inner + `}`)
		if got, want := CheckFrame(frame) == nil, json.Valid(frame); got != want {
			t.Errorf("%s: harmless %v, valid %v", frame, got, want)
		}
	}
}
