package secrets

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib/internal/jsontext"
)

// FuzzRedact: whatever goes in, places are in the text, JSON stays JSON, and
// known values do not survive.
func FuzzRedact(f *testing.F) {
	s := testScanner(f)
	known := NewKnown([]string{"hunter2-hunter2", "12345678", "q\"u\\o\nte"})
	for _, seed := range []string{
		`{"a":"hunter2-hunter2","b":[12345678,{"q\"u\\o\nte":null}]}`, "plain hunter2-hunter2 text", `"\u0068unter2-hunter2"`,
		`["` + aToken() + `","` + escapeAll(aToken()) + `"]`, string(jsontext.Quote(pemKey(2))), "api_key = \"x\\\"y", `"aHVudGVyMi1odW50ZXIy"`, "\xff\xfe\"", `{"":""}`,
		"kind: Secret\n---kind: Secret\ndata:\n  a: aHVudGVyMg==\n---\nkind: Secret\n", "net user a b /add\nnet use z: \\\\x y /user:z", "ConvertTo-SecureString 'x", "Uid=a; Pwd=bcd;", "token-0a1b2c3d4e5f60718293a4b5 | 0a1b2c3d4e5f60718293a4b5", "username='a' password='bcde'",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		last := 0
		for _, found := range s.Find(text, known) {
			if found.Start < last || found.End <= found.Start || found.End > len(text) || found.Rule == "" {
				t.Fatalf("%+v after %d in a text of %d bytes", found, last, len(text))
			}
			last = found.End
		}
		if struck := s.Strike(text, known); strings.Contains(struck, "hunter2-hunter2") || strings.Contains(struck, "12345678") {
			t.Fatalf("a known value is still in %q", struck)
		}
		if !json.Valid([]byte(text)) {
			return
		}
		out := s.Redact(json.RawMessage(text), known)
		if !json.Valid(out) {
			t.Fatalf("%q became %q", text, out)
		}
		flat := flatten(out)
		if strings.Contains(flat, "hunter2-hunter2") || strings.Contains(flat, "12345678") {
			t.Fatalf("a known value is still in %s", out)
		}
		for _, h := range s.Hits(json.RawMessage(text), known, "args") {
			if h.Path == "" || h.Rule == "" || strings.Contains(h.Path, "12345678") {
				t.Fatalf("hit %+v", h)
			}
		}
	})
}

// FuzzPlaces: every look around a place ends within the text, whatever stands at
// the place: cookies, keysets of Tink, what is used if a setting is missing, tokens
// that begin with the name of their kind, and the places of sure.go and place.go.
func FuzzPlaces(f *testing.F) {
	s := testScanner(f)
	for _, seed := range []string{
		"Cookie: sid=abc123def; theme=dark", "cookie=\"a=b", "Set-Cookie: session=\\\"x\\\"; Path=/", "cookie: %=;=;=",
		"type.googleapis.com/google.crypto.tink.AesGcmKey value EhYSAggQGhDWzHIvfSnRr5S1", "value:\"google.crypto.tink.", "google.crypto.tink.google.crypto.tink.public",
		"password = getenv('X', 'hunter22')", "token = os.environ.get(\"X\") or \"abc123\"", "secret = config(", "api_key = env[x] ??", "PASSWORD=${PASSWORD:-", "x=${TOKEN:=y}",
		"MIIEowIBAAKCAQEA0a1b\n  c2d3", "MIGkAgEBBD", "-----BEGIN RSA KEY-----\nab", "passwords: [\"a\", 'bcdef'", "tokens:\n  - a\n  - \"b", "<key>password</key> <value>x", "<key>token</key", "Password:\n  Type: String\n  Default: ", "SECRET_KEY=a&b;c<d=1", "getConnection(a, \"b\", \"c", "cookieParser('", "sqlplus a/b@", "redis-cli -a ", "smbclient -U a%", "lftp -u a,", "rabbitmqctl add_user a ", "echo a | sudo -S", "a:b@tcp(", "password := []byte(\"", "enable password a1b2c3", "x password: a1b2c3", "<Pass a=\"b\">c", "# secret\naB3dE5gH7jK9mN1pQ3sT5v\n", "x = \"aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3fG5hJ7\"", "https://a:x-oauth-basic@b", "<token>\n" + filled("aB3", 48) + "\n" + filled("cD4", 48),
		"abc_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6", "abc-____________________________________", "vapid LieO7JztGnRv11UxRNJlBkdoK97ePceW7rGXQh36c_4",
		"[a]\npassword = letmein\n", "#define PASSWORD \"x\"", "char password[", "char password[9] = \"", "Password { get; set; } = \"x", "\"x\" == password", "\" != secret", "password.equals(\"x", "<password> x </password>", "//h/:_password=", "_auth=", ".dockercfg: e",
	} {
		f.Add(seed, uint8(0))
		f.Add(seed, uint8(len(seed)/2))
	}
	f.Fuzz(func(t *testing.T, text string, cut uint8) {
		whole := s.Find(text, nil)
		for _, found := range whole {
			if found.Start < 0 || found.End <= found.Start || found.End > len(text) {
				t.Fatalf("%+v in a text of %d bytes", found, len(text))
			}
		}
		// The end of a text is met at every place of a look.
		s.Find(text[:min(len(text), int(cut))], nil)
		s.Find(text[min(len(text), int(cut)):], nil)
		h := textScan{Scanner: s, text: text}
		for i := 0; i < len(text); i += 1 + len(text)/64 {
			id := identAround(text, i, min(len(text), i+1))
			h.cookies(id)
			h.tink(i, min(len(text), i+1))
			h.vapid(i)
			h.shellDefault(id)
			h.skipDeclaration(i)
			h.inSection(i)
			h.lineOfItsOwn(id, i)
			h.comparedBefore(id)
			if at := h.fallback(i); at < i || at > len(text) {
				t.Fatalf("the fallback of %d is at %d of %d", i, at, len(text))
			}
			prefixed(text, i, len(text))
		}
	})
}

// FuzzTables: whatever stands in a table, reading it ends with an error or with
// forms that can be looked for.
func FuzzTables(f *testing.F) {
	f.Add("a-key ab{w3-5}(c|d){U}x\n!b-key zz{d2}", "{w4} name other?\n  third")
	f.Add("a b{", "{q1} x")
	f.Fuzz(func(_ *testing.T, forms, providers string) {
		if len(forms)+len(providers) > 2000 {
			return
		}
		if s, err := newScanner(forms, providers); err == nil {
			s.Find("name = ab123c1234 zz11 "+forms, nil)
		}
	})
}
