package release

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha512"
	"encoding/base64"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func testdata(t testing.TB, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestMinisign: what minisign 0.11 made is read, and what it made in its other form
// is refused.
func TestMinisign(t *testing.T) {
	key, err := ParseKey(testdata(t, "genuine.pub"))
	if err != nil {
		t.Fatal(err)
	}
	text := testdata(t, "text")
	comment, err := Verify(key, text, testdata(t, "text.minisig"))
	if err != nil || comment != "a trusted comment" {
		t.Errorf("%q, %v", comment, err)
	}
	if _, err := Verify(key, text, testdata(t, "text.hashed.minisig")); err == nil || !strings.Contains(err.Error(), "without a digest") {
		t.Error(err)
	}
	secret, err := ParseSecret(testdata(t, "genuine.key"))
	if err != nil || !secret.Public().Equal(key) {
		t.Fatal(err)
	}
	// ed25519 gives one signature for one text: ours is theirs.
	signed, err := Sign(secret, text, "a trusted comment")
	theirs := strings.Split(string(testdata(t, "text.minisig")), "\n")
	ours := strings.Split(string(signed), "\n")
	if err != nil || ours[1] != theirs[1] || ours[3] != theirs[3] {
		t.Errorf("%v\n%s", err, signed)
	}
	again, err := ParseKey(key.File())
	if err != nil || !again.Equal(key) {
		t.Error(err)
	}
	kept, err := ParseSecret(secret.File())
	if err != nil || !kept.Public().Equal(key) {
		t.Error(err)
	}
}

func TestTrusted(t *testing.T) {
	if _, err := Trusted(); err != nil {
		t.Error(err)
	}
}

func newSecret(t testing.TB) Secret {
	t.Helper()
	s, err := NewSecret()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestVerifyRefuses: every change of the text, the signature or the key is seen.
func TestVerifyRefuses(t *testing.T) {
	secret, other := newSecret(t), newSecret(t)
	text := []byte("a list\n")
	good, err := Sign(secret, text, "toolcrib v1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Verify(secret.Public(), text, good); err != nil {
		t.Fatal(err)
	}
	// Another key that says it has the same number.
	forged := other
	forged.number = secret.number
	bad, err := Sign(forged, text, "toolcrib v1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	ofOther, err := Sign(secret, []byte("another list\n"), "toolcrib v1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	swapped := bytes.Replace(good, []byte("v1.2.3"), []byte("v9.9.9"), 1)
	for name, signature := range map[string][]byte{"forged": bad, "of another text": ofOther, "comment": swapped, "empty": nil, "one line": []byte("x\n"), "more lines": append(bytes.Clone(good), "x\n"...), "long": bytes.Repeat([]byte("x\n"), 4000)} {
		if _, err := Verify(secret.Public(), text, signature); err == nil {
			t.Errorf("%s: it was taken", name)
		}
	}
	if _, err := Verify(other.Public(), text, good); err == nil || !strings.Contains(err.Error(), "another key") {
		t.Error(err)
	}
	if _, err := Verify(secret.Public(), []byte("a list \n"), good); err == nil {
		t.Error("another text was taken")
	}
	if _, err := Verify(Key{number: secret.number}, text, good); err == nil {
		t.Error("a key that is none was taken")
	}
	if _, err := Sign(secret, text, "two\nlines"); err == nil {
		t.Error("a comment of two lines")
	}
	for i := range good { // no byte of it is free but those of the first line
		changed := bytes.Clone(good)
		changed[i] ^= 1
		if _, err := Verify(secret.Public(), text, changed); err == nil && i > bytes.IndexByte(good, '\n') {
			t.Errorf("byte %d was changed", i)
		}
	}
}

func TestSecretRefuses(t *testing.T) {
	raw, err := payload(newSecret(t).File(), secretLength)
	if err != nil {
		t.Fatal(err)
	}
	write := func(change func([]byte)) []byte {
		b := bytes.Clone(raw)
		change(b)
		return []byte(base64.StdEncoding.EncodeToString(b))
	}
	for name, file := range map[string][]byte{
		"a password": write(func(b []byte) { copy(b[2:], "Sc") }),
		"halves":     write(func(b []byte) { b[len(b)-40] ^= 1 }),
		"short":      []byte("RWQ="),
		"nothing":    nil,
	} {
		if _, err := ParseSecret(file); err == nil {
			t.Errorf("%s: it was taken", name)
		}
	}
}

// TestSSH: the signature has the parts that the protocol of ssh-keygen names.
func TestSSH(t *testing.T) {
	secret, text := newSecret(t), []byte("a list\n")
	block, rest := pem.Decode(SignSSH(secret, text))
	if block == nil || len(rest) > 0 || block.Type != "SSH SIGNATURE" {
		t.Fatal("not a block")
	}
	signature := block.Bytes[len(block.Bytes)-ed25519.SignatureSize:]
	sum := sha512.Sum512(text)
	if !ed25519.Verify(secret.Public().public, append([]byte("SSHSIG"), sshStrings(Namespace, "", "sha512", string(sum[:]))...), signature) {
		t.Error("the signature is not good")
	}
	if line := secret.Public().SSH(); !strings.HasPrefix(line, "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5") {
		t.Error(line)
	}
}

func FuzzVerify(f *testing.F) {
	key, err := ParseKey(testdata(f, "genuine.pub"))
	if err != nil {
		f.Fatal(err)
	}
	text := testdata(f, "text")
	f.Add(testdata(f, "text.minisig"))
	f.Add(testdata(f, "text.hashed.minisig"))
	f.Add([]byte("untrusted comment: \n\ntrusted comment: \n\n"))
	good := strings.Split(string(testdata(f, "text.minisig")), "\n")
	f.Fuzz(func(t *testing.T, signature []byte) {
		if _, err := Verify(key, text, signature); err != nil {
			return
		}
		if lines := strings.Split(string(signature), "\n"); lines[1] != good[1] || lines[3] != good[3] {
			t.Errorf("another signature was taken: %q", signature)
		}
	})
}

func FuzzParseKey(f *testing.F) {
	f.Add(testdata(f, "genuine.pub"))
	f.Add(testdata(f, "genuine.key"))
	f.Fuzz(func(t *testing.T, file []byte) {
		if key, err := ParseKey(file); err == nil {
			if again, err := ParseKey(key.File()); err != nil || !again.Equal(key) {
				t.Error(err)
			}
		}
		if secret, err := ParseSecret(file); err == nil {
			if again, err := ParseSecret(secret.File()); err != nil || !again.Public().Equal(secret.Public()) {
				t.Error(err)
			}
		}
	})
}
