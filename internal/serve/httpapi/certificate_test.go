package httpapi

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// writeCertificate writes a certificate and its key, and gives its number.
func writeCertificate(t *testing.T, dir string, until time.Time) (cert, key string, number int64) {
	t.Helper()
	secret, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	number = time.Now().UnixNano()
	made := &x509.Certificate{
		SerialNumber: big.NewInt(number), Subject: pkix.Name{CommonName: "test"}, DNSNames: []string{"localhost"},
		NotBefore: time.Now().Add(-48 * time.Hour), NotAfter: until, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, made, made, &secret.PublicKey, secret)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(secret)
	if err != nil {
		t.Fatal(err)
	}
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for file, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return cert, key, number
}

// A certificate that is renewed is shown from then on, and one that cannot be used
// is not.
func TestCertificateIsReadAgain(t *testing.T) {
	dir := t.TempDir()
	cert, key, first := writeCertificate(t, dir, time.Now().Add(time.Hour))
	c, err := LoadCertificate(cert, key, nil)
	if err != nil {
		t.Fatal(err)
	}
	at := time.Now()
	c.now = func() time.Time { return at }
	shown := func() int64 {
		at = at.Add(2 * lookAgain)
		return c.current().Leaf.SerialNumber.Int64()
	}
	if shown() != first {
		t.Error("another certificate is shown")
	}
	_, _, second := writeCertificate(t, dir, time.Now().Add(time.Hour))
	// Files written within one tick of a coarse clock look alike, but for their times.
	if err := os.Chtimes(cert, at, at.Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if shown() != second {
		t.Error("the renewed certificate is not shown")
	}
	for what, spoil := range map[string]func(){
		"half written": func() { _ = os.WriteFile(key, []byte("-----BEGIN"), 0o600) },
		"removed":      func() { _ = os.Remove(cert) },
		"expired":      func() { writeCertificate(t, dir, time.Now().Add(-24*time.Hour)) },
	} {
		if spoil(); shown() != second {
			t.Errorf("%s: another certificate is shown", what)
		}
	}
}

func TestCertificatesThatCannotBeUsed(t *testing.T) {
	dir := t.TempDir()
	cert, key, _ := writeCertificate(t, dir, time.Now().Add(-24*time.Hour))
	for what, c := range map[string]struct{ cert, key, says string }{
		"no key":   {cert, "", "serve.tls.key"},
		"no cert":  {"", key, "serve.tls.cert"},
		"missing":  {filepath.Join(dir, "none.pem"), key, "none.pem"},
		"swapped":  {key, cert, "serve.tls"},
		"outdated": {cert, key, "expired on"},
	} {
		if _, err := LoadCertificate(c.cert, c.key, nil); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if c, err := LoadCertificate("", "", nil); c != nil || err != nil {
		t.Errorf("%v, %v", c, err)
	}
}

// Other machines come in over TLS only, and with a token.
func TestListenForOtherMachines(t *testing.T) {
	cert, key, _ := writeCertificate(t, t.TempDir(), time.Now().Add(time.Hour))
	secure, err := LoadCertificate(cert, key, nil)
	if err != nil {
		t.Fatal(err)
	}
	for says, on := range map[string]Listening{
		"serve.remote: true": {Address: "0.0.0.0:0", Secure: secure},
		"serve.tls.cert":     {Address: "0.0.0.0:0", Remote: true},
		"serve.open":         {Address: "0.0.0.0:0", Remote: true, Secure: secure, Open: true},
		"serve.hosts: [":     {Address: "0.0.0.0:0", Remote: true, Secure: secure},
	} {
		if ln, err := Listen(t.Context(), on); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, %v", says, ln, err)
		}
	}
	ln, err := Listen(t.Context(), Listening{Address: "127.0.0.1:0", Secure: secure})
	if err != nil {
		t.Fatal(err)
	}
	srv := NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.Proto) }), nil)
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(ln) }()
	defer func() {
		_ = srv.Close()
		<-ended
	}()
	ask := func(most uint16) (string, error) {
		client := &http.Client{Transport: &http.Transport{
			ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS10, MaxVersion: most},
		}}
		defer client.CloseIdleConnections()
		resp, err := client.Get("https://" + ln.Addr().String())
		if err != nil {
			return "", err
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		return string(text), err
	}
	if text, err := ask(tls.VersionTLS13); text != "HTTP/2.0" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
	if text, err := ask(tls.VersionTLS12); text != "HTTP/2.0" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
	if text, err := ask(tls.VersionTLS11); err == nil {
		t.Errorf("TLS 1.1 is spoken: %q", text)
	}
}
