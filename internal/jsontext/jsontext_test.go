package jsontext

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"
)

func TestAppendString(t *testing.T) {
	for in, want := range map[string]string{
		"": `""`, "plain ä 日 </b> &": `"plain ä 日 </b> &"`, "\"\\/": `"\"\\/"`, "\b\f\n\r\t": `"\b\f\n\r\t"`, "\x00\x1f\x7f": `"\u0000\u001f` + "\x7f\"",
		"a\xffb\xc3": "\"a\ufffdb\ufffd\"", "\xed\xa0\x80": "\"\ufffd\ufffd\ufffd\"", "\ufffd": "\"\ufffd\"", "😀": `"😀"`,
	} {
		if got := string(Quote(in)); got != want {
			t.Errorf("Quote(%q) = %s, want %s", in, got, want)
		}
		if got := string(AppendString([]byte("x"), []byte(in))); got != "x"+want {
			t.Errorf("AppendString(%q) = %s, want x%s", in, got, want)
		}
	}
}

func TestUnquote(t *testing.T) {
	for token, want := range map[string]string{
		`""`: "", `"a"`: "a", `"\"\\\/\b\f\n\r\t"`: "\"\\/\b\f\n\r\t", `"\u00e4\u65E5"`: "ä日", `"\ud83d\ude00"`: "😀", `"\ud83d"`: "\ufffd", `"\ud83dx\ude00"`: "\ufffdx\ufffd",
		`"\ud83d\ud83d\ude00"`: "\ufffd😀", "\"a\xff\"": "a\ufffd",
	} {
		if got, ok := Unquote(token); got != want || !ok {
			t.Errorf("Unquote(%s) = %q, %v, want %q", token, got, ok, want)
		}
	}
	for token, want := range map[string]string{`"\x"`: `\x`, `"\u12"`: `\u12`, `"\uZZZZ"`: `\uZZZZ`, `"`: `"`, `a`: `a`, ``: ``, `"a\"`: `a\`} {
		if got, ok := Unquote([]byte(token)); got != want || ok {
			t.Errorf("Unquote(%s) = %q, %v, want %q and not ok", token, got, ok, want)
		}
	}
}

func TestScanString(t *testing.T) {
	for _, c := range []struct {
		text            string
		at, end         int
		escaped, closed bool
	}{
		{`"a" x`, 0, 3, false, true}, {`x"a\"b"`, 1, 7, true, true}, {`"\\"x"`, 0, 4, true, true}, {`"\\\""`, 0, 6, true, true}, {`"a`, 0, 2, false, false},
		{`"a\"`, 0, 4, true, false}, {`"`, 0, 1, false, false}, {`\"a"`, 1, 4, false, true}, {`""`, 0, 2, false, true},
	} {
		if end, escaped, closed := ScanString(c.text, c.at); end != c.end || escaped != c.escaped || closed != c.closed {
			t.Errorf("ScanString(%s, %d) = %d, %v, %v", c.text, c.at, end, escaped, closed)
		}
	}
}

// TestScanStringIsLinear: the cost does not grow with the square of what a
// stranger sends. A quadratic search of this text takes many seconds.
func TestScanStringIsLinear(t *testing.T) {
	for name, unit := range map[string]string{"line ends": `a\n`, "quotes": `\"`, "backslashes": `\\`} {
		text := `"` + strings.Repeat(unit, 500_000) + `"`
		best := time.Hour
		for range 10 {
			start := time.Now()
			if end := StringEnd(text, 0); end != len(text) {
				t.Fatalf("%s: %d of %d", name, end, len(text))
			}
			best = min(best, time.Since(start))
		}
		if best > time.Second {
			t.Errorf("%s: %v for a megabyte", name, best)
		}
	}
}

func TestMembers(t *testing.T) {
	const text = ` { "a" : [1,{"b":"]}"}] , "\u0062":"x\"" ,"c":-1e5,"a":null } `
	var got []string
	if err := Members([]byte(text), func(m Member) bool {
		got = append(got, m.Key+"="+string(m.Value))
		return true
	}); err != nil || strings.Join(got, " ") != `a=[1,{"b":"]}"}] b="x\"" c=-1e5 a=null` {
		t.Errorf("%q, %v", got, err)
	}
	if got := Lookup([]byte(text), "a"); string(got) != "null" {
		t.Errorf("of two the last counts: %s", got)
	}
	if got := Lookup([]byte(text), "x"); got != nil {
		t.Errorf("%s", got)
	}
	n := 0
	if err := Members([]byte(text), func(Member) bool { n++; return false }); err != nil || n != 1 {
		t.Errorf("it goes on: %d, %v", n, err)
	}
	for _, bad := range []string{"", "[]", "5", `{"a"}`, `{"a":1`, `{"\x":1}`, `{a:1}`} {
		if err := Members([]byte(bad), func(Member) bool { return true }); err == nil {
			t.Errorf("%s is taken for an object", bad)
		}
	}
}

// FuzzText holds the package against encoding/json, and has it read anything.
func FuzzText(f *testing.F) {
	for _, s := range []string{``, `"a\u00e4\ud83d\ude00\""`, `{"a":[1,"x"],"b":{"c":null}}`, "\"\xff\\", `"\ud83d`, "a\x00\"\\\n\u2028"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		quoted := Quote(s)
		if !json.Valid(quoted) {
			t.Fatalf("Quote(%q) = %s", s, quoted)
		}
		if got, ok := Unquote(quoted); !ok || got != valid(s) {
			t.Fatalf("%q came back as %q", s, got)
		}
		var theirs, back string
		if err := json.Unmarshal(quoted, &theirs); err != nil {
			t.Fatal(err)
		}
		if back, _ = Unquote(string(quoted)); back != theirs {
			t.Fatalf("%q is read as %q, by encoding/json as %q", quoted, back, theirs)
		}
		for i := range min(len(s), 50) {
			if end := ValueEnd(s, i); end < i || end > len(s) {
				t.Fatalf("ValueEnd(%q, %d) = %d", s, i, end)
			}
			if end := StringEnd([]byte(s), i); end < i || end > len(s) {
				t.Fatalf("StringEnd(%q, %d) = %d", s, i, end)
			}
		}
		if err := json.Unmarshal([]byte(s), &theirs); err == nil && strings.HasPrefix(s, `"`) && strings.HasSuffix(s, `"`) {
			if got, ok := Unquote(s); !ok || got != theirs {
				t.Fatalf("%s is read as %q, by encoding/json as %q", s, got, theirs)
			}
		}
		var object map[string]json.RawMessage
		if json.Unmarshal([]byte(s), &object) != nil || object == nil {
			return
		}
		if err := Members([]byte(s), func(m Member) bool {
			if _, known := object[m.Key]; !known {
				t.Fatalf("%q is no member of %s", m.Key, s)
			}
			return true
		}); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
		for key, want := range object {
			if got := Lookup([]byte(s), key); !bytes.Equal(got, want) {
				t.Fatalf("%s: %q is %s, want %s", s, key, got, want)
			}
		}
	})
}

func BenchmarkUnquote(b *testing.B) {
	token := Quote(strings.Repeat("a line of text with a \"word\" in quotes\n", 1000))
	b.SetBytes(int64(len(token)))
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := Unquote(token); !ok {
			b.Fatal("not read")
		}
	}
}

func BenchmarkAppendString(b *testing.B) {
	text := strings.Repeat("a line of text with a \"word\" in quotes and ä\n", 1000)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	var dst []byte
	for b.Loop() {
		dst = AppendString(dst[:0], text)
	}
}
