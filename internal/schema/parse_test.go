package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestParseRefuses(t *testing.T) {
	deep := strings.Repeat("[", 10_000)
	for _, c := range []struct {
		name, text string
		lim        Limits
		want       string // part of the message
		line, col  int    // 0: not checked
	}{
		{"nothing", "", Limits{}, "empty", 1, 1},
		{"white space", " \n\t", Limits{}, "empty", 2, 2},
		{"trailing data", `{"a":1} {"b":2}`, Limits{}, "exactly one value", 1, 9},
		{"trailing word", `1 x`, Limits{}, "exactly one value", 1, 3},
		{"invalid UTF-8 in a string", "\"a\xffb\"", Limits{}, "byte 0xff is not valid UTF-8", 1, 3},
		{"invalid UTF-8 after an escape", "\"\\n\xc3\"", Limits{}, "byte 0xc3 is not valid UTF-8", 1, 4},
		{"a surrogate in UTF-8", "\"\xed\xa0\x80\"", Limits{}, "not valid UTF-8", 0, 0},
		{"overlong UTF-8", "\"\xc0\xaf\"", Limits{}, "not valid UTF-8", 0, 0},
		{"invalid UTF-8 outside", "\xff", Limits{}, "not valid UTF-8", 1, 1},
		{"lone high surrogate", `"\ud800"`, Limits{}, `lone surrogate \ud800`, 1, 2},
		{"lone high surrogate before text", `"\ud800abcdef"`, Limits{}, "lone surrogate", 0, 0},
		{"lone low surrogate", `"\udc00\ud800"`, Limits{}, `lone surrogate \udc00`, 0, 0},
		{"two high surrogates", `"\ud800\ud800"`, Limits{}, "lone surrogate", 0, 0},
		{"duplicate key", `{"a":1,"b":2,"a":3}`, Limits{}, `duplicate key "a"`, 1, 14},
		{"duplicate neighbours", `{"a":1,"a":3}`, Limits{}, `duplicate key "a"`, 1, 8},
		{"duplicate key, escaped", `{"a":1,"b":2,"\u0061":3}`, Limits{}, `duplicate key "a"`, 1, 14},
		{"duplicate key, deep", `{"x":[{"k":{},"j":1,"k":[]}]}`, Limits{}, `duplicate key "k"`, 0, 0},
		{"NaN", `{"a":NaN}`, Limits{}, "JSON has no NaN or Infinity", 1, 6},
		{"Infinity", `[Infinity]`, Limits{}, "JSON has no NaN or Infinity", 1, 2},
		{"-Infinity", `[-Infinity]`, Limits{}, "JSON has no NaN or Infinity", 1, 2},
		{"-inf", `-inf`, Limits{}, "JSON has no NaN or Infinity", 0, 0},
		{"too deep", strings.Repeat("[", 129), Limits{}, "nested deeper than 128 levels", 1, 129},
		{"much too deep", deep, Limits{}, "nested deeper than 128 levels", 0, 0},
		{"deeper than asked", `[[[1]]]`, Limits{Depth: 2}, "nested deeper than 2 levels", 0, 0},
		{"deeper than possible", "[" + deep, Limits{Depth: 1 << 30}, "nested deeper than 10000 levels", 0, 0},
		{"deep objects", strings.Repeat(`{"a":`, 10_000), Limits{}, "nested deeper than 128 levels", 0, 0},
		{"too long", `"` + strings.Repeat("a", 100) + `"`, Limits{Bytes: 101}, "is 102 bytes long, the limit is 101", 0, 0},
		{"raw newline", "\"a\nb\"", Limits{}, `write it as \n`, 1, 3},
		{"raw tab after an escape", "\"\\\\\t\"", Limits{}, `write it as \t`, 0, 0},
		{"raw NUL", "\"\x00\"", Limits{}, `write it as \u0000`, 0, 0},
		{"leading zero", `01`, Limits{}, "leading zeros", 1, 1},
		{"leading zero, negative", `[-00]`, Limits{}, "leading zeros", 1, 3},
		{"plus sign", `+1`, Limits{}, "must not start with '+'", 0, 0},
		{"no digit before the point", `.5`, Limits{}, "digit before the decimal point", 0, 0},
		{"no digit after the point", `1.`, Limits{}, "digit after the decimal point", 0, 0},
		{"no digit after the minus", `-`, Limits{}, "digit after '-'", 0, 0},
		{"no digit in the exponent", `1e+`, Limits{}, "digit in its exponent", 0, 0},
		{"hexadecimal", `0x10`, Limits{}, "exactly one value", 0, 0},
		{"True", `{"a": True}`, Limits{}, "write true, false or null", 1, 7},
		{"None", `None`, Limits{}, "write true, false or null", 0, 0},
		{"a word", `hello`, Limits{}, "strings need double quotes", 0, 0},
		{"half a word", `tru`, Limits{}, "found tru", 0, 0},
		{"single quotes", `{'a':1}`, Limits{}, "not single quotes", 1, 2},
		{"single quoted value", `['a']`, Limits{}, "not single quotes", 0, 0},
		{"comment", "[1, // one\n2]", Limits{}, "comments are not allowed", 0, 0},
		{"comment as key", "{/* */}", Limits{}, "comments are not allowed", 0, 0},
		{"bare key", `{a:1}`, Limits{}, "key in double quotes, found a", 0, 0},
		{"trailing comma in an array", `[1,]`, Limits{}, "comma before the closing ']'", 1, 3},
		{"trailing comma in an object", `{"a":1, }`, Limits{}, "comma before the closing '}'", 1, 7},
		{"lone comma", `[,]`, Limits{}, "expected a value before ','", 0, 0},
		{"missing comma", `[1 2]`, Limits{}, "expected ',' or ']' in this array, found '2'", 0, 0},
		{"missing comma in an object", "{\"a\":1\n\"b\":2}", Limits{}, "expected ',' or '}' in this object", 2, 1},
		{"missing colon", `{"a" 1}`, Limits{}, `expected ':' after the key "a"`, 0, 0},
		{"missing value", `{"a":}`, Limits{}, "expected a value before '}'", 0, 0},
		{"wrong bracket", `[1}`, Limits{}, "expected ',' or ']'", 0, 0},
		{"closing only", `}`, Limits{}, "expected a value before '}'", 0, 0},
		{"unclosed array", `[1`, Limits{}, "ends inside the array that starts at line 1, column 1", 1, 3},
		{"unclosed object", `{"a":1`, Limits{}, "ends inside the object", 0, 0},
		{"object cut at a key", `{`, Limits{}, "ends inside the object", 0, 0},
		{"object cut after a key", `{"a"`, Limits{}, "ends inside the object", 0, 0},
		{"cut after a comma", `[1,`, Limits{}, "ends where a value was expected", 0, 0},
		{"cut after a colon", `{"a":`, Limits{}, "ends where a value was expected", 0, 0},
		{"unclosed string", `["abc`, Limits{}, "never closed", 1, 2},
		{"unclosed string with an escape", `"abc\n`, Limits{}, "never closed", 0, 0},
		{"cut in an escape", `"abc\`, Limits{}, "ends inside an escape", 0, 0},
		{"bad escape", `"\x41"`, Limits{}, "'x' after a backslash", 0, 0},
		{"bad hexadecimal", `"\u12g4"`, Limits{}, "four hexadecimal digits", 0, 0},
		{"byte order mark", "\xef\xbb\xbf{}", Limits{}, "byte order mark", 0, 0},
		{"NUL", "\x00", Limits{}, `found '\x00'`, 0, 0},
		{"columns count characters", "{\"äöü\": x}", Limits{}, "found x", 1, 9},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, err := Parse([]byte(c.text), c.lim)
			if d != nil {
				t.Fatal("accepted")
			}
			var e *SyntaxError
			if !errors.As(err, &e) {
				t.Fatalf("got %T, want a *SyntaxError", err)
			}
			if !strings.Contains(e.Message, c.want) {
				t.Errorf("message %q, want it to contain %q", e.Message, c.want)
			}
			if c.line > 0 && (e.Line != c.line || e.Column != c.col) {
				t.Errorf("at line %d, column %d, want %d, %d", e.Line, e.Column, c.line, c.col)
			}
			if e.Line > 0 && !strings.HasPrefix(e.Error(), "line ") {
				t.Errorf("the text %q does not say where", e.Error())
			}
		})
	}
}

func TestParseAccepts(t *testing.T) {
	for _, text := range []string{
		`null`, `true`, `false`, `0`, `-0`, `-0.0e-0`, `1E400`, `1e-999999999999999999999`, `123456789012345678901234567890.5`,
		`""`, `"\u0000\ud83d\ude00\/\b\f\n\r\t\"\\"`, "\"\u2028 \x7f 😀\"", `[]`, `{}`, " [ 1 , 2 ] ", `[[],{},[{}]]`,
		`{"":1," ":2,"a":{"a":1}}`, strings.Repeat("[", 128) + strings.Repeat("]", 128), `"\ud834\udd1e"`, "\r\n\t{}",
		`{"aa":1,"a":2,"ab":3,"":4,"a\u0000":5}`,
	} {
		d, err := Parse([]byte(text), Limits{})
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if !json.Valid([]byte(text)) {
			t.Errorf("%s: accepted, but encoding/json does not", text)
		}
		var want any
		if !strings.Contains(text, "9999") && !strings.Contains(text, "400") {
			if err := json.Unmarshal([]byte(text), &want); err != nil {
				t.Fatal(err)
			}
			var got any
			if err := json.Unmarshal(d.AppendCanonical(nil), &got); err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(want, got) {
				t.Errorf("%s: the canonical form means something else: %v", text, got)
			}
		}
		d.Release()
	}
	if _, err := Parse([]byte(strings.Repeat("[", 10_000)+strings.Repeat("]", 10_000)), Limits{Depth: 10_000}); err != nil {
		t.Errorf("10,000 levels when asked for: %v", err)
	}
	if _, err := Parse([]byte(`"ab"`), Limits{Bytes: 4}); err != nil {
		t.Errorf("a text as long as the limit: %v", err)
	}
}

// TestParseIsLinear feeds large texts whose parts could cost the square of their number.
func TestParseIsLinear(t *testing.T) {
	var down, same bytes.Buffer
	const n = 200_000
	for i := range n {
		sep := byte(',')
		if i == 0 {
			sep = '{'
		}
		down.WriteByte(sep)
		down.WriteString(`"k` + strconv.Itoa(n*10-i) + `":0`)
		same.WriteByte(sep)
		same.WriteString(`"` + strings.Repeat("x", 40) + strconv.Itoa(i*7919%n) + `":{"b":1,"a":2}`)
	}
	down.WriteByte('}')
	same.WriteByte('}')
	for name, text := range map[string][]byte{
		"keys in falling order":     down.Bytes(),
		"keys with a common prefix": same.Bytes(),
		"10 MB string":              []byte(`"` + strings.Repeat("ä\\n", 3_000_000) + `"`),
		"10 MB number":              []byte(strings.Repeat("7", 10_000_000)),
		"empty arrays":              []byte("[" + strings.Repeat("[],", 1_000_000) + "[]]"),
		"open brackets":             bytes.Repeat([]byte("["), 10_000_000),
		"escapes":                   []byte(`"` + strings.Repeat(`\u00e9`, 1_000_000) + `"`),
	} {
		start := time.Now()
		d, err := Parse(text, Limits{})
		if err == nil {
			d.AppendCanonical(nil)
			d.Release()
		}
		if took := time.Since(start); took > time.Minute {
			t.Errorf("%s: took %v", name, took)
		}
	}
	last := bytes.Replace(down.Bytes(), []byte(`"k`+strconv.Itoa(n*10-n+1)+`"`), []byte(`"k`+strconv.Itoa(n*10-7)+`"`), 1)
	if _, err := Parse(last, Limits{}); err == nil || !strings.Contains(err.Error(), "duplicate key") {
		t.Errorf("a duplicate among %d keys: %v", n, err)
	}
}

func TestNodes(t *testing.T) {
	d, err := Parse([]byte(`{"b":[1,{"x":"\u0041"},null,true],"a":"é"}`), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Release()
	if d.Kind() != Object || d.Root().Len() != 2 {
		t.Errorf("the root is %v with %d members", d.Kind(), d.Root().Len())
	}
	var got []string
	for key, v := range d.Root().Members() {
		got = append(got, string(key)+" "+v.Kind().String()+" "+string(v.Raw()))
		for i, e := range v.Elems() {
			got = append(got, strconv.Itoa(i)+" "+e.Kind().String()+" "+string(e.Raw())+" "+string(e.Str())+" "+strconv.FormatBool(e.True()))
			for key, m := range e.Members() {
				got = append(got, string(key)+" "+string(m.Str()))
			}
		}
	}
	want := []string{
		`a string "é"`, `b array [1,{"x":"\u0041"},null,true]`, "0 number 1  false", `1 object {"x":"\u0041"}  false`, "x A",
		"2 null null  false", "3 boolean true  true",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if _, ok := d.Root().Member("c"); ok {
		t.Error("found a member that is not there")
	}
	v, ok := d.Root().Member("b")
	if !ok || string(v.AppendCanonical(nil)) != `[1,{"x":"A"},null,true]` {
		t.Errorf("b is %s", v.Raw())
	}
	if _, ok := v.Member("x"); ok || v.Str() != nil {
		t.Error("an array has neither members nor text")
	}
}

func TestReleaseTwice(t *testing.T) {
	d, err := Parse([]byte(`[1]`), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	d.Release()
	d.Release()
	x, errX := Parse([]byte(`[1]`), Limits{})
	y, errY := Parse([]byte(`[2]`), Limits{})
	if errX != nil || errY != nil || x == y {
		t.Fatal("one Doc was handed out twice")
	}
}
