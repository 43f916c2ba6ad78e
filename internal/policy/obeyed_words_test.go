package policy

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// FuzzWithoutWords: the paths in an input are the same without the texts that are none.
func FuzzWithoutWords(f *testing.F) {
	long := strings.Repeat("a/", 20_000)
	pad := strings.Repeat("x", 1<<10)
	for _, text := range []string{
		`{"path":"a/b","content":"` + long + `","x":"c/d"}`, `{"content":{"path":"a/b"},"text":["a/b","./c"],"y":"./z","pad":"` + pad + `"}`, `{"content" : "a\\","path": "b/\"c"}` + pad,
		`{"` + long + `":"a/b","files":[{"content":"./x","name":"n"}],"z":"` + long + `"}`, `{"con\u0074ent":"./x","body":"./y", "a/content":"./z"}` + pad, `"` + pad, `{"text":"` + pad + `","text":1,"path":"./q","message":null,"file":"w/w"}`,
	} {
		f.Add([]byte(text))
		f.Add([]byte(text + pad))
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		if len(input) > 0 && len(input) < 1<<10 {
			input = append([]byte(`{"pad":"`+pad+`","in":`), append(input, '}')...)
		}
		thin := withoutWords(input)
		if json.Valid(input) != json.Valid(thin) && json.Valid(input) {
			t.Fatalf("it is no JSON any more: %q", thin)
		}
		want, all := pathsIn(input)
		got, allNow := pathsIn(thin)
		if json.Valid(input) && (all != allNow || !reflect.DeepEqual(want, got)) {
			t.Errorf("%q: %v, want %v", input, got, want)
		}
		if len(got) < len(want) {
			t.Errorf("%q: %d paths are lost", input, len(want)-len(got))
		}
	})
}
