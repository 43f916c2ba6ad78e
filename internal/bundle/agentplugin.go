package bundle

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// What an Agent Plugin names as the schema of its two files. It is compared and never
// fetched.
const (
	pluginSchema = "https://agent-plugins.org/schemas/1.0.0/plugin.schema.json"
	serverSchema = "https://agent-plugins.org/schemas/1.0.0/mcp.schema.json"
)

func isAgentPlugin(r *reader) bool {
	var m struct {
		Schema string `json:"$schema"`
	}
	return r.isFile("plugin.json") && r.json("plugin.json", &m) == nil && strings.HasPrefix(m.Schema, "https://agent-plugins.org/schemas/")
}

// readAgentPlugin reads the form that all clients are to share: plugin.json, skills/ and
// mcp.json, all of them closed.
func readAgentPlugin(r *reader) error {
	var all map[string]json.RawMessage
	if err := r.json("plugin.json", &all); err != nil {
		return err
	}
	var m manifest
	if err := r.json("plugin.json", &m); err != nil {
		return err
	}
	if m.Schema != pluginSchema {
		return fmt.Errorf("plugin.json has the schema %s, and only %s is read", shown(m.Schema, 200), pluginSchema)
	}
	known := []string{"$schema", "name", "version", "description", "author", "homepage", "repository", "license", "keywords", "extensions"}
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if !slices.Contains(known, key) {
			r.note("plugin.json", "%s is no field of the format", key)
		}
	}
	r.take(m)
	r.addSkillsBelow("skills")
	if !r.isFile("mcp.json") {
		return nil
	}
	var servers struct {
		Schema  string                     `json:"$schema"`
		Servers map[string]json.RawMessage `json:"mcpServers"`
	}
	switch err := r.json("mcp.json", &servers); {
	case err != nil:
		r.note("mcp.json", "its servers are left out: %v", err)
	case servers.Schema != serverSchema:
		r.note("mcp.json", "its servers are left out: it is not of the schema %s", serverSchema)
	default:
		r.addServers("mcp.json", servers.Servers, variables{"PLUGIN_ROOT": Root, "PLUGIN_DATA": Data})
	}
	return nil
}

// manifest is what the plugin.json of several programs have in common.
type manifest struct {
	Schema      string          `json:"$schema"`
	Name        string          `json:"name"`
	Version     string          `json:"version"`
	Description string          `json:"description"`
	Author      json.RawMessage `json:"author"` // a text, or an object with a name
	Homepage    string          `json:"homepage"`
	Repository  json.RawMessage `json:"repository"`
	License     string          `json:"license"`
}

func (r *reader) take(m manifest) {
	r.Name, r.Version, r.Description, r.License, r.Homepage = m.Name, m.Version, m.Description, m.License, m.Homepage
	r.Author = personOf(m.Author)
	if r.Homepage == "" {
		r.Homepage = addressOf(m.Repository)
	}
}

// personOf reads an author: a text, or an object with a name.
func personOf(raw json.RawMessage) string {
	var name string
	if json.Unmarshal(raw, &name) == nil {
		return name
	}
	var person struct {
		Name string `json:"name"`
	}
	_ = json.Unmarshal(raw, &person) // what is neither names nobody
	return person.Name
}

func addressOf(raw json.RawMessage) string {
	var at string
	if json.Unmarshal(raw, &at) == nil {
		return at
	}
	var place struct {
		URL string `json:"url"`
	}
	_ = json.Unmarshal(raw, &place) // what is neither is no address
	return place.URL
}
