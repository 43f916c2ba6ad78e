package server

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib/internal/schema"
)

func TestReadableForms(t *testing.T) {
	for given, want := range map[string]string{
		`{"type":"object","properties":{"a":{"type":["null","integer"],"description":"D","minimum":0,"default":null}}}`: `{"type":"object","properties":{"a":{"description":"D","default":null,"anyOf":[{"type":"null"},{"type":"integer","minimum":0}]}}}`,
		// What is about null too stays beside both.
		`{"type":["string","null"],"enum":["a",null],"maxLength":3}`: `{"enum":["a",null],"anyOf":[{"type":"string","maxLength":3},{"type":"null"}]}`,
		// Of more types nothing is moved.
		`{"type":["string","integer","null"],"minimum":1}`: `{"minimum":1,"anyOf":[{"type":"string"},{"type":"integer"},{"type":"null"}]}`,
		`{"type":["string"],"maxLength":3}`:                `{"type":"string","maxLength":3}`,
		// References may lead to where something stands.
		`{"properties":{"a":{"type":["array","null"],"items":{"type":"string"}},"b":{"$ref":"#/properties/a/items"}}}`: `{"properties":{"a":{"items":{"type":"string"},"anyOf":[{"type":"array"},{"type":"null"}]},"b":{"$ref":"#/properties/a/items"}}}`,
		`{"properties":{"a":true,"b":{"items":true}},"additionalProperties":true}`:                                     `{"properties":{"a":{},"b":{"items":{}}},"additionalProperties":true}`,
		`{"allOf":[{"type":["null","object"],"properties":{"x":true},"required":["x"]}],"not":{"type":["null"]}}`:      `{"allOf":[{"anyOf":[{"type":"null"},{"type":"object","properties":{"x":{}},"required":["x"]}]}],"not":{"type":"null"}}`,
		// What only looks like it: values, names of properties, and two things at once.
		`{"default":{"type":["a","b"]},"enum":[{"type":["a","b"]}],"properties":{"type":{"type":"string"}},"x":true}`: ``,
		`{"type":["a","b"],"anyOf":[{"minimum":1}]}`:                                                                  ``,
		`{"type":["string","null"],"type":"object"}`:                                                                  ``,
		`{"type":[]}`:                  ``,
		`{"type":[1]}`:                 ``,
		`{"properties":["type",true]}`: ``,
		`true`:                         ``,
		`{"type": "object" ,"properties": {"a" :{"type":"string"}, "b":{}}}`: ``,
		`{"type":["string"`: ``,
	} {
		if want == "" {
			want = given
		}
		if got := string(readable(json.RawMessage(given))); got != want {
			t.Errorf("%s\n got %s\nwant %s", given, got, want)
		}
	}
	deep := strings.Repeat(`{"items":`, 5000) + `{"type":["a","b"]}` + strings.Repeat("}", 5000)
	if got := string(readable(json.RawMessage(deep))); got != deep {
		t.Error("a schema that is too deep was rewritten")
	}
}

// sameMeaning tells whether a schema and its readable form judge a value alike.
func sameMeaning(t *testing.T, source, value []byte) {
	t.Helper()
	shown := readable(source)
	if !json.Valid(shown) {
		t.Fatalf("%s\nbecame %s, which is no JSON", source, shown)
	}
	before, err := schema.Compile(source)
	if err != nil {
		return
	}
	after, err := schema.Compile(shown)
	if err != nil {
		t.Fatalf("%s\nbecame %s: %v", source, shown, err)
	}
	doc, err := schema.Parse(value, schema.Limits{})
	if err != nil {
		return
	}
	if was, is := len(before.Validate(doc)) == 0, len(after.Validate(doc)) == 0; was != is {
		t.Errorf("%s\nbecame %s\nand %s is accepted: before %v, now %v", source, shown, value, was, is)
	}
}

// TestReadableMeansTheSame takes the schemas and values of the official suite.
func TestReadableMeansTheSame(t *testing.T) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/google/jsonschema-go").Output()
	if err != nil {
		t.Fatalf("finding the module with the test suite: %v", err)
	}
	tested := 0
	for _, draft := range []string{"draft2020-12", "draft7"} {
		names, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(out)), "jsonschema", "testdata", draft, "*.json"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			var groups []struct {
				Schema json.RawMessage
				Tests  []struct{ Data json.RawMessage }
			}
			if err := json.Unmarshal(text, &groups); err != nil {
				t.Fatal(err)
			}
			for _, g := range groups {
				for _, one := range g.Tests {
					sameMeaning(t, g.Schema, one.Data)
					tested++
				}
			}
		}
	}
	if tested < 1500 {
		t.Errorf("%d cases were tried", tested)
	}
}

func FuzzReadable(f *testing.F) {
	f.Add([]byte(`{"type":["null","integer"],"minimum":0}`), []byte(`-1`))
	f.Add([]byte(`{"type":["object","null"],"properties":{"a":true},"required":["a"],"additionalProperties":false}`), []byte(`{"b":1}`))
	f.Add([]byte(`{"type":["string","number"],"enum":[null,"a"],"anyOf":[{"type":["null"]}]}`), []byte(`null`))
	f.Add([]byte(`{"properties":{"a":{"type":["array","null"],"items":{"type":"string"}},"b":{"$ref":"#/properties/a/items"}}}`), []byte(`{"b":1}`))
	f.Add([]byte(`{"items":[true,{"type":["null","string"],"pattern":"^a"}],"unevaluatedItems":{"type":["null","object"]}}`), []byte(`[1,"b",{}]`))
	f.Fuzz(func(t *testing.T, source, value []byte) {
		if json.Valid(source) && len(source) < 4096 {
			sameMeaning(t, source, value)
		} else {
			readable(source)
		}
	})
}
