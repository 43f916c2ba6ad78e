package secrets

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"strings"
	"testing"
)

// TestBareKeys: a private key in base64 is found without the lines that PEM puts
// around it, in one line and in many, and what others may have is left.
func TestBareKeys(t *testing.T) {
	s := testScanner(t)
	private, public := map[string][]byte{}, map[string][]byte{}
	add := func(name string, key, pub any) {
		der, err := x509.MarshalPKCS8PrivateKey(key)
		if err != nil {
			t.Fatal(err)
		}
		private["PKCS #8 "+name] = der
		if public[name], err = x509.MarshalPKIXPublicKey(pub); err != nil {
			t.Fatal(err)
		}
		switch key := key.(type) {
		case *rsa.PrivateKey:
			private["PKCS #1 "+name] = x509.MarshalPKCS1PrivateKey(key)
			public["PKCS #1 "+name] = x509.MarshalPKCS1PublicKey(&key.PublicKey)
		case *ecdsa.PrivateKey:
			if private["SEC 1 "+name], err = x509.MarshalECPrivateKey(key); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, bits := range map[string]int{"RSA 1024": 1024, "RSA 2048": 2048} {
		key, err := rsa.GenerateKey(rand.Reader, bits)
		if err != nil {
			t.Fatal(err)
		}
		add(name, key, &key.PublicKey)
	}
	for name, curve := range map[string]elliptic.Curve{"P-256": elliptic.P256(), "P-384": elliptic.P384(), "P-521": elliptic.P521()} {
		key, err := ecdsa.GenerateKey(curve, rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		add(name, key, &key.PublicKey)
	}
	pub, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	add("Ed25519", key, pub)

	lines := func(text, end string) string {
		var b strings.Builder
		for len(text) > 64 {
			b.WriteString(text[:64] + end)
			text = text[64:]
		}
		return b.String() + text
	}
	for name, der := range private {
		text := base64.StdEncoding.EncodeToString(der)
		for _, around := range []string{"const k = %s;", "before\n%s\nafter the key", `{"a":"%s","b":1}`, "<k>%s</k>"} {
			for _, end := range []string{"", "\n", "\\n", "\n    "} {
				whole := strings.Replace(around, "%s", lines(text, end), 1)
				got := s.Strike(whole, nil)
				for at := 0; at+32 <= len(text); at += 32 {
					if at/64 == (at+31)/64 && strings.Contains(got, text[at:at+32]) {
						t.Errorf("%s, lines end with %q: bytes %d of the key are left in %q", name, end, at, got)
						break
					}
				}
				if before, after, _ := strings.Cut(around, "%s"); !strings.HasPrefix(got, before) || !strings.HasSuffix(got, after) {
					t.Errorf("%s, lines end with %q: too much is gone: %q", name, end, got)
				}
			}
		}
	}
	for name, der := range public {
		text := "const k = `" + lines(base64.StdEncoding.EncodeToString(der), "\n") + "`"
		if found := s.Find(text, nil); len(found) > 0 {
			t.Errorf("%s: %s takes %q of what others may have", name, found[0].Rule, text[found[0].Start:found[0].End])
		}
	}
}

// TestFrames: a frame that leaves out that the key is a private one.
func TestFrames(t *testing.T) {
	s := testScanner(t)
	for _, kind := range []string{"RSA", "DSA", "EC"} {
		body := base64.StdEncoding.EncodeToString([]byte(strings.Repeat(kind+"q7", 12)))
		for _, end := range []string{"\n", "\\n", ""} {
			text := "key: -----BEGIN " + kind + " KEY-----" + end + body + end + "-----END " + kind + " KEY-----, x"
			if got := s.Strike(text, nil); got != "key: "+Mark+", x" {
				t.Errorf("%q became %q", text, got)
			}
		}
	}
	if text := "-----BEGIN RSA KEY----- is what it begins with"; s.Strike(text, nil) != text {
		t.Errorf("%q became %q", text, s.Strike(text, nil))
	}
}
