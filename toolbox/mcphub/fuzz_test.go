package mcphub

import (
	"encoding/json"
	"testing"
)

// FuzzAnswers: whatever a server answers is a result that can be written, or a
// clear error.
func FuzzAnswers(f *testing.F) {
	for _, text := range []string{
		`{"content":[{"type":"text","text":"a","annotations":{"priority":1}}],"isError":true,"_meta":{"x":1}}`,
		`{"content":[{"type":"resource","resource":{"uri":"a:b","blob":"AA=="}}],"structuredContent":[1]}`,
		`{"contents":[{"uri":"a:b","text":"x","_meta":null}],"ttlMs":5}`, `{"content":null}`, `[]`, `{"content":[{"type":"new","x":[1]}]}`, `null`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for name, read := range map[string]func(json.RawMessage) error{
			"tool": func(m json.RawMessage) error {
				r, err := (&Box{name: "s"}).readResult(m)
				if err == nil {
					_, err = json.Marshal(r)
				} else {
					err = nil
				}
				return err
			},
			"resource": func(m json.RawMessage) error {
				r, err := readResources(m)
				if err == nil {
					_, err = json.Marshal(r)
				} else {
					err = nil
				}
				return err
			},
		} {
			if err := read(text); err != nil {
				t.Errorf("%s: %q was read and cannot be written: %v", name, text, err)
			}
		}
	})
}

// FuzzFits: an address that a template without places says is itself fits, and
// nothing takes long or breaks down.
func FuzzFits(f *testing.F) {
	f.Add("test://template/{id}/data", "test://template/1/data")
	f.Add("a:{b", "a:x")
	f.Add("x:}{{}", "x:")
	f.Fuzz(func(t *testing.T, template, uri string) { fits(template, uri) })
}
