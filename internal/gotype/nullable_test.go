package gotype

import (
	"reflect"
	"testing"

	"github.com/toolcrib/toolcrib/internal/schema"
)

// TestNullable: what may be null is said in the form that every client reads, with its
// bounds beside its type, and takes what it took as a list of types.
func TestNullable(t *testing.T) {
	type inner struct {
		Deep *bool `json:"deep"`
	}
	type in struct {
		Size  *string           `json:"size" enum:"small,large" doc:"How big." default:"small"`
		Count *int              `json:"count" min:"1" max:"3"`
		List  *[]string         `json:"list" maxitems:"2" minlen:"1"`
		In    *inner            `json:"in"`
		Many  []inner           `json:"many,omitempty"`
		Named map[string]*inner `json:"named,omitempty"`
	}
	text, err := Schema(reflect.TypeFor[in]())
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"type":"object","properties":{` +
		`"size":{"description":"How big.","default":"small","anyOf":[{"type":"string","enum":["small","large"]},{"type":"null"}]},` +
		`"count":{"anyOf":[{"type":"integer","minimum":1,"maximum":3},{"type":"null"}]},` +
		`"list":{"anyOf":[{"type":"array","items":{"type":"string","minLength":1},"maxItems":2},{"type":"null"}]},` +
		`"in":{"anyOf":[{"type":"object","properties":{"deep":{"anyOf":[{"type":"boolean"},{"type":"null"}]}},"additionalProperties":false},{"type":"null"}]},` +
		`"many":{"type":"array","items":{"type":"object","properties":{"deep":{"anyOf":[{"type":"boolean"},{"type":"null"}]}},"additionalProperties":false}},` +
		`"named":{"type":"object","additionalProperties":{"anyOf":[{"type":"object","properties":{"deep":{"anyOf":[{"type":"boolean"},{"type":"null"}]}},"additionalProperties":false},{"type":"null"}]}}` +
		`},"additionalProperties":false}`
	if string(text) != want {
		t.Errorf("\n got %s\nwant %s", text, want)
	}
	s, err := schema.Compile(text)
	if err != nil {
		t.Fatal(err)
	}
	for input, fits := range map[string]bool{
		`{}`:                     true,
		`{"size":null}`:          true,
		`{"size":"large"}`:       true,
		`{"size":"huge"}`:        false,
		`{"count":null}`:         true,
		`{"count":3}`:            true,
		`{"count":4}`:            false,
		`{"count":"3"}`:          false,
		`{"list":null}`:          true,
		`{"list":["a"]}`:         true,
		`{"list":[""]}`:          false,
		`{"list":["a","b","c"]}`: false,
		`{"in":{"deep":null}}`:   true,
		`{"in":{"more":1}}`:      false,
		`{"many":null}`:          false,
		`{"named":{"a":null}}`:   true,
	} {
		doc, err := schema.Parse([]byte(input), schema.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if bad := s.Validate(doc); (len(bad) == 0) != fits {
			t.Errorf("%s: %v", input, bad)
		}
	}
	doc, err := schema.Parse([]byte(`{"count":"3"}`), schema.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if out, bad := s.Admit(doc, schema.Options{Lenient: true}); len(bad) > 0 || string(out) != `{"count":3,"size":"small"}` {
		t.Errorf("coerced: %s, %v", out, bad)
	}
}
