package bundle

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

func isMCPB(r *reader) bool {
	var m struct {
		Manifest string `json:"manifest_version"`
		Older    string `json:"dxt_version"`
	}
	return r.isFile("manifest.json") && r.json("manifest.json", &m) == nil && (m.Manifest != "" || m.Older != "")
}

// readMCPB reads an MCP bundle (.mcpb, once .dxt): one server with what it needs.
func readMCPB(r *reader) error {
	const at = "manifest.json"
	var m struct {
		manifest
		Server struct {
			Type   string `json:"type"`
			Entry  string `json:"entry_point"`
			Config struct {
				entry
				Platforms map[string]json.RawMessage `json:"platform_overrides"`
			} `json:"mcp_config"`
		} `json:"server"`
		Config map[string]struct {
			Type        string          `json:"type"`
			Title       string          `json:"title"`
			Description string          `json:"description"`
			Required    bool            `json:"required"`
			Sensitive   bool            `json:"sensitive"`
			Multiple    bool            `json:"multiple"`
			Default     json.RawMessage `json:"default"`
		} `json:"user_config"`
		Tools []struct {
			Name string `json:"name"`
		} `json:"tools"`
	}
	if err := r.json(at, &m); err != nil {
		return err
	}
	r.take(m.manifest)
	for _, name := range slices.Sorted(maps.Keys(m.Config)) {
		c := m.Config[name]
		a := Ask{Name: askName(name), Description: c.Title + ": " + c.Description, Secret: c.Sensitive || looksSecret(name), Required: c.Required, Many: c.Multiple}
		a.Default = mcpbDefault(c.Default)
		r.ask(a)
	}
	if m.Server.Entry != "" {
		if clean, err := CheckPath(m.Server.Entry); err != nil {
			return err
		} else if !r.isFile(clean) {
			r.note(at, "there is no file %s, which it says is the server", clean)
		}
	}
	if own := &m.Server.Config.entry; m.Server.Type == "uv" && own.Command == "" {
		own.Command, own.Args = "uv", []string{"run", "--directory", "${__dirname}", m.Server.Entry}
	}
	vars := variables{"__dirname": Root, "/": "/", "pathSeparator": "/", "HOME": "${ask:home}", "DESKTOP": "${ask:desktop}", "DOCUMENTS": "${ask:documents}", "DOWNLOADS": "${ask:downloads}"}
	s, err := r.server(m.Name, m.Server.Config.entry, vars)
	if err != nil {
		return fmt.Errorf("its server cannot be started: %w", err)
	}
	for _, place := range []string{"home", "desktop", "documents", "downloads"} {
		if mentions(s, "${ask:"+place+"}") {
			r.ask(Ask{Name: place, Description: "a directory of yours", Required: true})
		}
	}
	r.Servers = append(r.Servers, s)
	if len(m.Server.Config.Platforms) > 0 {
		r.note(at, "what it says for single systems (platform_overrides) is left out")
	}
	return nil
}

// mcpbDefault is what is taken where nobody gives anything: a text, a number, a word such as true, or several texts. Directories
// of the person begin with ~.
func mcpbDefault(raw json.RawMessage) string {
	var one any
	if json.Unmarshal(raw, &one) != nil {
		return ""
	}
	var words []string
	switch v := one.(type) {
	case string:
		words = []string{v}
	case bool, float64:
		words = []string{string(raw)}
	case []any:
		for _, e := range v {
			if word, ok := e.(string); ok {
				words = append(words, word)
			}
		}
	}
	home := strings.NewReplacer("${HOME}", "~", "${DESKTOP}", "~/Desktop", "${DOCUMENTS}", "~/Documents", "${DOWNLOADS}", "~/Downloads")
	return home.Replace(strings.Join(words, ","))
}

// mentions: a text of a server has this in it.
func mentions(s Server, what string) bool {
	texts := slices.Concat([]string{s.Command, s.Dir, s.URL}, s.Args, slices.Collect(maps.Values(s.Env)), slices.Collect(maps.Values(s.Headers)))
	return slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(t, what) })
}
