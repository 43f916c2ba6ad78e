// Package toolapi shows a crib's tools as an HTTP API of their own, for programs that speak
// neither MCP nor a bus: an OpenAPI document of the tools that exist for the caller, and one
// path for each of them. The wiring and the command line import it.
//
// Its one invariant: it decides nothing. Who calls comes from the token, which tools there are
// and what becomes of a call is the crib's word.
package toolapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
)

// ToolsPath is what the paths of tools begin with.
const ToolsPath = "/v1/tools/"

// Options are what a document says besides the tools.
type Options struct {
	Server  string // where it is served; empty: where the document was fetched from
	Version string // of this program
}

type object = map[string]any

// Document writes the tools as an OpenAPI 3.1 document.
func Document(tools []toolcrib.Entry, o Options) ([]byte, error) {
	paths, schemas := object{}, object{"Error": errorSchema(), "Content": contentSchema(), "Permission": permissionSchema()}
	paths[PermissionsPath] = object{"post": permissionOperation()}
	var tags []object
	seen := map[string]bool{}
	for _, t := range tools {
		input, err := schemaOf(t.Input, "#/components/schemas/"+t.Name+".input")
		if err != nil {
			return nil, fmt.Errorf("the input schema of %s: %w", t.Name, err)
		}
		if input == nil {
			input = object{"type": "object"}
		}
		schemas[t.Name+".input"] = input
		result := object{"content": object{"type": "array", "items": ref("Content")}, "failed": object{"type": "boolean", "description": "The tool ran and could not do it; content says why."}}
		if len(t.Output) > 0 {
			output, err := schemaOf(t.Output, "#/components/schemas/"+t.Name+".output")
			if err != nil {
				return nil, fmt.Errorf("the output schema of %s: %w", t.Name, err)
			}
			schemas[t.Name+".output"] = output
			result["value"] = ref(t.Name + ".output")
		} else {
			result["value"] = object{}
		}
		if !seen[t.Box] {
			seen[t.Box] = true
			tags = append(tags, object{"name": t.Box})
		}
		paths[ToolsPath+t.Name] = object{"post": operation(t, object{"type": "object", "required": []string{"failed"}, "properties": result})}
	}
	slices.SortFunc(tags, func(a, b object) int { return strings.Compare(a["name"].(string), b["name"].(string)) })
	doc := object{
		"openapi":    "3.1.0",
		"info":       object{"title": "Toolcrib", "version": orUnknown(o.Version), "description": "The tools of this Toolcrib, as they exist for whoever asked."},
		"paths":      paths,
		"tags":       tags,
		"components": object{"schemas": schemas, "securitySchemes": object{"token": object{"type": "http", "scheme": "bearer"}}},
		"security":   []object{{"token": []string{}}},
	}
	if tags == nil {
		delete(doc, "tags")
	}
	server := o.Server
	if server == "" {
		server = "/"
	}
	doc["servers"] = []object{{"url": server}}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(doc); err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}

func orUnknown(version string) string {
	if version == "" {
		return "unknown"
	}
	return version
}

// operation is one tool.
func operation(t toolcrib.Entry, result object) object {
	answers := object{"200": answer("What the tool answered. One that ran and failed answers too.", result)}
	for _, status := range Statuses() {
		answers[fmt.Sprint(status)] = answer(http.StatusText(status), ref("Error"))
	}
	op := object{
		"operationId": t.Name,
		"tags":        []string{t.Box},
		"requestBody": object{"required": true, "content": object{"application/json": object{"schema": ref(t.Name + ".input")}}},
		"parameters": []object{{
			"name": KeyHeader, "in": "header", "description": "The same key with the same tool and input is answered from the record, and nothing is done again.",
			"schema": object{"type": "string", "pattern": keyText.Regexp().String()},
		}},
		"responses":          answers,
		"x-toolcrib-effects": strings.Split(t.Effects.String(), ","),
	}
	if t.Title != "" {
		op["summary"] = t.Title
	}
	if t.Description != "" {
		op["description"] = t.Description
	}
	return op
}

func answer(description string, schema object) object {
	return object{"description": description, "content": object{"application/json": object{"schema": schema}}}
}

func ref(name string) object { return object{"$ref": "#/components/schemas/" + name} }

func errorSchema() object {
	return object{"type": "object", "required": []string{"error"}, "properties": object{"error": object{
		"type": "object", "required": []string{"code", "message"},
		"properties": object{
			"code": object{"type": "string"}, "message": object{"type": "string"},
			"fields": object{"type": "array", "items": object{"type": "object", "properties": object{"path": object{"type": "string"}, "rule": object{"type": "string"}, "message": object{"type": "string"}}}},
		},
	}}}
}

func contentSchema() object {
	text := object{"type": "string"}
	return object{"type": "object", "required": []string{"type"}, "properties": object{
		"type": text, "text": text, "data": object{"type": "string", "contentEncoding": "base64"}, "mime": text, "uri": text, "name": text, "more": object{"type": "object"},
	}}
}

// schemaOf reads a schema and has its references, which begin at its own top, begin at that of the
// document.
func schemaOf(text json.RawMessage, at string) (any, error) {
	if len(text) == 0 {
		return nil, nil
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var schema any
	if err := dec.Decode(&schema); err != nil {
		return nil, err
	}
	if top, ok := schema.(object); ok {
		delete(top, "$schema")
		delete(top, "$id")
	}
	return moved(schema, at, false), nil
}

// moved rewrites the references of a schema. Names of properties are no keywords.
func moved(value any, at string, names bool) any {
	switch v := value.(type) {
	case object:
		for key, member := range v {
			target, isText := member.(string)
			switch {
			case !names && key == "$ref" && isText && strings.HasPrefix(target, "#"):
				v[key] = at + strings.TrimPrefix(target, "#")
			case !names && slices.Contains([]string{"enum", "const", "default", "examples", "example"}, key): // values, not schemas
			default:
				v[key] = moved(member, at, !names && slices.Contains([]string{"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"}, key))
			}
		}
	case []any:
		for i := range v {
			v[i] = moved(v[i], at, false)
		}
	}
	return value
}
