package openapi

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolcrib/toolcrib"
)

// frozenDoc has every kind of thing that is kept of an operation.
const frozenDoc = `{"openapi":"3.0.3","info":{"title":"Kept","version":"1"},"servers":[{"url":"https://kept.example.com/v1"}],
"components":{"securitySchemes":{"key":{"type":"apiKey","in":"header","name":"X-Key"}}},
"paths":{"/a/{id}":{"parameters":[{"name":"id","in":"path","required":true,"style":"matrix","schema":{"type":"string"}}],
"get":{"operationId":"get","tags":["t"],"summary":"Get it.","description":"All of it.","parameters":[{"name":"q","in":"query","style":"deepObject","schema":{"type":"object"}},{"name":"c","in":"cookie","schema":{"type":"string"}}],"responses":{"200":{"description":"ok","content":{"application/json":{"schema":{"type":"object","properties":{"x":{"type":"integer"}}}}}}}},
"post":{"operationId":"put","security":[{"key":[]}],"requestBody":{"required":true,"content":{"multipart/form-data":{"schema":{"type":"object","properties":{"f":{"type":"string","format":"binary"},"n":{"type":"integer"}}}}}},"responses":{"200":{"description":"ok","content":{"image/png":{}}}}},
"delete":{"operationId":"drop","deprecated":true,"responses":{"204":{"description":"gone"}}}},
"/broken":{"get":{"parameters":[{"$ref":"#/nowhere"}],"responses":{}}}}}`

// TestFrozen: a box that was written down is the same when it is read back.
func TestFrozen(t *testing.T) {
	cfg := Config{Name: "kept", Save: true, Auth: map[string]Credential{"key": {Secret: "k"}}, Effects: map[string]toolcrib.Effects{"dr*": toolcrib.Writes}}
	was, err := Open(t.Context(), cfg, Needs{Document: []byte(frozenDoc)})
	if err != nil {
		t.Fatal(err)
	}
	text, err := was.Freeze()
	if err != nil {
		t.Fatal(err)
	}
	is, err := Thaw(cfg, Needs{}, text)
	if err != nil {
		t.Fatal(err)
	}
	for what, pair := range map[string][2]any{
		"operations": {was.Operations(), is.Operations()}, "faults": {was.Faults(), is.Faults()}, "hosts": {was.Hosts(), is.Hosts()},
		"schemes": {was.Schemes(), is.Schemes()}, "title": {was.Title(), is.Title()}, "home": {was.home, is.home},
	} {
		if diff := cmp.Diff(pair[0], pair[1]); diff != "" {
			t.Errorf("%s: %s", what, diff)
		}
	}
	for i := range was.tools {
		if diff := cmp.Diff(was.tools[i].Spec, is.tools[i].Spec); diff != "" {
			t.Errorf("%s: %s", was.tools[i].Name, diff)
		}
		if a, b := was.Definition(was.tools[i].Name), is.Definition(was.tools[i].Name); !bytes.Equal(a, b) || len(a) == 0 {
			t.Errorf("%s, then %s", a, b)
		}
		a, b := was.operations[i], is.operations[i]
		if diff := cmp.Diff(a.Template.Names(), b.Template.Names()); diff != "" || len(a.Params) != len(b.Params) || (a.Body == nil) != (b.Body == nil) {
			t.Errorf("%s: %s", a.Where(), diff)
		}
	}
	for _, damaged := range [][]byte{nil, []byte("{}"), text[:len(text)/2], append([]byte("openapi 0\n"), text...)} {
		if _, err := Thaw(cfg, Needs{}, damaged); err == nil {
			t.Errorf("%d bytes were taken for a box", len(damaged))
		}
	}
}

// TestSum: a fingerprint follows what an operation says and where it goes.
func TestSum(t *testing.T) {
	sum := func(from, to string) string {
		t.Helper()
		b, err := Open(t.Context(), Config{Name: "kept"}, Needs{Document: []byte(strings.NewReplacer(from, to).Replace(frozenDoc))})
		if err != nil {
			t.Fatal(err)
		}
		return b.Operations()[0].Sum
	}
	plain := sum("nothing of it", "")
	for from, to := range map[string]string{
		"Get it.": "Got it.", "kept.example.com": "evil.example.com", `"name":"q"`: `"name":"r"`, "/a/{id}": "/b/{id}", "deepObject": "form", "matrix": "label", `"integer"`: `"number"`,
	} {
		if sum(from, to) == plain {
			t.Errorf("%s instead of %s is not noticed", to, from)
		}
	}
	if sum(`"version":"1"`, `"version":"2"`) != plain {
		t.Error("another version alone is a change")
	}
}
