package openapi_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/toolcrib/toolcrib/toolbox/openapi"
)

func Example() {
	ctx := context.Background()
	text := []byte(`{
  "openapi": "3.1.0", "info": {"title": "Issues", "version": "1"}, "servers": [{"url": "https://api.example.com"}],
  "components": {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}}, "security": [{"token": []}],
  "paths": {"/issues": {
    "get": {"operationId": "listIssues", "tags": ["issues"], "summary": "List the issues.", "responses": {"200": {"description": "They are there."}}},
    "post": {"operationId": "openIssue", "tags": ["issues"], "responses": {"201": {"description": "It is there."}}}}}}`)
	decodeYAML := func([]byte, any) error { return errors.New("this document is JSON") }

	box, err := openapi.Open(ctx, openapi.Config{
		Name:    "github",
		Methods: []string{"get"},
		Tags:    []string{"issues", "pulls"},
		Auth:    map[string]openapi.Credential{"token": {Type: "bearer", Secret: "github_token"}},
	}, openapi.Needs{Document: text, YAML: decodeYAML})
	if err != nil {
		fmt.Println(err)
		return
	}
	tools, err := box.Tools(ctx)
	for _, t := range tools {
		fmt.Println(t.Name, t.Effects)
	}
	fmt.Println(box.Hosts(), err)
	// Output:
	// listIssues reads,network,secrets
	// [api.example.com] <nil>
}
