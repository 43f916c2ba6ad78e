package config

import (
	"encoding/json"
	"fmt"

	"go.yaml.in/yaml/v3"
)

// ShowJSON gives what Show gives, for programs: the settings under "config",
// and under "origins" where each dotted key got its value.
func ShowJSON[T any](loaded *Loaded[T]) ([]byte, error) {
	text, err := Show(loaded)
	if err != nil {
		return nil, err
	}
	// Reading Show's own text back is what keeps the two from telling apart:
	// units are written the same, and a secret that one hides the other never had.
	var settings map[string]any
	if err := yaml.Unmarshal(text, &settings); err != nil {
		return nil, fmt.Errorf("reading the listing: %w", err)
	}
	origins := make(map[string]string, len(loaded.Origins))
	for key, o := range loaded.Origins {
		origins[key] = o.String()
	}
	return json.Marshal(map[string]any{"config": settings, "origins": origins})
}
