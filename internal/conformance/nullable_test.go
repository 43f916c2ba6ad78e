package conformance

import (
	"reflect"
	"testing"

	"github.com/toolcrib/toolcrib/internal/gotype"
	"github.com/toolcrib/toolcrib/internal/schema"
)

// TestNullableTakesTheSame: what may be null takes what it took when it was written as a
// list of types, and is coerced in the same way.
func TestNullableTakesTheSame(t *testing.T) {
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
	text, err := gotype.Schema(reflect.TypeFor[in]())
	if err != nil {
		t.Fatal(err)
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
