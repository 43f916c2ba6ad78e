package secrets

import (
	"encoding/base64"
	"fmt"
	"go/build"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const megabyte = 1 << 20

// corpora gives texts of a megabyte each of the kinds that tools give back.
func corpora(tb testing.TB) map[string]string {
	tb.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	files, err := filepath.Glob(filepath.Join(build.Default.GOROOT, "src", "net", "http", "*.go"))
	if err != nil || len(files) == 0 {
		tb.Fatalf("no Go source to look at: %v", err)
	}
	var source strings.Builder
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			tb.Fatal(err)
		}
		source.Write(text)
	}
	blob := make([]byte, megabyte)
	for i := range blob {
		blob[i] = byte(r.Uint32())
	}
	full := func(piece func(i int) string) string {
		var b strings.Builder
		for i := 0; b.Len() < megabyte; i++ {
			b.WriteString(piece(i))
		}
		return b.String()[:megabyte]
	}
	code := source.String()
	word := func() string { at := r.IntN(len(code) - 20); return code[at : at+6+r.IntN(10)] }
	return map[string]string{
		"go":     full(func(int) string { return code }),
		"base64": full(func(int) string { return base64.StdEncoding.EncodeToString(blob) }),
		"json": full(func(i int) string {
			return fmt.Sprintf(`{"id":%d,"name":"user-%d","email":"u%d@example.org","tags":["a","b"],"created_at":"2026-01-02T03:04:05Z","url":"https://example.org/api/v1/users/%x"},`, i, i, i, r.Uint64())
		}),
		"log": full(func(i int) string {
			return fmt.Sprintf("2026-01-02T03:04:05.%06dZ INFO  [worker-%d] request_id=%016x GET /api/items/%d 200 in %dms\n", i, i%8, r.Uint64(), i, r.IntN(500))
		}),
		"minified": full(func(i int) string {
			return fmt.Sprintf("function %c%d(e,t,n){var r=e.key||t.token;return r&&r.apply(this,[n,%d])?r.access:null}var o%d={key:%q,auth:!0};", 'a'+i%26, i, i, i, "k"+fmt.Sprint(i))
		}),
		"keywords": full(func(i int) string {
			return fmt.Sprintf("api_key access_token: auth secret = password, key: credential token=%s vault storage ibm box_ \n", word())
		}),
		"generic": full(func(i int) string {
			return fmt.Sprintf("api_key=%x access_token: \"%x\" ", r.Uint64(), r.Uint64())
		}),
	}
}

func BenchmarkFind(b *testing.B) {
	s := testScanner(b)
	for name, text := range corpora(b) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			n := 0
			for b.Loop() {
				n = len(s.Find(text, nil))
			}
			b.ReportMetric(float64(n), "found")
		})
	}
}

// BenchmarkRedact is what a vetter does: a structured result of a megabyte,
// whose texts have their quotes and line ends escaped.
func BenchmarkRedact(b *testing.B) {
	s := testScanner(b)
	known := NewKnown([]string{"correct horse battery staple", "s3cr3t-value-of-a-vault"})
	for name, text := range corpora(b) {
		doc := marshal(b, map[string]any{"path": "a/b", "rows": []any{1, true, map[string]any{"content": text}}})
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(doc)))
			for b.Loop() {
				s.Redact(doc, known)
			}
		})
	}
}

func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		if _, err := New(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSmall is what every call costs: its arguments and its value.
func BenchmarkSmall(b *testing.B) {
	s := testScanner(b)
	known := NewKnown([]string{"correct horse battery staple", "s3cr3t-value-of-a-vault"})
	doc := []byte(`{"path":"/srv/projects/crib/internal/schema","query":"func Parse(text []byte, lim Limits)","mode":"exact","limit":25,"ratio":0.75,"deep":true,"tags":["alpha","beta","gamma"],"ref":"issue-12345","opts":{"case":true,"width":120,"name":"the name of this set of options, long enough to matter"}}`)
	b.Run("redact", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			s.Redact(doc, known)
		}
	})
	b.Run("hits", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			s.Hits(doc, known, "args")
		}
	})
}
