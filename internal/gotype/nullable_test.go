package gotype

import (
	"reflect"
	"testing"
)

// TestNullable: what may be null is said in the form that every client reads, with its
// bounds beside its type.
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
}
