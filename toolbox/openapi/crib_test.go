package openapi

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
)

const petDoc = `{"openapi":"3.0.3","info":{"title":"Pets","version":"1"},"servers":[{"url":"SERVER"}],"security":[{"key":[]}],"paths":{
	"/pets":{"get":{"operationId":"listPets","summary":"List the pets","parameters":[{"name":"limit","in":"query","description":"How many.","schema":{"type":"integer","default":10,"maximum":100}}],
		"responses":{"200":{"description":"ok","content":{"application/json":{"schema":{"type":"array","items":{"$ref":"#/components/schemas/Pet"}}}}}}},
	"post":{"operationId":"addPet","summary":"Add a pet","requestBody":{"required":true,"content":{"application/json":{"schema":{"$ref":"#/components/schemas/Pet"}}}},
		"responses":{"201":{"description":"made","content":{"application/json":{"schema":{"$ref":"#/components/schemas/Pet"}}}}}}},
	"/pets/{id}":{"parameters":[{"name":"id","in":"path","required":true,"description":"Its number.","schema":{"type":"integer"}}],
		"delete":{"operationId":"removePet","summary":"Remove a pet","responses":{"200":{"description":"gone","content":{"application/json":{"schema":{"type":"object"}}}}}}}},
	"components":{"securitySchemes":{"key":{"type":"apiKey","in":"header","name":"X-Key"}},"schemas":{"Pet":{"type":"object","required":["name"],"properties":{"id":{"type":"integer","readOnly":true,"description":"Its number."},"name":{"type":"string","description":"What it is called."}}}}}}`

// TestGoverned: calls go through a crib like all others. Hosts and secrets have to be granted, the
// journal has no secret, and a default is shown to guards and not sent.
func TestGoverned(t *testing.T) {
	var last atomic.Pointer[http.Request]
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		last.Store(r)
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `[{"id":1,"name":"%s"}]`, "Rex")
	})
	box := newBox(t, strings.Replace(petDoc, "SERVER", s.URL, 1), Config{Name: "pets", Auth: map[string]Credential{"key": {Secret: "pets_key"}}})
	journal := &cribtest.Memory{}
	crib := &toolcrib.Crib{
		Catalog: &toolcrib.Catalog{}, Guards: []toolcrib.Guard{cribtest.Allow()}, Journal: journal, Log: slog.New(slog.DiscardHandler),
		Grant: toolcrib.Grant{Hosts: []string{"127.0.0.1"}, Secrets: []string{"pets_key"}},
		Secret: func(context.Context, toolcrib.Call, toolcrib.Entry, string) (string, error) {
			return "s3cr3t-value", nil
		},
	}
	if _, faults := crib.Catalog.Load(t.Context(), toolcrib.Contents{Boxes: []toolcrib.Toolbox{box}}); len(faults) > 0 {
		t.Fatal(faults)
	}
	call := func(tool, input string) (*toolcrib.Result, error) {
		return crib.Call(t.Context(), toolcrib.Call{Tool: tool, Input: []byte(input), Caller: toolcrib.Caller{Subject: "me", Frontend: "test"}})
	}
	r, err := call("listPets", `{"_select":".[0].name"}`)
	if err != nil || string(r.Value) != `{"selected":"Rex"}` {
		t.Fatalf("%v %v", r, err)
	}
	if req := last.Load(); req.RequestURI != "/pets" || req.Header.Get("X-Key") != "s3cr3t-value" {
		t.Errorf("sent %s %v", req.RequestURI, req.Header)
	}
	if r, err = call("listPets", `{"limit":"many"}`); err != nil || r.Failed || last.Load().RequestURI != "/pets?limit=many" {
		t.Errorf("what does not fit is the API's to judge: %v %v", r, err)
	}
	if _, err := call("removePet", `{"id":".."}`); toolcrib.CodeOf(err) != toolcrib.CodeInvalid {
		t.Errorf("upwards: %v", err)
	}
	if text := fmt.Sprintf("%+v", journal.Records()); strings.Contains(text, "s3cr3t") {
		t.Error("the journal has the secret")
	}
	crib.Grant.Secrets = nil
	if _, err := call("listPets", `{}`); toolcrib.CodeOf(err) != toolcrib.CodeDenied {
		t.Errorf("without the secret: %v", err)
	}
	crib.Grant = toolcrib.Grant{Hosts: []string{"other.example.com"}, Secrets: []string{"pets_key"}}
	if _, err := call("listPets", `{}`); toolcrib.CodeOf(err) != toolcrib.CodeDenied {
		t.Errorf("without the host: %v", err)
	}
}
