package toolcrib

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestRedact(t *testing.T) {
	pem := "-----BEGIN RSA PRIVATE KEY-----\\nMIIE\\n-----END RSA PRIVATE KEY-----"
	for _, tt := range []struct{ name, in, want string }{
		{"nothing", `{"a":"b","n":[1,2]}`, `{"a":"b","n":[1,2]}`},
		{"key", `{"password":"x"}`, `{"password":"[redacted]"}`},
		{"key spelt otherwise", `{"API-Key":"x","apiKey":"y","db_password":"z"}`, `{"API-Key":"[redacted]","apiKey":"[redacted]","db_password":"[redacted]"}`},
		{"escaped key", `{"pass\u0077ord":"x"}`, `{"pass\u0077ord":"[redacted]"}`},
		{"number", `{"token":12345,"b":1}`, `{"token":"[redacted]","b":1}`},
		{"object", `{"secret":{"a":["x",{"b":"}"}]},"c":2}`, `{"secret":"[redacted]","c":2}`},
		{"list", `{"credentials":["a","b"],"c":2}`, `{"credentials":"[redacted]","c":2}`},
		{"last in object", `{"o":{"token":null}}`, `{"o":{"token":"[redacted]"}}`},
		{"spaces", "{ \"token\" :\n true , \"b\" : 1 }", "{ \"token\" :\n \"[redacted]\", \"b\" : 1 }"},
		{"not a token", `{"max_tokens":5}`, `{"max_tokens":5}`},
		{"by look", `{"text":"ghp_abcdefghijklmnopqrstuvwxyz0123456789"}`, `{"text":"[redacted]"}`},
		{"pem", `["` + pem + `"]`, `["[redacted]"]`},
		{"escaped look", `["\u0067hp_abcdefghijklmnopqrstuvwxyz"]`, `["[redacted]"]`},
		{"prose", `{"text":"Basic authentication is described below, at length"}`, `{"text":"Basic authentication is described below, at length"}`},
		{"key as value", `["password","x"]`, `["password","x"]`},
		{"quote in string", `{"a":"say \"token\": 5","b":1}`, `{"a":"say \"token\": 5","b":1}`},
	} {
		got := string(redact([]byte(tt.in)))
		if got != tt.want {
			t.Errorf("%s: redact(%s)\n got %s\nwant %s", tt.name, tt.in, got, tt.want)
		}
		if !json.Valid([]byte(got)) {
			t.Errorf("%s: %s is not JSON", tt.name, got)
		}
	}
}

func FuzzRedact(f *testing.F) {
	f.Add(`{"token":{"a":[1,"]"]},"b":"\\"}`)
	f.Add(`[{"password":1},{"x":"sk-aaaaaaaaaaaaaaaaaaaa"}]`)
	f.Fuzz(func(t *testing.T, text string) {
		if !json.Valid([]byte(text)) {
			return
		}
		got := redact([]byte(text))
		if !json.Valid(got) {
			t.Fatalf("redact(%q) = %q is not JSON", text, got)
		}
		if again := redact(got); string(again) != string(got) {
			t.Fatalf("not stable: %q then %q", got, again)
		}
		// A planted secret must never survive, wherever the text puts it.
		planted := []byte(`{"in":` + text + `,"api_key":"PLANTED","list":[{"password":"PLANTED"}]}`)
		if strings.Contains(string(redact(planted)), "PLANTED") && !strings.Contains(text, "PLANTED") {
			t.Fatalf("a secret survived: %q", redact(planted))
		}
	})
}
