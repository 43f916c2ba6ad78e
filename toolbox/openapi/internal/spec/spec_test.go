package spec

import (
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib/internal/config"
	"github.com/toolcrib/toolcrib/internal/schema"
)

func load(t testing.TB, src Source, a Addressing) *Document {
	t.Helper()
	src.YAML = config.Decode
	d, err := Parse(src)
	if err != nil {
		t.Fatal(err)
	}
	d.Load(a, nil, nil)
	return d
}

// TestTranslation: what a schema of each version becomes. The schema is that of a parameter.
func TestTranslation(t *testing.T) {
	for _, c := range []struct{ version, given, want string }{
		{"3.0.3", `{"type":"string","nullable":true}`, `{"type":["string","null"]}`},
		{"3.0.3", `{"type":"string","nullable":true,"enum":["a"]}`, `{"type":["string","null"],"enum":["a",null]}`},
		{"3.0.3", `{"nullable":true,"allOf":[{"type":"string"}]}`, `{"anyOf":[{"allOf":[{"type":"string"}]},{"type":"null"}]}`},
		{"3.0.3", `{"type":"integer","minimum":3,"exclusiveMinimum":true,"maximum":9,"exclusiveMaximum":false}`, `{"type":"integer","exclusiveMinimum":3,"maximum":9}`},
		{"3.1.0", `{"type":["integer","null"],"exclusiveMinimum":3,"const":4}`, `{"type":["integer","null"],"const":4,"exclusiveMinimum":3}`},
		{"3.0.3", `{"type":"string","example":"x","xml":{},"discriminator":{},"externalDocs":{},"x-y":1,"title":"T"}`, `{"type":"string","description":"T"}`},
		{"3.0.3", `{"type":"array","items":{"type":"file"},"minItems":"2","uniqueItems":true}`, `{"type":"array","minItems":2,"uniqueItems":true,"items":{"format":"binary","type":"string"}}`},
		{"3.0.3", `{"properties":{"a":{"type":"int"},"b":null},"required":["a","a",7]}`, `{"type":"object","properties":{"a":{"type":"integer"},"b":{}},"required":["a"]}`},
		{"3.0.3", `{"type":"string","pattern":"^(?!x)","minLength":-1,"enum":[],"required":true}`, `{"type":"string"}`},
		{"3.0.3", `{"type":"object","additionalProperties":{"$ref":"#/components/schemas/S"}}`, `{"type":"object","additionalProperties":{"type":"string"}}`},
		{"3.0.3", `{"$ref":"#/components/schemas/S","description":"words"}`, `{"type":"string","description":"words"}`},
		{"3.0.3", `{"$ref":"#/components/schemas/O"}`, `{"type":"object","properties":{"o":{"$ref":"#/$defs/O"},"s":{"type":"string"}}}`},
		{"3.1.0", `{"$ref":"#/components/schemas/S","default":"d"}`, `{"type":"string","default":"d"}`},
		{"3.1.0", `true`, `{}`},
		{"3.1.0", `{"type":"array","items":[{"type":"string"}],"prefixItems":[{"type":"null"}]}`, `{"type":"array","prefixItems":[{"type":"null"}]}`},
		{"3.0.3", `{"oneOf":[{"type":"string"},{"type":"dict"}],"not":{"type":"null"}}`, `{"oneOf":[{"type":"string"},{"type":"object"}],"not":{"type":"null"}}`},
		{"3.0.3", `{"$ref":"#/components/schemas/missing"}`, `{}`},
		{"3.0.3", `{"type":"object","properties":{"example":{"type":"string","example":"x"}}}`, `{"type":"object","properties":{"example":{"type":"string"}}}`},
	} {
		doc := `{"openapi":"` + c.version + `","paths":{"/x":{"get":{"parameters":[{"name":"p","in":"query","schema":` + c.given + `}]}}},
			"components":{"schemas":{"S":{"type":"string"},"O":{"type":"object","properties":{"o":{"$ref":"#/components/schemas/O"},"s":{"$ref":"#/components/schemas/S"}}}}}}`
		d := load(t, Source{Text: []byte(doc)}, Addressing{Base: "https://x.example"})
		if len(d.Operations) != 1 {
			t.Errorf("%s: %v", c.given, d.Faults)
			continue
		}
		in := d.Operations[0].Input
		want := `{"type":"object","properties":{"p":` + c.want + `},"additionalProperties":false`
		if !strings.HasPrefix(string(in), want) && !strings.Contains(c.want, "$defs") {
			t.Errorf("%s:\n got %s\nwant %s", c.given, in, want)
		}
		if _, err := schema.Compile(in); err != nil {
			t.Errorf("%s: %v: %s", c.given, err, in)
		}
	}
}

// TestReferencesWithMore: since 3.1, what stands beside a reference counts.
func TestReferencesWithMore(t *testing.T) {
	d := load(t, Source{Text: []byte(`{"openapi":"3.1.0","servers":[{"url":"https://a.example"}],"paths":{"/x/{id:[0-9]+}":{"post":{"parameters":[{"$ref":"#/components/parameters/a"}],
		"requestBody":{"required":true,"content":{"application/json":{"schema":{"$ref":"#/components/schemas/B","required":["c"],"properties":{"c":{"type":"string"}}}}}}}}},
		"components":{"parameters":{"a":{"$ref":"#/components/parameters/id","description":"words"},"id":{"name":"id","in":"path","required":true,"schema":{"$ref":"#/components/schemas/I","description":"its number"}}},
		"schemas":{"I":{"type":"integer"},"B":{"type":"object","properties":{"b":{"type":"string"}}}}}}`)}, Addressing{})
	if len(d.Operations) != 1 || len(d.Faults) > 0 {
		t.Fatalf("%v", d.Faults)
	}
	const want = `{"type":"object","properties":{"id":{"type":"integer","description":"its number"},"body":{"allOf":[{"type":"object","properties":{"b":{"type":"string"}}},` +
		`{"type":"object","properties":{"c":{"type":"string"}},"required":["c"]}]}},"required":["id","body"],"additionalProperties":false}`
	if got := string(d.Operations[0].Input); got != want {
		t.Errorf("%s", got)
	}
}

// TestSwagger: the second version has its own words for most things.
func TestSwagger(t *testing.T) {
	d := load(t, Source{Text: []byte(`
swagger: "2.0"
host: api.example.com
basePath: /v2/
schemes: [http, https]
consumes: [application/json]
produces: [application/xml, application/json]
parameters:
  limit: {name: limit, in: query, type: integer, maximum: 100, default: 10}
paths:
  /pets/{id}:
    parameters:
      - {name: id, in: path, required: true, type: integer, format: int64}
    get:
      operationId: get
      parameters:
        - $ref: '#/parameters/limit'
        - {name: tags, in: query, type: array, items: {type: string}, collectionFormat: pipes}
        - {name: ids, in: query, type: array, items: {type: string}}
      responses:
        200: {description: ok, schema: {$ref: '#/definitions/Pet'}}
    put:
      operationId: put
      parameters:
        - {name: pet, in: body, required: true, schema: {$ref: '#/definitions/Pet'}}
    post:
      operationId: upload
      parameters:
        - {name: note, in: formData, type: string}
        - {name: file, in: formData, type: file, required: true}
definitions:
  Pet:
    type: object
    required: [name]
    properties:
      id: {type: integer, readOnly: true}
      name: {type: string}
      born: {type: string, default: 2020-01-02}
`)}, Addressing{})
	if len(d.Operations) != 3 {
		t.Fatalf("%v", d.Faults)
	}
	want := map[string]string{
		"get":    `{"type":"object","properties":{"id":{"type":"integer","format":"int64"},"limit":{"type":"integer","default":10,"maximum":100},"tags":{"type":"array","items":{"type":"string"}},"ids":{"type":"array","items":{"type":"string"}}},"required":["id"],"additionalProperties":false}`,
		"put":    `{"type":"object","properties":{"id":{"type":"integer","format":"int64"},"born":{"type":"string","default":"2020-01-02"},"name":{"type":"string"}},"required":["id","name"],"additionalProperties":false}`,
		"upload": `{"type":"object","properties":{"id":{"type":"integer","format":"int64"},"note":{"type":"string"},"file":{"type":"string","description":"Path of the file to send."}},"required":["id","file"],"additionalProperties":false}`,
	}
	for _, o := range d.Operations {
		if string(o.Input) != want[o.ID] || o.Base != "https://api.example.com/v2" {
			t.Errorf("%s at %s:\n got %s\nwant %s", o.ID, o.Base, o.Input, want[o.ID])
		}
		switch o.ID {
		case "get":
			for _, p := range o.Params {
				if p.Name == "tags" && (p.Style != "pipeDelimited" || p.Explode) || p.Name == "ids" && (p.Style != "form" || p.Explode) {
					t.Errorf("%+v", p)
				}
			}
			if o.Accept != "application/json, application/xml, */*;q=0.1" || !strings.Contains(string(o.Output), `"id"`) {
				t.Errorf("%s %s", o.Accept, o.Output)
			}
		case "upload":
			if o.Body.Kind != Multipart || !o.Body.Fields["file"].File {
				t.Errorf("%+v", o.Body)
			}
		}
	}
}

func TestServers(t *testing.T) {
	from, _ := url.Parse("https://docs.example.com/specs/openapi.json")
	for name, c := range map[string]struct {
		root string
		a    Addressing
		url  *url.URL
		want string // an address, or a part of what is told
	}{
		"plain":            {`"servers":[{"url":"https://a.example/v1/"}]`, Addressing{}, nil, "https://a.example/v1"},
		"base_url":         {`"servers":[{"url":"https://a.example/v1/"}]`, Addressing{Base: "http://localhost:8080/x"}, nil, "http://localhost:8080/x"},
		"relative":         {`"servers":[{"url":"../api"}]`, Addressing{}, from, "https://docs.example.com/api"},
		"rooted":           {`"servers":[{"url":"/api"}]`, Addressing{}, from, "https://docs.example.com/api"},
		"none":             {`"x":1`, Addressing{}, from, "https://docs.example.com"},
		"relative, a file": {`"servers":[{"url":"/api"}]`, Addressing{}, nil, "set base_url"},
		"variables":        {`"servers":[{"url":"https://{h}.example:{p}/{b}","variables":{"h":{"default":"eu"},"p":{"enum":["443","8443"],"default":"8443"},"b":{"default":"v1"}}}]`, Addressing{}, nil, "https://eu.example:8443/v1"},
		"given":            {`"servers":[{"url":"https://{h}.example","variables":{"h":{"default":"eu"}}}]`, Addressing{Variables: map[string]string{"h": "us"}}, nil, "https://us.example"},
		"not listed":       {`"servers":[{"url":"https://{h}.example","variables":{"h":{"default":"eu","enum":["eu"]}}}]`, Addressing{Variables: map[string]string{"h": "us"}}, nil, "lists other values"},
		"no default":       {`"servers":[{"url":"https://{h}.example"}]`, Addressing{}, nil, "without a default"},
		"second":           {`"servers":[{"url":"wss://a.example"},{"url":"https://b.example"}]`, Addressing{}, nil, "https://b.example"},
	} {
		d := load(t, Source{Text: []byte(`{"openapi":"3.0.0",` + c.root + `,"paths":{"/x":{"get":{}}}}`), URL: c.url}, c.a)
		if len(d.Operations) == 1 && d.Operations[0].Base == c.want || len(d.Faults) == 1 && d.Faults[0].Left && strings.Contains(d.Faults[0].Reason, c.want) {
			continue
		}
		t.Errorf("%s: %+v, want %s", name, d.Faults, c.want)
	}
	d := load(t, Source{Text: []byte(`{"openapi":"3.0.0","servers":[{"url":"https://a.example"}],"paths":{"/x":{"servers":[{"url":"https://b.example"}],"get":{"servers":[{"url":"https://c.example"}]},"put":{}},"/y":{"get":{}}}}`)}, Addressing{})
	var got []string
	for _, o := range d.Operations {
		got = append(got, o.Base)
	}
	if strings.Join(got, " ") != "https://c.example https://b.example https://a.example" {
		t.Errorf("%v", got)
	}
}

// TestSiblings: references to files of the same directory, relative to the file that they stand in.
func TestSiblings(t *testing.T) {
	files := map[string]string{
		"specs/paths/pet.yaml":   "get:\n  operationId: getPet\n  parameters:\n    - $ref: '../parts.json#/params/id'\n  responses:\n    200:\n      description: ok\n      content:\n        application/json:\n          schema:\n            $ref: '../schemas/Pet.yaml'\n",
		"specs/parts.json":       `{"params":{"id":{"name":"id","in":"path","required":true,"schema":{"type":"integer"}}}}`,
		"specs/schemas/Pet.yaml": "type: object\nproperties:\n  parent:\n    $ref: Pet.yaml\n  toy:\n    $ref: '#/x-toy'\nx-toy:\n  type: string\n",
	}
	var asked []string
	d := load(t, Source{Name: "specs/openapi.yaml", Text: []byte("openapi: 3.0.0\nservers: [{url: 'https://a.example'}]\npaths:\n  /pets/{id}:\n    $ref: paths/pet.yaml\n"), ReadFile: func(name string) ([]byte, error) {
		asked = append(asked, name)
		if text, ok := files[name]; ok {
			return []byte(text), nil
		}
		return nil, errors.New("no such file")
	}}, Addressing{})
	if len(d.Operations) != 1 || len(d.Faults) > 0 || len(asked) != 3 {
		t.Fatalf("%v, asked for %v", d.Faults, asked)
	}
	o := d.Operations[0]
	if !strings.Contains(string(o.Input), `"id":{"type":"integer"}`) || !strings.Contains(string(o.Output), `"toy":{"type":["string","null"]}`) || !strings.Contains(string(o.Output), `"$ref":"#/$defs/Pet"`) {
		t.Errorf("%s %s", o.Input, o.Output)
	}
	if _, err := schema.Compile(o.Output); err != nil {
		t.Error(err)
	}
}

// FuzzDocument: no document breaks the loader, and what becomes of it compiles.
func FuzzDocument(f *testing.F) {
	for _, s := range []string{
		`{"openapi":"3.1.0","paths":{"/a/{b}":{"get":{"operationId":"x","parameters":[{"name":"b","in":"path","schema":{"$ref":"#/components/schemas/A"}}],"responses":{"200":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/A"}}}}}}}},"components":{"schemas":{"A":{"type":"object","properties":{"a":{"$ref":"#/components/schemas/A"},"e":{"enum":[1,"x"]}},"required":["a"]}}}}`,
		`{"swagger":"2.0","host":"h","paths":{"/a":{"post":{"parameters":[{"name":"f","in":"formData","type":"file"},{"name":"b","in":"body","schema":{"allOf":[{"properties":{"x":{"type":"string"}}},{"$ref":"#/definitions/D"}]}}]}}},"definitions":{"D":{"nullable":true}}}`,
		"openapi: 3.0.0\npaths:\n  /x:\n    get: {parameters: [{name: a, in: query, content: {application/json: {schema: {type: array, items: [{}]}}}}]}\n",
		`{"openapi":"3.0.0","paths":{"/a":{"$ref":"#/paths/~1b"},"/b":{"$ref":"#/paths/~1a"}}}`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := Parse(Source{Text: []byte(text), YAML: config.Decode, ReadFile: func(string) ([]byte, error) { return []byte(text), nil }})
		if err != nil {
			return
		}
		d.Select, d.Save = true, true
		d.Load(Addressing{Base: "https://x.example"}, nil, nil)
		_ = d.Schemes()
		for _, o := range d.Operations {
			for _, s := range [][]byte{o.Input, o.Output} {
				if s == nil {
					continue
				}
				if _, err := schema.Compile(s); err != nil {
					t.Fatalf("%s: %v: %s", o.Where(), err, s)
				}
			}
		}
	})
}

// FuzzTemplate: whatever a path and its values are, what comes out stays below the path.
func FuzzTemplate(f *testing.F) {
	for _, s := range [][2]string{{"/a/{b}/c", "x"}, {"/{a}{b}.json", ".."}, {"/a?x={y}#z", "%2e"}, {"/{+a}", "."}, {"/a/{b", ""}, {"/.{a}", "."}, {"//{a}", "%"}} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, path, value string) {
		tmpl, err := ParseTemplate(path)
		if err != nil {
			return
		}
		got, err := tmpl.Fill(func(string) (string, error) { return url.PathEscape(value), nil })
		if err != nil {
			return
		}
		u, err := url.Parse("https://x.example" + got)
		if err != nil || u.Host != "x.example" || u.RawQuery != "" || u.Fragment != "" {
			t.Fatalf("%q with %q: %q %v", path, value, got, err)
		}
		for s := range strings.SplitSeq(u.EscapedPath(), "/") {
			if plain, _ := url.PathUnescape(s); plain == ".." || plain == "." {
				t.Fatalf("%q with %q: %q", path, value, got)
			}
		}
	})
}
