package secrets

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

// slow is far above what any of these texts takes and far below what they took
// when the work grew with the square of the text.
const slow = 10 * time.Second * sampleStep

func filled(unit string, size int) string { return strings.Repeat(unit, size/len(unit)+1)[:size] }

// TestWorkIsBounded: whatever stands in a text, the work for it grows with its
// length and no faster.
func TestWorkIsBounded(t *testing.T) {
	s := testScanner(t)
	units := []string{"curl=", "cais", "aiven=", "token=", "key", "a2V5", "access key token ", "eyJ", "kind: secret\n", "\\\"key\\\":\\\"", "-----BEGIN PRIVATE KEY-----\nabc def ", "http://a:b", "\"kty\":{", "curl -u a ", "eyJhbGci.", "password=\"", "vault ", ":5432:a", ";password = letmein\" ", "password = word\n", "\"x\" == secret ", "${TOKEN:-y}", "MIIEowIBAAKCAQEA", "MIIEowIBAAKCAQEA\n", "passwords: [\"a\",", "password:\n  - \"a\"\n", "<key>password</key><value>", "password:\n  a: b\n  c: d\n", "getConnection(a, ", "openssl ", "net user ", "redis-cli ", "echo a | sudo -S ", "a:b@tcp(", "password []byte(", "password a1b2c3d4\n", "# secret\n", "SECRET_KEY=a&b;c", "-----BEGIN RSA KEY-----", "bindpw x\n", "3:bindpw ", "\"bindpw\\t", "a:1:-+ rocommunity x -V y ", "mnemonic: ozone drill\n", "mnemonic:\nozone\n", "mnemonic [\"ozone\",\"drill\",", "x = \"aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3fG5hJ7\" "}
	for i, p := range s.providers {
		if i%40 == 0 {
			units = append(units, p.name+"=", p.name+`: "0a1b2c3d4e5f60718293a4b5c6d7e8f9" `)
		}
	}
	for _, unit := range units {
		took := func(size int) time.Duration {
			text := filled(unit, size)
			from := time.Now()
			s.Find(text, nil)
			return time.Since(from)
		}
		// Four times the text: with the square of it the work were sixteen times as
		// much. What takes no time says nothing, and other programs may get in the way.
		const size, most, nothing, tries = 256 << 10 / sampleStep, 9, 200 * time.Millisecond, 5
		for try := 1; ; try++ {
			large := took(size)
			if large < nothing {
				break
			}
			small := took(size / 4)
			if large < most*small {
				break
			}
			if try == tries {
				t.Errorf("%q: %d bytes took %s, a quarter of them %s", unit, size, large, small)
				break
			}
		}
	}
}

// TestCrowdHidesNothing: a secret among so many keywords that they cannot be
// looked at closely is found all the same, and what is none is left where there
// is no crowd.
func TestCrowdHidesNothing(t *testing.T) {
	s := testScanner(t)
	for _, unit := range []string{"curl=\n", "key: x, token: y, secret: z ", "token = Xk29dLmQ0zPq8RtYw3Vb7NcA ", "aiven= "} {
		crowd := filled(unit, 512<<10)
		for _, text := range []string{crowd + " token=" + aToken() + " " + crowd, crowd + "\npassword: hunter22hunter\n", crowd + pemKey(3)} {
			got := s.Strike(text, nil)
			if strings.Contains(got, aToken()) || strings.Contains(got, "hunter22hunter") && strings.Contains(got, "y, secret: z [redacted]") || strings.Contains(got, "MDAwMDAw") {
				t.Errorf("%q: it is still there", unit)
			}
		}
	}
	plain := strings.Repeat("The key of the token is in the secret part of the access section, see issue-1234567 for more.\n", 2000)
	if got := s.Find(plain, nil); len(got) > 0 {
		t.Errorf("prose is taken for secrets: %d, %v", len(got), got[0])
	}
}

// TestJSONIsLinear: many hits, long keys, deep lists and millions of parts.
func TestJSONIsLinear(t *testing.T) {
	s := testScanner(t)
	known := NewKnown([]string{"correct horse battery", "12345678"})
	for name, text := range map[string]string{
		"many hits":    `{"m":[` + strings.Repeat(`"correct horse battery","",`, 16000) + `""]}`,
		"a long key":   `{"o":{"` + strings.Repeat("k", 150_000) + `":[` + strings.Repeat("1,", 75_000) + `12345678]}}`,
		"numbers":      `[` + strings.Repeat(`12345678,7,`, 32000) + `1]`,
		"many keys":    `[` + strings.Repeat(`{"correct horse battery":1,"[redacted]":2},`, 8000) + `1]`,
		"tiny strings": `[` + strings.Repeat(`"",`, 300_000) + `12345678]`,
		"deep":         strings.Repeat(`[1,{"a":`, 4000) + `"correct horse battery"` + strings.Repeat(`}]`, 4000),
	} {
		from := time.Now()
		out := s.Redact(json.RawMessage(text), known)
		hits := s.Hits(json.RawMessage(text), known, "args")
		named := 0
		if err := Values(json.RawMessage(text), "args", func(v *Visit) { named += len(v.Key()) }); err != nil {
			t.Error(err)
		}
		if took := time.Since(from); took > slow {
			t.Errorf("%s: %s", name, took)
		}
		if len(hits) == 0 || !json.Valid(out) || strings.Contains(string(out), "correct horse") || strings.Contains(string(out), "12345678") {
			t.Errorf("%s: %d hits, %.200s", name, len(hits), out)
		}
		for _, h := range hits {
			if len(h.Path) > 2*maxPath {
				t.Errorf("%s: a path of %d bytes", name, len(h.Path))
			}
		}
	}
}

// TestSmallTextsCostNothing: most texts of a result have nothing in them.
func TestSmallTextsCostNothing(t *testing.T) {
	s := testScanner(t)
	known := NewKnown([]string{"correct horse battery"})
	for _, text := range []string{"a", "", "nothing of that kind is here", `{"a":1}`} {
		if n := testing.AllocsPerRun(50, func() { s.Find(text, known) }); n > 0 {
			t.Errorf("%q: %v allocations", text, n)
		}
	}
	if sampleStep > 1 {
		return // a pool forgets at random then
	}
	if n := testing.AllocsPerRun(50, func() { s.Find("api_key: token secret password", known) }); n > 4 {
		t.Errorf("with names of secrets: %v allocations", n)
	}
	doc := json.RawMessage(`{"path":"/srv/projects/crib","limit":25,"tags":["alpha","beta"]}`)
	if n := testing.AllocsPerRun(50, func() { s.Redact(doc, known); s.Hits(doc, known, "args") }); n > 2 {
		t.Errorf("a document: %v allocations", n)
	}
}

// TestStruckKeysStayApart: an object keeps all of its keys.
func TestStruckKeysStayApart(t *testing.T) {
	s := testScanner(t)
	known := NewKnown([]string{"hunter2-hunter2"})
	for in, want := range map[string]string{
		`{"hunter2-hunter2":1,"[redacted]":2}`:                       `{"[redacted] (2)":1,"[redacted]":2}`,
		`{"[redacted] (2)":0,"[redacted]":2,"hunter2-hunter2":1}`:    `{"[redacted] (2)":0,"[redacted]":2,"[redacted] (3)":1}`,
		`{"hunter2-hunter2":1,"hunter2\u002dhunter2 ":2,"x":3}`:      `{"[redacted]":1,"[redacted] ":2,"x":3}`,
		`{"ahunter2-hunter2":1,"b":{"ahunter2-hunter2":1}}`:          `{"a[redacted]":1,"b":{"a[redacted] (2)":1}}`,
		`{"hunter2-hunter2"` + strings.Repeat(" ", 99) + `:1,"b":2}`: `{"[redacted]"` + strings.Repeat(" ", 99) + `:1,"b":2}`,
	} {
		if got := string(s.Redact(json.RawMessage(in), known)); got != want {
			t.Errorf("%s\n got %s\nwant %s", in, got, want)
		}
	}
}

func TestPaths(t *testing.T) {
	var got []string
	doc := `{"a":[1,{"b":"x","c":[[],[true]]}],"d\n":null,"` + strings.Repeat("k", 2000) + `":"long"}`
	err := Values(json.RawMessage(doc), "args", func(v *Visit) {
		text, isString := v.Token()
		key := v.Key()
		got = append(got, fmt.Sprintf("%s %s %s %v", v.Path(), key[:min(len(key), 3)], text, isString))
	})
	want := []string{"args.a[0] a 1 false", "args.a[1].b b x true", "args.a[1].c[1][0] c true false", "args.d\n d\n null false", "args kkk long true"}
	if err != nil || strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("%q, %v", got, err)
	}
	if err := Values(json.RawMessage(`{"a`), "args", func(*Visit) {}); err == nil {
		t.Error("what is no JSON is walked through")
	}
}
