package schema

import (
	"bytes"
	"encoding/json"
	"math/rand"
	"testing"

	"pgregory.net/rapid"
)

func canonical(t rapid.TB, text []byte) []byte {
	t.Helper()
	d, err := Parse(text, Limits{})
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	defer d.Release()
	return d.AppendCanonical(nil)
}

func TestCanonical(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{` { "b" : 1 , "a" : [ 1.0 , 1e2 , -0 ] } `, `{"a":[1.0,1e2,-0],"b":1}`},
		{`"\u0041\/\u000a\u0001\u001f\"\\\u007f"`, "\"A/\\n\\u0001\\u001f\\\"\\\\\x7f\""},
		{`"\ud83d\ude00\u2028"`, "\"😀\u2028\""},
		{`{"\u0062":1,"a":2,"ab":3,"":4,"B":5,"é":6,"z":7}`, `{"":4,"B":5,"a":2,"ab":3,"b":1,"z":7,"é":6}`},
		{`{"aaaaaaaab":1,"aaaaaaaaa":2,"aaaaaaaa":3,"aaaaaaaa\u0000":4}`, "{\"aaaaaaaa\":3,\"aaaaaaaa\\u0000\":4,\"aaaaaaaaa\":2,\"aaaaaaaab\":1}"},
		{`{"a\u0000":1,"a":2}`, `{"a":2,"a\u0000":1}`},
		{"[\n]", `[]`},
		{`"\b\f\n\r\t"`, `"\b\f\n\r\t"`},
		{"{\"a\":1}\n", `{"a":1}`},
	} {
		if got := canonical(t, []byte(c.text)); string(got) != c.want {
			t.Errorf("%s: got %s, want %s", c.text, got, c.want)
		}
	}
}

// anyValue draws a JSON value of some depth.
func anyValue(depth int) *rapid.Generator[any] {
	leaf := rapid.OneOf(
		rapid.Just[any](nil),
		rapid.Map(rapid.Bool(), func(b bool) any { return b }),
		rapid.Map(rapid.Int64(), func(i int64) any { return i }),
		rapid.Map(rapid.Float64Range(-1e9, 1e9), func(f float64) any { return f }),
		rapid.Map(rapid.String(), func(s string) any { return s }),
	)
	if depth == 0 {
		return leaf
	}
	return rapid.OneOf(leaf,
		rapid.Map(rapid.SliceOfN(anyValue(depth-1), 0, 4), func(l []any) any { return l }),
		rapid.Map(rapid.MapOfN(rapid.String(), anyValue(depth-1), 0, 30), func(m map[string]any) any { return m }),
	)
}

// messy writes a value with random order of keys, random white space and needless escapes.
func messy(rng *rand.Rand, dst *bytes.Buffer, v any) {
	space := func() {
		for rng.Intn(3) == 0 {
			dst.WriteByte(" \n\t\r"[rng.Intn(4)])
		}
	}
	space()
	defer space()
	switch v := v.(type) {
	case map[string]any:
		keys := make([]string, 0, len(v))
		for k := range v {
			keys = append(keys, k)
		}
		rng.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
		dst.WriteByte('{')
		for i, k := range keys {
			if i > 0 {
				dst.WriteByte(',')
			}
			messy(rng, dst, k)
			dst.WriteByte(':')
			messy(rng, dst, v[k])
		}
		dst.WriteByte('}')
	case []any:
		dst.WriteByte('[')
		for i, e := range v {
			if i > 0 {
				dst.WriteByte(',')
			}
			messy(rng, dst, e)
		}
		dst.WriteByte(']')
	case string:
		dst.WriteByte('"')
		for _, r := range v {
			if r < 0x10000 && (r < ' ' || r == '"' || r == '\\' || rng.Intn(4) == 0) {
				const hex = "0123456789abcdef0123456789ABCDEF"
				dst.WriteString(`\u`)
				for shift := 12; shift >= 0; shift -= 4 {
					dst.WriteByte(hex[int(r>>shift)&15+16*rng.Intn(2)])
				}
				continue
			}
			dst.WriteRune(r)
		}
		dst.WriteByte('"')
	default:
		text, err := json.Marshal(v)
		if err != nil {
			panic(err)
		}
		dst.Write(text)
	}
}

// TestCanonicalIsOne draws a value, writes it in two messy ways, and wants one canonical text that does not change when
// it is read again and that means the same value.
func TestCanonicalIsOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := anyValue(3).Draw(t, "value")
		rng := rand.New(rand.NewSource(rapid.Int64().Draw(t, "seed")))
		var one, two bytes.Buffer
		messy(rng, &one, v)
		messy(rng, &two, v)
		first, second := canonical(t, one.Bytes()), canonical(t, two.Bytes())
		if !bytes.Equal(first, second) {
			t.Fatalf("two texts of one value:\n%s\n%s", first, second)
		}
		if again := canonical(t, first); !bytes.Equal(first, again) {
			t.Fatalf("not stable:\n%s\n%s", first, again)
		}
		want, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		if got := canonical(t, want); !bytes.Equal(first, got) {
			t.Fatalf("not the value that was written:\n%s\n%s", first, got)
		}
	})
}
