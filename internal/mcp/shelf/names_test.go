package shelf

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib/toolbox/mcphub"
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

// FuzzShownNames: whatever servers call their things, every name that a client is
// shown leads to the thing that it was shown for, and no two things have one name.
func FuzzShownNames(f *testing.F) {
	for _, seed := range []string{"\x00\x02\x00\x03", "\x01\x06\x02\x05\x06", "\x02\x02\x06", "\x06", "\x05\x07\x09"} {
		f.Add(seed, "\x06\x06", "\x00\x02\x06", "\x04\x00\x03\x05\x06", seed)
	}
	// Names out of pieces that could be taken for one another are met sooner than by chance.
	pieces := []string{"a", "b_", "_", "/", addressPrefix, "memo:", "x", "{y}", "a_c", "__"}
	f.Fuzz(func(t *testing.T, one, two, three, four, template string) {
		names := []string{one, two, three, four, template}
		for i, n := range names {
			names[i] = ""
			for _, b := range []byte(n[:min(len(n), 12)]) {
				names[i] += pieces[int(b)%len(pieces)]
			}
		}
		for _, k := range []kind{promptKind(), resourceKind()} {
			define := func(key string, names ...string) (list []json.RawMessage) {
				for _, n := range names {
					text, err := json.Marshal(map[string]string{key: n})
					if err != nil {
						t.Fatal(err)
					}
					list = append(list, text)
				}
				return list
			}
			things := func(names ...string) mcphub.Listing {
				list := define(k.key, names...)
				return mcphub.Listing{Prompts: list, Resources: list}
			}
			v := view{boxes: []string{"a", "b_", "a_c"}, readers: map[string]string{}, lists: map[string]mcphub.Listing{
				"a": things(names[:2]...), "b_": things(names[2:4]...), "a_c": things(names[1], names[3]),
			}}
			theirs := v.lists["a_c"]
			theirs.Templates = define("uriTemplate", names[4])
			v.lists["a_c"] = theirs
			for _, box := range v.boxes {
				v.readers[box+"/"+k.reader] = "reader"
			}
			all := v.list(k)
			shown := v.items(k, func(string) bool { return false })
			if len(shown) != len(all) {
				t.Fatalf("%d of %d are shown", len(shown), len(all))
			}
			seen := map[string]bool{}
			for i, item := range shown {
				if seen[item.Name] || member(item.Definition, k.key) != item.Name {
					t.Errorf("%s %q is shown twice, or as %s", k.word, item.Name, item.Definition)
				}
				seen[item.Name] = true
				if box, own, _, err := v.find(k, item.Name); err != nil || box != all[i].box || own != all[i].name {
					t.Errorf("%s %q of %s is shown as %q, which is %q of %q, %v", k.word, all[i].name, all[i].box, item.Name, own, box, err)
				}
			}
		}
	})
}
