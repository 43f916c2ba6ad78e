package config

import (
	"strings"

	"github.com/toolcrib/toolcrib/internal/text"
)

// suggest names the key that an unknown one was most likely meant to be, or "". The same level is tried first; then the
// whole key among all keys, for a slip in an outer name; then the last name alone, for a key in the wrong block.
func suggest(root, level *field, parent, name string) string {
	if near := text.Nearest(name, level.names()); near != "" {
		return joinKey(parent, near)
	}
	all := root.keys()
	if near := text.Nearest(joinKey(parent, name), all); near != "" {
		return near
	}
	if names, err := splitKey(joinKey(parent, name)); err == nil && len(names) > 0 {
		last := make([]string, len(all))
		for i, key := range all {
			last[i] = key[strings.LastIndexByte(key, '.')+1:]
		}
		if near := text.Nearest(names[len(names)-1], last); near != "" {
			for i := range all {
				if last[i] == near {
					return all[i]
				}
			}
		}
	}
	return ""
}
