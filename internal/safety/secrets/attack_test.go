package secrets

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib/internal/jsontext"
)

// The secrets below are made up; they are put together here so that no scanner
// takes this file for a leak.
func aToken() string { return "ghp_" + "R7mQ2vN9xK4pT8cW1zL6gH3sD5fJ0aB7nM2q" }

func pemKey(lines int) string {
	var b strings.Builder
	b.WriteString("-----BEGIN RSA " + "PRIVATE KEY-----\n")
	for i := range lines {
		b.WriteString(base64.StdEncoding.EncodeToString([]byte(fmt.Sprintf("%048d", i*7919+i))) + "\n")
	}
	b.WriteString("MIIEpAIBAA==\n-----END RSA " + "PRIVATE KEY-----\n")
	return b.String()
}

func escapeAll(s string) string {
	var b strings.Builder
	for i := range len(s) {
		fmt.Fprintf(&b, `\u%04x`, s[i])
	}
	return b.String()
}

// TestRedactAttacks: whatever form a secret takes in a JSON text, it is gone,
// what is around it stays, and it is JSON.
func TestRedactAttacks(t *testing.T) {
	s := testScanner(t)
	tok := aToken()
	body := base64.StdEncoding.EncodeToString([]byte(fmt.Sprintf("%048d", 7919+1)))
	lines := strings.Split(strings.TrimSpace(pemKey(3)), "\n")
	for _, tt := range []struct{ name, in, gone string }{
		{"plain", `{"keep":"this","a":"` + tok + `"}`, tok},
		{"escaped letters", `{"keep":"this","a":"` + escapeAll(tok) + `"}`, tok},
		{"escaped in the middle", `{"keep":"this","a":"` + strings.Replace(tok, "R", `\u0052`, 1) + `"}`, tok},
		{"as a key", `{"keep":"this","` + tok + `":1}`, tok},
		{"as an escaped key", `{"keep":"this","` + escapeAll(tok) + `":{"x":2}}`, tok},
		{"as two keys", `{"keep":"this","` + tok + `":1,"x":{"` + tok + `":2}}`, tok},
		{"in nested lists", `["keep","this",[[[["a","` + tok + `"]]]]]`, tok},
		{"within a text", `["keep this","the token is ` + tok + `, take it"]`, tok},
		{"base64", `{"keep":"this","a":"` + base64.StdEncoding.EncodeToString([]byte(`{"auth":"`+tok+`"}`)) + `"}`, base64.StdEncoding.EncodeToString([]byte(`{"auth":"` + tok + `"}`))},
		{"base64 for URLs", `{"keep":"this","a":"` + base64.RawURLEncoding.EncodeToString([]byte(`x?`+tok+` end`)) + `"}`, base64.RawURLEncoding.EncodeToString([]byte(`x?` + tok + ` end`))},
		{"JSON in JSON", `{"keep":"this","a":"{\"api_token\":\"` + tok + `\"}"}`, tok},
		{"JSON in JSON, escaped", `{"keep":"this","a":"{\"api_token\":\"` + strings.ReplaceAll(escapeAll(tok), `\`, `\\`) + `\"}"}`, "0067"},
		{"told by its key", `{"keep":"this","cloudflare_api_key":"` + "Bu0rrK-lerk6y0Suqo1q" + `SqlDDajOk61wZchCkje4"}`, "SqlDDajOk61wZchCkje4"},
		{"PEM", `{"keep":"this","k":` + string(jsontext.Quote(pemKey(3))) + `}`, body},
		{"PEM with escapes as letters", `{"keep":"this","k":` + string(jsontext.Quote(strings.ReplaceAll(pemKey(3), "\n", `\n`))) + `}`, body},
		{"PEM indented", `{"keep":"this","k":` + string(jsontext.Quote(strings.ReplaceAll(pemKey(3), "\n", "\n      "))) + `}`, body},
		{"PEM with line numbers", `{"keep":"this","k":` + string(jsontext.Quote(strings.ReplaceAll(pemKey(3), "\n", "\n   12\t"))) + `}`, body},
		{"PEM quoted in a mail", `{"keep":"this","k":` + string(jsontext.Quote(strings.ReplaceAll(pemKey(3), "\n", "\n> "))) + `}`, body},
		{"PEM cut off", `{"keep":"this","k":` + string(jsontext.Quote(strings.Join(lines[:4], "\n"))) + `}`, body},
		{"PEM as a list of lines", `{"keep":"this","k":` + string(marshal(t, lines)) + `}`, body},
		{"PEM in source code", `{"keep":"this","k":` + string(jsontext.Quote(`x := "`+strings.Join(lines, `\n" +`+"\n\t\"")+`"`)) + `}`, body},
	} {
		got := s.Redact(json.RawMessage(tt.in), nil)
		flat := flatten(got)
		if strings.Contains(string(got), tt.gone) || strings.Contains(flat, tt.gone) {
			t.Errorf("%s: it is still there: %s", tt.name, got)
		}
		if !json.Valid(got) || !strings.Contains(string(got), "keep") || !strings.Contains(string(got), "this") || !strings.Contains(string(got), Mark) {
			t.Errorf("%s: got %s", tt.name, got)
		}
		if again := s.Redact(got, nil); string(again) != string(got) {
			t.Errorf("%s: a second time it is %s", tt.name, again)
		}
	}
}

// TestOtherPrivateKeys: frames that are not those of PEM.
func TestOtherPrivateKeys(t *testing.T) {
	s := testScanner(t)
	body := base64.StdEncoding.EncodeToString([]byte(fmt.Sprintf("%048d", 7919+1)))
	for name, text := range map[string]string{
		"PuTTY": "PuTTY-User-Key-File-3: ssh-ed25519\nComment: me\nPublic-Lines: 1\nAAAAC3Nz\nPrivate-Lines: 2\n" + body + "\n" + body + "\nPrivate-MAC: 0a1b\n",
		"JWK":   `{"kty":"EC","crv":"P-256","x":"abc","d":"` + body + `"}`,
		"PGP":   "-----BEGIN PGP " + "PRIVATE KEY BLOCK-----\n\n" + body + "\n" + body + "\n-----END PGP " + "PRIVATE KEY BLOCK-----",
		"age":   "# key\nAGE-SECRET-" + "KEY-1" + strings.ToUpper(strings.TrimRight(body, "="))[:58] + "\n",
	} {
		got := s.Strike(text, nil)
		if strings.Contains(got, body) || strings.Contains(strings.ToUpper(got), strings.ToUpper(body[:40])) || !strings.Contains(got, Mark) {
			t.Errorf("%s: %s", name, got)
		}
		if name == "PuTTY" && (!strings.Contains(got, "Private-MAC") || !strings.Contains(got, "AAAAC3Nz")) {
			t.Errorf("too much of %s is gone: %s", name, got)
		}
	}
}

func TestNoKeyNoFinding(t *testing.T) {
	for _, text := range []string{
		"a line such as -----BEGIN RSA PRIVATE KEY----- begins a key",
		"-----BEGIN CERTIFICATE-----\nMIIEpAIBAAKCAQEAMIIEpAIBAAKCAQEAMIIEpAIBAAKCAQEA\n-----END CERTIFICATE-----",
		"if !strings.HasPrefix(s, \"-----BEGIN PRIVATE KEY-----\") || !strings.HasSuffix(s, \"-----END PRIVATE KEY-----\") {",
		"PRIVATE KEY", "-----BEGIN PRIVATE KEY-----",
	} {
		if got := findPEM(nil, text); len(got) > 0 {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// TestKnown: a known value never gets through, however it is written.
func TestKnown(t *testing.T) {
	s := testScanner(t)
	const value = "pa\"ss/wört +1"
	known := NewKnown([]string{value, "12345678", "abc"})
	enc := base64.StdEncoding
	for name, text := range map[string]string{
		"plain": "x" + value + "y", "query": url.QueryEscape(value), "path": url.PathEscape(value), "hex": "00" + hex.EncodeToString([]byte(value)) + "ff",
		"JSON": string(jsontext.Quote(value)), "base64": enc.EncodeToString([]byte(value)),
		"base64 1": enc.EncodeToString([]byte("u" + value + "tail")), "base64 2": enc.EncodeToString([]byte("us" + value + "tail")),
		"base64 user": enc.EncodeToString([]byte("user:" + value)),
	} {
		found := known.find(nil, text)
		if len(found) == 0 {
			t.Errorf("%s: not found in %q", name, text)
		}
		if got := s.Strike(text, known); strings.Contains(got, value) || !strings.Contains(got, Mark) {
			t.Errorf("%s: got %q", name, got)
		}
	}
	for in, want := range map[string]string{
		`{"n":12345678,"m":-1}`:  `{"n":"[redacted]","m":-1}`,
		`[123456789, 12]`:        `["[redacted]", 12]`,
		`{"12345678":"abc"}`:     `{"[redacted]":"abc"}`,
		`["a\"12345678\\"]`:      `["a\"[redacted]\\"]`,
		`["1234", "5678"]`:       `["1234", "5678"]`,
		`"\u0031\u00325345678x"`: `"\u0031\u00325345678x"`,
		`"\u0031\u0032345678x"`:  `"[redacted]x"`,
	} {
		if got := string(s.Redact(json.RawMessage(in), known)); got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
	if got := (*Known)(nil).find(nil, "text"); got != nil {
		t.Errorf("nothing known, and yet %v", got)
	}
}

func TestHits(t *testing.T) {
	s := testScanner(t)
	in := `{"headers":[{"a":1},{"Authorization":"Bearer ` + aToken() + `"}],"` + aToken() + `":{"deep":"` + aToken() + `"}}`
	paths := map[string]bool{}
	for _, h := range s.Hits(json.RawMessage(in), nil, "args") {
		paths[h.Path] = true
		if strings.Contains(h.Path, "ghp_") || h.Rule == "" {
			t.Errorf("a hit says too much or too little: %+v", h)
		}
	}
	if !paths["args.headers[1].Authorization"] || !paths["args"] {
		t.Errorf("got %v", paths)
	}
}
