package bundle

import "encoding/json"

// readGemini reads an extension of the Gemini CLI.
func readGemini(r *reader) error {
	var m struct {
		manifest
		Servers  map[string]json.RawMessage `json:"mcpServers"`
		Context  json.RawMessage            `json:"contextFileName"`
		Exclude  []string                   `json:"excludeTools"`
		Settings []struct {
			Name        string `json:"name"`
			Description string `json:"description"`
			Variable    string `json:"envVar"`
			Sensitive   bool   `json:"sensitive"`
		} `json:"settings"`
	}
	if err := r.json("gemini-extension.json", &m); err != nil {
		return err
	}
	r.take(m.manifest)
	env := map[string]string{}
	for _, s := range m.Settings {
		if !plainKey.MatchString(s.Variable) {
			r.note("gemini-extension.json", "the setting %s is left out: it names no variable", s.Name)
			continue
		}
		name := askName(s.Variable)
		r.ask(Ask{Name: name, Description: s.Name + ": " + s.Description, Secret: s.Sensitive || looksSecret(name), Required: true})
		env[s.Variable] = "${ask:" + name + "}"
	}
	r.addServers("gemini-extension.json", m.Servers, variables{"extensionPath": Root, "/": "/", "pathSeparator": "/"})
	for i := range r.Servers {
		// Every server of an extension is given its settings.
		for key, value := range env {
			if r.Servers[i].Command == "" {
				continue
			}
			if r.Servers[i].Env == nil {
				r.Servers[i].Env = map[string]string{}
			}
			if _, own := r.Servers[i].Env[key]; !own {
				r.Servers[i].Env[key] = value
			}
		}
	}
	r.addSkillsBelow("skills")
	r.claudeAgents("gemini-extension.json", nil)
	r.inert("commands", "commands")
	r.inert("hooks", "hooks")
	r.inert("policies", "policies")
	files := r.paths("gemini-extension.json", "contextFileName", m.Context)
	if files == nil {
		files = []string{"GEMINI.md"}
	}
	r.inert("context", files...)
	if len(m.Exclude) > 0 {
		r.note("gemini-extension.json", "excludeTools is not carried over: rules of your own say what is denied")
	}
	return nil
}
