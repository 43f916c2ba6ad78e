package config

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// FindText finds where a text stands in files of settings, as a key or as a value, and says so as FILE:LINE. Empty: it
// stands in none of them. What is written by the environment or by a flag stands in none.
func FindText(text string, files ...string) string {
	for _, file := range files {
		if file == "" {
			continue
		}
		data := readFile(file, fileRole{}, &problems{file: file})
		var doc yaml.Node
		if data == nil || yaml.Unmarshal(data, &doc) != nil {
			continue // that it cannot be read was told when it was loaded
		}
		if n := findNode(&doc, text, 0); n != nil {
			return fmt.Sprintf("%s:%d", printable(file), n.Line)
		}
	}
	return ""
}

// findNode goes no deeper than settings do; aliases are not followed, so that nothing is looked at twice.
func findNode(n *yaml.Node, text string, depth int) *yaml.Node {
	if n.Kind == yaml.ScalarNode && strings.TrimSpace(n.Value) == text {
		return n
	}
	if depth > 20 {
		return nil
	}
	for _, child := range n.Content {
		if found := findNode(child, text, depth+1); found != nil {
			return found
		}
	}
	return nil
}
