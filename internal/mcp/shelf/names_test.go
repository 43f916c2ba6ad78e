package shelf

import (
	"encoding/json"
	"strings"
	"testing"
)

// FuzzLongNames: a long name leads back to the server and the name that it was
// made of, whatever the server calls its things.
func FuzzLongNames(f *testing.F) {
	f.Add("a", "review")
	f.Add("a_", "x")
	f.Add("a", "b__c")
	f.Add("a", "memo://x?y=1#z")
	f.Fuzz(func(t *testing.T, box, name string) {
		if box == "" || name == "" || strings.Contains(box, "__") || strings.ContainsAny(box, "/") || strings.HasPrefix(box, "_") {
			return // no server is called so
		}
		for _, k := range []kind{promptKind(), resourceKind(), templateKind()} {
			known := func(b string) bool { return b == box }
			if gotBox, gotName, ok := k.split(k.long(box, name), known); !ok || gotBox != box || gotName != name {
				t.Errorf("%s %q became %q of %q", k.word, k.long(box, name), gotName, gotBox)
			}
		}
		text, err := json.Marshal(map[string]string{"name": name, "title": "t"})
		if err != nil {
			t.Fatal(err)
		}
		if again := renamed(text, "name", "other"); member(again, "name") != "other" || member(again, "title") != "t" {
			t.Errorf("%s", again)
		}
	})
}
