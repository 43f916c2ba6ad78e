package config

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// FindTexts finds where texts stand in a file of settings, as a key or as a value, and says so as FILE:LINE. What stands
// in it nowhere is not in the answer. Project: it is a project's file, which is read only if it is no link.
func FindTexts(file string, project bool) map[string]string {
	out := map[string]string{}
	role := fileRole{}
	if project {
		role = projectRole()
	}
	if file == "" {
		return out
	}
	data := readFile(file, role, &problems{file: file})
	var doc yaml.Node
	if data == nil || yaml.Unmarshal(data, &doc) != nil {
		return out // that it cannot be read was told when it was loaded
	}
	note(&doc, out, file, 0)
	return out
}

// note goes no deeper than settings do; aliases are not followed, so that nothing is looked at twice.
func note(n *yaml.Node, out map[string]string, file string, depth int) {
	if text := strings.TrimSpace(n.Value); n.Kind == yaml.ScalarNode && text != "" && out[text] == "" {
		out[text] = fmt.Sprintf("%s:%d", printable(file), n.Line)
	}
	if depth > 20 {
		return
	}
	for _, child := range n.Content {
		note(child, out, file, depth+1)
	}
}
