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
	return lastNamed(all, joinKey(parent, name))
}

// lastNamed is the shortest of all keys whose last name is nearest to that of a key.
func lastNamed(all []string, key string) string {
	names, err := splitKey(key)
	if err != nil || len(names) == 0 {
		return ""
	}
	last := make([]string, len(all))
	for i, key := range all {
		last[i] = key[strings.LastIndexByte(key, '.')+1:]
	}
	near, found := text.Nearest(names[len(names)-1], last), ""
	for i, key := range all {
		if near != "" && last[i] == near && (found == "" || len(key) < len(found)) {
			found = key
		}
	}
	return found
}
