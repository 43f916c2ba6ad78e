package bundle

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
)

// readAgx reads a bundle of AgenticX.
func readAgx(r *reader) error {
	const at = "agx-bundle.yaml"
	type part struct {
		Name   string `yaml:"name"`
		Path   string `yaml:"path"`
		Config string `yaml:"config_path"`
		MCP    any    `yaml:"mcp"`
	}
	var m struct {
		Format      any    `yaml:"agx_bundle"`
		Name        string `yaml:"name"`
		Version     string `yaml:"version"`
		Description string `yaml:"description"`
		Author      string `yaml:"author"`
		License     string `yaml:"license"`
		Components  struct {
			Skills  []part `yaml:"skills"`
			Servers []part `yaml:"mcp_servers"`
			Avatars []part `yaml:"avatars"`
			Memory  []part `yaml:"memory_templates"`
		} `yaml:"components"`
	}
	if err := r.yaml(at, &m); err != nil {
		return err
	}
	switch v := fmt.Sprint(m.Format); {
	case v == "1", v == "1.0":
	case m.Format == nil:
		return errors.New(`agx-bundle.yaml does not say its format: it needs the line agx_bundle: "1.0"`)
	default:
		return fmt.Errorf("agx_bundle is %s, and only 1.0 is read", shown(v, 40))
	}
	r.Name, r.Version, r.Description, r.Author, r.License = m.Name, m.Version, m.Description, m.Author, m.License
	if r.Version == "" {
		r.Version = "0.1.0" // what AgenticX takes for it
	}
	within := func(kind, p string) (string, bool) {
		clean, err := CheckPath(p)
		if err != nil {
			r.note(at, "a %s is left out: %v", kind, err)
			return "", false
		}
		if !r.isFile(clean) {
			r.note(at, "a %s is left out: there is no file %s, or it is a link", kind, clean)
			return "", false
		}
		return clean, true
	}
	for _, p := range m.Components.Skills {
		if p.MCP != nil {
			r.note(at, "a skill is left out: it is to come from an MCP server")
			continue
		}
		if file, ok := within("skill", p.Path); ok {
			if path.Base(file) != "SKILL.md" {
				r.note(file, "the skill is left out: its file is not called SKILL.md")
				continue
			}
			r.addSkill(path.Dir(file))
		}
	}
	for _, p := range m.Components.Servers {
		if file, ok := within("server", p.Config); ok {
			r.agxServer(file, p.Name)
		}
	}
	for _, p := range m.Components.Avatars {
		if file, ok := within("agent", p.Config); ok {
			r.agxAvatar(file, p.Name)
		}
	}
	for _, p := range m.Components.Memory {
		if file, ok := within("memory template", p.Path); ok {
			r.Memory = append(r.Memory, Memory{p.Name, file})
		}
	}
	return nil
}

// agxServer reads a file that is one server, or a map in which the server has its name.
func (r *reader) agxServer(file, name string) {
	var all map[string]json.RawMessage
	if err := r.json(file, &all); err != nil {
		r.note(file, "the server %s is left out: %v", name, err)
		return
	}
	inner := unwrapped(all)
	own, there := inner[name]
	if !there {
		var err error
		if own, err = json.Marshal(all); err != nil {
			r.note(file, "the server %s is left out: %v", name, err)
			return
		}
	}
	r.addServers(file, map[string]json.RawMessage{name: own}, variables{})
}

// agxAvatar reads the preset of an agent. What it says of tools and models are wishes.
func (r *reader) agxAvatar(file, name string) {
	var a struct {
		Prompt       string `yaml:"system_prompt"`
		Instructions string `yaml:"instructions"`
		Role         string `yaml:"role"`
		Model        string `yaml:"default_model"`
		Tools        any    `yaml:"tools"`
	}
	if err := r.yaml(file, &a); err != nil {
		r.note(file, "the agent %s is left out: %v", name, err)
		return
	}
	text := a.Prompt
	for _, other := range []string{a.Instructions, a.Role} {
		if text == "" {
			text = other
		}
	}
	r.Agents = append(r.Agents, Agent{Name: name, File: file, Instructions: text, Model: shown(a.Model, 100), Tools: listOf(a.Tools)})
}
