package node

import (
	"encoding/json"
	"errors"
	"fmt"
)

// ErrToolsDisabled says that mycroft.conf switches the service of toolboxes off.
var ErrToolsDisabled = errors.New("PHAL.ovos-phal-plugin-tools.enabled is not true in mycroft.conf")

// ToolboxSections gives what the files that bus.mycroft names tell each toolbox, by
// the name of its entry point: its section under PHAL.ovos-phal-plugin-tools. One
// that says "enabled": false is not to be served, and its value is nil.
// [ErrToolsDisabled]: none is.
func ToolboxSections(names []string, getenv func(string) string, home string) (map[string]json.RawMessage, error) {
	m, _, err := readMycroft(names, getenv, home)
	if err != nil {
		return nil, err
	}
	if m.Disabled {
		return nil, ErrToolsDisabled
	}
	for name, text := range m.Sections {
		var said struct {
			Enabled *bool `json:"enabled"`
		}
		if err := json.Unmarshal(text, &said); err != nil {
			return nil, fmt.Errorf("mycroft.conf: PHAL.ovos-phal-plugin-tools.%s.enabled: want true or false", name)
		}
		if said.Enabled != nil && !*said.Enabled {
			m.Sections[name] = nil
		}
	}
	return m.Sections, nil
}
